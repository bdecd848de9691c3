import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach } from '@jest/globals';
import { startProcess } from '../kit/process.ts';
import { now, secretSigner, token, UNLIMITED } from '../kit/tokens.ts';
import { startUpstream } from '../kit/upstream.ts';

/* A gateway that needs tokens, and a record of what a client sends to it. */

const HERE = fileURLToPath(new URL('.', import.meta.url));
const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync(`${HERE}package.json`, 'utf8'));
const signer = secretSigner();

export const ME = { playerUniqueId: 'p1' };
export const EXPIRED = token(signer, { iat: now() - 7_200, exp: now() - 3_600 });
/** A token of p1 with every scope, if the claims do not say otherwise. */
export const tokenOf = (more = {}) => token(signer, more);
export const friends = (count: number) => Array.from({ length: count }, (_, index) => `Friend ${index + 1}`);

/** Runs a script of test/clients/package.json in one of its folders. Throws what it printed when it fails. */
export async function runScript(folder: string, name: string): Promise<void> {
  const [command, ...args] = (scripts[name] ?? '').split(' ');
  const options = { cwd: `${HERE}${folder}`, env: { ...process.env, FORCE_COLOR: '0' } };
  await promisify(execFile)(`${HERE}node_modules/.bin/${command}`, args, options).catch(({ stdout, stderr }) => {
    throw new Error(`${scripts[name]} failed in ${folder}:\n${stdout}${stderr}`);
  });
}

/** A `fetch` that gets a page of something in between first, and then the gateway's responses. */
export function afterPage(status: number): typeof fetch {
  const pages = [new Response('<h1>Not the gateway</h1>', { status })];
  return async (...request) => pages.shift() ?? fetch(...request);
}

/** A request: the text of its operation, or the hash that names it, and the status of the response. */
interface Sent extends Record<'method' | 'query' | 'hash', string | undefined> {
  variables: Record<string, { idempotencyKey?: string }>;
  status: number;
}

/** The built gateway in front of a scripted REST service; records what this file's `fetch` sends. Each test begins anew. */
export async function startRecorded(env: Record<string, string> = {}) {
  const upstream = await startUpstream();
  const settings = { ...signer.env, ...UNLIMITED, REST_BASE_URL: upstream.url, REST_TIMEOUT_MS: '3000', ...env };
  const gateway = await startProcess(settings);
  const original = globalThis.fetch;
  const sent: Sent[] = [];
  let lost = 0;
  globalThis.fetch = async (url, options) => {
    const response = await original(url, options);
    const { query, variables, documentId, extensions } = JSON.parse(String(options?.body));
    const hash = documentId ?? extensions?.persistedQuery?.sha256Hash;
    sent.push({ method: options?.method, query, hash, variables, status: response.status });
    if (lost === 0) return response;
    lost -= 1;
    await response.text();
    throw new TypeError('fetch failed');
  };
  afterEach(() => {
    sent.splice(0);
    upstream.reset();
  });
  return {
    gateway,
    url: `${gateway.url}/graphql`,
    upstream,
    /** The requests that got a response. */
    sent,
    /** Loses the next responses on the way: the gateway gets the request, the client an error. */
    lose(count: number) {
      lost = count;
    },
    events: () => upstream.calls().filter((call) => call === 'POST /integrations/event').length,
  };
}
