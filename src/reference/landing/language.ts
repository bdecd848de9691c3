/**
 * The language that a page is shown in: the one its address asks for, else the first of the browser's that the programme
 * has (`fr` for `fr-CA`), else the programme's default.
 */
export function chooseLanguage(
  languages: readonly string[],
  asked: string | undefined,
  acceptLanguage: string | undefined,
): string {
  const [defaultLanguage = 'en'] = languages;
  for (const wanted of [...(asked === undefined ? [] : [asked]), ...preferred(acceptLanguage ?? '')]) {
    const found = find(languages, wanted) ?? find(languages, wanted.split('-')[0] ?? '');
    if (found !== undefined) return found;
  }
  return defaultLanguage;
}

function find(languages: readonly string[], wanted: string): string | undefined {
  return languages.find((language) => language.toLowerCase() === wanted.toLowerCase());
}

/** The languages of an `Accept-Language` header, the most wanted first; those with `q=0` are not wanted. */
function preferred(header: string): string[] {
  return header
    .split(',')
    .map((part) => {
      const [tag = '', quality] = part.trim().split(/\s*;\s*q=/);
      return { tag, quality: quality === undefined ? 1 : Number(quality) };
    })
    .filter(({ quality }) => quality > 0)
    .sort((one, other) => other.quality - one.quality)
    .map(({ tag }) => tag);
}
