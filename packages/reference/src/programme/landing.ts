import * as z from 'zod';
import builtIn from '../../programme.json' with { type: 'json' };

const text = z.string().min(1);
/** The name of the input, and what is said when it cannot be a contact. */
const input = z.strictObject({ label: text, problem: text });

/** All texts of the landing page in one language. */
export const landingTexts = z.strictObject({
  title: text,
  email: input,
  mobile: input,
  submit: text,
  thanks: text,
  /** The link to the shop. */
  shop: text,
  /** Too many forms were sent, or the service fails. */
  later: text,
  notFound: text,
});

export type LandingTexts = z.output<typeof landingTexts>;

/** The page of a programme without texts of its own. */
const ENGLISH = { en: builtIn.landing.en };

/**
 * The texts for a visitor, by the header `Accept-Language` (the lookup of RFC 4647): `de-AT` gets `de` if there is no
 * `de-AT`. Without a language in common, the first one of `landing`.
 */
export function textsFor(
  accepted: string | undefined,
  landing: Readonly<Record<string, LandingTexts>> = ENGLISH,
): [language: string, texts: LandingTexts] {
  const offered = Object.entries(landing);
  for (let range of rangesOf(accepted ?? '')) {
    for (; range !== ''; range = range.slice(0, Math.max(range.lastIndexOf('-'), 0))) {
      const found = offered.find(([language]) => language.toLowerCase() === range);
      if (found) return found;
    }
  }
  return offered[0] ?? ['en', ENGLISH.en];
}

/** The language ranges of the header in lower case, the preferred one first. */
function rangesOf(header: string): string[] {
  const parts = header.split(',').map((part) => {
    const [range = '', quality] = part.toLowerCase().split(/;\s*q=/);
    return { range: range.trim(), quality: Number(quality ?? 1) };
  });
  const wanted = parts.filter(({ quality }) => quality > 0).sort((one, other) => other.quality - one.quality);
  return wanted.map(({ range }) => range);
}
