import type { components } from '../generated/rest.ts';

/** The objects of the interface document, by name. */
export type Wire = components['schemas'];

/** A response body: members that are undefined are omitted from the JSON, as the document asks. */
export type Response<Shape> = Shape extends object
  ? { [Member in keyof Shape]: Response<Shape[Member]> | undefined }
  : Shape;

/** A time in the form of the interface; undefined beyond what a `Date` can hold. */
export function isoTime(milliseconds: number | null | undefined): string | undefined {
  if (typeof milliseconds !== 'number' || Math.abs(milliseconds) > 8.64e15) return undefined;
  return new Date(milliseconds).toISOString();
}
