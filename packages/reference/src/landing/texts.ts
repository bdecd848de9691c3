import * as z from 'zod';

const words = z.string().min(1);

/** The words of the landing page in one language. */
export const landingTexts = z.strictObject({
  title: words,
  /** The labels of the input, by the programme's kind of contact. */
  email: words,
  mobile: words,
  send: words,
  thanks: words,
  invalidEmail: words,
  invalidMobile: words,
  notFound: words,
  /** The link to the programme's `shopUrl`. Default: the English one. */
  toShop: words.optional(),
  /** Shown when too many forms were sent. Default: the English one. */
  tooMany: words.optional(),
});

export type LandingTexts = { [Name in keyof z.output<typeof landingTexts>]-?: string };

const ENGLISH: LandingTexts = {
  title: 'A friend invites you',
  email: 'Your e-mail address',
  mobile: 'Your mobile number',
  send: 'Accept the invitation',
  thanks: 'Thank you! Now sign up with the same contact, and your friend will be remembered.',
  invalidEmail: 'Please enter an e-mail address like name@example.com.',
  invalidMobile: 'Please enter a mobile number with 5 to 20 digits.',
  notFound: 'This invitation does not exist.',
  toShop: 'Continue to the shop',
  tooMany: 'Too many attempts. Please try again in a minute.',
};

const BUILT_IN: Readonly<Record<string, LandingTexts>> = {
  en: ENGLISH,
  de: {
    title: 'Ein Freund lädt dich ein',
    email: 'Deine E-Mail-Adresse',
    mobile: 'Deine Mobilnummer',
    send: 'Einladung annehmen',
    thanks: 'Danke! Melde dich nun mit derselben Angabe an, dann wird an deinen Freund gedacht.',
    invalidEmail: 'Bitte gib eine E-Mail-Adresse wie name@example.com ein.',
    invalidMobile: 'Bitte gib eine Mobilnummer mit 5 bis 20 Ziffern ein.',
    notFound: 'Diese Einladung gibt es nicht.',
    toShop: 'Weiter zum Shop',
    tooMany: 'Zu viele Versuche. Bitte versuche es in einer Minute noch einmal.',
  },
  es: {
    title: 'Un amigo te invita',
    email: 'Tu correo electrónico',
    mobile: 'Tu número de móvil',
    send: 'Aceptar la invitación',
    thanks: '¡Gracias! Regístrate ahora con el mismo dato y nos acordaremos de tu amigo.',
    invalidEmail: 'Escribe un correo electrónico como name@example.com.',
    invalidMobile: 'Escribe un número de móvil de 5 a 20 cifras.',
    notFound: 'Esta invitación no existe.',
    toShop: 'Ir a la tienda',
    tooMany: 'Demasiados intentos. Inténtalo de nuevo en un minuto.',
  },
  fr: {
    title: 'Un ami vous invite',
    email: 'Votre adresse e-mail',
    mobile: 'Votre numéro de mobile',
    send: 'Accepter l’invitation',
    thanks: 'Merci ! Inscrivez-vous avec la même adresse ou le même numéro : votre ami sera remercié.',
    invalidEmail: 'Saisissez une adresse e-mail comme name@example.com.',
    invalidMobile: 'Saisissez un numéro de mobile de 5 à 20 chiffres.',
    notFound: 'Cette invitation n’existe pas.',
    toShop: 'Aller à la boutique',
    tooMany: 'Trop de tentatives. Réessayez dans une minute.',
  },
};

/** The languages with built-in words. */
export const LANDING_LANGUAGES = Object.keys(BUILT_IN);

/** The words of a language of the programme: the programme's own, else the built-in ones. */
export function textsIn(language: string, own: Readonly<Record<string, z.output<typeof landingTexts>>>): LandingTexts {
  const texts = own[language] ?? BUILT_IN[language];
  if (!texts) throw new Error(`The programme was accepted without words for ${language}`);
  const { toShop = ENGLISH.toShop, tooMany = ENGLISH.tooMany } = texts;
  return { ...texts, toShop, tooMany };
}

/** How much of an `Accept-Language` header is read, in characters. Browsers send less than 100. */
const MAX_HEADER_LENGTH = 500;

/**
 * The language of a page: the one in its address, else the first of the browser's that the programme has (`fr` for
 * `fr-CA`), else the programme's default.
 */
export function chooseLanguage(
  languages: readonly string[],
  requested: string | undefined,
  acceptLanguage: string | undefined,
): string {
  const [defaultLanguage = 'en'] = languages;
  const accepted = acceptedLanguages((acceptLanguage ?? '').slice(0, MAX_HEADER_LENGTH));
  for (const wanted of [...(requested === undefined ? [] : [requested]), ...accepted]) {
    const found = find(languages, wanted) ?? find(languages, wanted.split('-')[0] ?? '');
    if (found !== undefined) return found;
  }
  return defaultLanguage;
}

function find(languages: readonly string[], wanted: string): string | undefined {
  return languages.find((language) => language.toLowerCase() === wanted.toLowerCase());
}

/** The languages of an `Accept-Language` header, the highest quality first; those with quality 0 are left out. */
function acceptedLanguages(header: string): string[] {
  return header
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.split(';').map((text) => text.trim());
      const quality = parameters.find((parameter) => parameter.startsWith('q='));
      return { tag, quality: quality === undefined ? 1 : Number(quality.slice(2)) };
    })
    .filter(({ quality }) => quality > 0)
    .sort((one, other) => other.quality - one.quality)
    .map(({ tag }) => tag);
}
