import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startProcess } from '../kit/process.ts';
import { claims, header, now, secretSigner, signed, UNLIMITED } from '../kit/tokens.ts';
import { startUpstream } from '../kit/upstream.ts';

/* The built gateway with tokens, and a record of what a client sends to it. */

const run = promisify(execFile);
const HERE = fileURLToPath(new URL('.', import.meta.url));
const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync(`${HERE}package.json`, 'utf8'));

/** The friends that a list of the scripted REST service begins with. */
export const friends = (count: number) => Array.from({ length: count }, (_, index) => `Friend ${index + 1}`);

/** Runs a script of test/clients/package.json in one of its folders. Throws what it printed when it fails. */
export async function runScript(folder: string, name: string): Promise<void> {
  const [command, ...args] = (scripts[name] ?? '').split(' ');
  const options = { cwd: `${HERE}${folder}`, env: { ...process.env, FORCE_COLOR: '0' } };
  await run(`${HERE}node_modules/.bin/${command}`, args, options).catch(({ stdout, stderr }) => {
    throw new Error(`${scripts[name]} failed in ${folder}:\n${stdout}${stderr}`);
  });
}

/** The built gateway in front of a scripted REST service; tokens are required. */
export async function startGateway(env: Record<string, string> = {}) {
  const upstream = await startUpstream();
  const signer = secretSigner();
  const settings = { ...signer.env, ...UNLIMITED, ...env };
  const gateway = await startProcess({ REST_BASE_URL: upstream.url, ...settings }).catch(async (error: unknown) => {
    await upstream.close();
    throw error;
  });
  return {
    upstream,
    url: gateway.url,
    uri: `${gateway.url}/graphql`,
    /** What `npm run token` prints with the settings of this gateway; without arguments, a token of p1 as a phone app's. */
    async token(...args: string[]): Promise<string> {
      const given = args.length > 0 ? args : ['--sub', 'p1', '--recipe', 'phone-app', '--events', 'open_app'];
      const { stdout } = await run(process.execPath, [`${HERE}../../dist/token.js`, ...given], { env: settings });
      return stdout.trim();
    },
    /** A token that was valid an hour ago. */
    expired: () => signed(signer, header(signer), claims({ iat: now() - 7_200, exp: now() - 3_600 })),
    /** How many events the REST service received. */
    events: () => upstream.calls().filter((call) => call === 'POST /integrations/event').length,
    async close() {
      await gateway.kill();
      await upstream.close();
    },
  };
}

/** What `npm start` starts, on free ports: the built gateway and the reference service with its demo player. Open: no tokens. */
export async function startDemo() {
  const data = await mkdtemp(join(tmpdir(), 'demo-'));
  const { url, child, ended } = await startProcess({
    NODE_ENV: 'development',
    REFERENCE_PORT: '0',
    DATA_DIR: data,
  });
  return {
    uri: `${url}/graphql`,
    async stop() {
      child.kill('SIGTERM');
      await ended;
      await rm(data, { recursive: true });
    },
  };
}

/** Records the requests of this suite's `fetch`. */
export function recordRequests() {
  const original = globalThis.fetch;
  const sent: (ReturnType<typeof operationOf> & { method: string | undefined; status: number })[] = [];
  let lost = 0;
  let underWay = 0;
  globalThis.fetch = async (url, options) => {
    underWay += 1;
    try {
      const response = await original(url, options);
      sent.push({ method: options?.method, ...operationOf(options?.body), status: response.status });
      if (lost === 0) return response;
      lost -= 1;
      await response.text();
      throw new TypeError('fetch failed');
    } finally {
      underWay -= 1;
    }
  };
  return {
    sent,
    isIdle: () => underWay === 0,
    forget: () => sent.splice(0),
    /** Loses the next responses on the way: the gateway gets the request, the client an error. */
    lose(count: number) {
      lost = count;
    },
    restore() {
      globalThis.fetch = original;
    },
  };
}

/** The text of the operation of a request; undefined when the request names it by `hash`. */
function operationOf(body: unknown): { query?: string; hash?: string } {
  const { query, documentId, extensions } = JSON.parse(String(body));
  return { query, hash: documentId ?? extensions?.persistedQuery?.sha256Hash };
}
