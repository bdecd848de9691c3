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
