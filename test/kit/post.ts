/* Requests to a gateway, in whatever process it runs: this file imports nothing of `src/`, which takes half a second to load. */
import { assertNoSecret } from './leaks.ts';

type Json = Record<string, unknown>;
type Failure = { message: string; path?: (string | number)[]; extensions: Json };
export type Answer = Awaited<ReturnType<typeof post>>;

/** Posts a body to a gateway's GraphQL endpoint and reads the answer: also the codes of its errors, and the text as it came. */
export async function post(url: string, body: unknown, more: Record<string, string> = {}) {
  const given = { 'content-type': 'application/json', ...more };
  return read(await fetch(`${url}/graphql`, { method: 'POST', headers: given, body: JSON.stringify(body) }));
}

/** The same with GET, and with the header that it needs. */
export async function get(url: string, parameters: Record<string, string>, more: Record<string, string> = {}) {
  const given = { 'apollo-require-preflight': 'true', ...more };
  return read(await fetch(`${url}/graphql?${new URLSearchParams(parameters)}`, { headers: given }));
}

async function read(response: Response) {
  const { status, headers } = response;
  const text = await response.text();
  assertNoSecret(`${text}${JSON.stringify([...headers])}`);
  const { data, ...more } = JSON.parse(text);
  const { errors, extensions }: { errors: Failure[]; extensions: Json } = { errors: [], extensions: {}, ...more };
  return { status, headers, data, errors, extensions, text, codes: errors.map((one) => one.extensions['code']) };
}
