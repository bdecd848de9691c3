import { type Programme, type ProgrammeFile, programme } from '../src/programme/file.ts';

/** A programme with one generous group and no rewards, and what a test wants to be different. */
export function programmeWith(parts: Partial<ProgrammeFile>): Programme {
  return programme.parse({
    contact: 'email',
    actionEvent: 'place_order',
    languages: ['en', 'de'],
    groups: [{ handle: 'any', title: 'Any', coupon: { type: 'custom' } }],
    rewards: [],
    ...parts,
  });
}
