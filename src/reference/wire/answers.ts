import type { components } from '../../generated/rest.ts';

/** The objects of the interface document, by name. */
export type Wire = components['schemas'];

/** An answer as it is put together: members that are undefined are left out of the JSON, as the document asks. */
export type Answer<Shape> = { [Member in keyof Shape]: Shape[Member] | undefined };

/** A time as the wire writes it; null and undefined are times that are not set. */
export function isoTime(milliseconds: number | null | undefined): string | undefined {
  return typeof milliseconds === 'number' ? new Date(milliseconds).toISOString() : undefined;
}

/** An object that this program stored as JSON. */
export function stored<Shape>(json: string | null): Shape | undefined {
  return json === null ? undefined : JSON.parse(json);
}
