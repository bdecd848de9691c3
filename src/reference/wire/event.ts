import * as z from 'zod';
import { playerUniqueId } from './members.ts';
import { nameProblem } from './text.ts';

/**
 * The document allows numbers, texts and arrays of them; public clients also send booleans, `null` and nested objects. No
 * rule reads metadata, so any JSON is stored unchanged.
 */
const metadata = z.record(z.string(), z.json(), 'must be an object');

/** The body of `POST /integrations/event`. Some clients send `null` for an event without metadata. */
export const trackedEvents = z.object(
  {
    playerUniqueId,
    events: z
      .record(
        z.string(),
        z.preprocess((value) => value ?? {}, metadata),
        'must be an object',
      )
      .superRefine((events, context) => {
        const names = Object.keys(events);
        if (names.length === 0) context.addIssue('must have at least one event');
        for (const name of names) {
          const problem = nameProblem(name);
          if (problem) context.addIssue({ code: 'custom', path: [name], message: problem });
        }
      }),
  },
  'must be an object',
);
