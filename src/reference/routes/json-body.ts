import type { FastifyInstance } from 'fastify';
import { readJson } from '../wire/json.ts';

/** Bodies are JSON and nothing else; an empty one is undefined, since some clients announce JSON and send nothing. */
export function acceptJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
    body.length === 0 ? undefined : readJson(body),
  );
}
