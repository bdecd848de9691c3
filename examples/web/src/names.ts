/** A name to show. The service may send none, or blanks. */
export const nameOr = (name: string | null | undefined, other: string): string => name?.trim() || other;

/** The first character as a person sees it: an emoji or a letter with marks is several code points. */
export function initialOf(name: string): string {
  const [first] = new Intl.Segmenter().segment(name);
  return first?.segment ?? '';
}
