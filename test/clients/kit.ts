import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type GatewayProcess, startProcess } from '../kit/process.ts';
import { claims, header, now, secretSigner, signed, UNLIMITED } from '../kit/tokens.ts';
import { startUpstream } from '../kit/upstream.ts';

/* The built gateway with tokens, and a record of what a client sends to it. */

const run = promisify(execFile);
const HERE = fileURLToPath(new URL('.', import.meta.url));
const { scripts }: { scripts: Record<string, string> } = JSON.parse(
  readFileSync(new URL('package.json', import.meta.url), 'utf8'),
);
const TOKEN_COMMAND = fileURLToPath(new URL('../../dist/token.js', import.meta.url));

/** A request that a client sent, and the status of the response. */
export interface Sent {
  method: string;
  /** The text of the operation; undefined when the request names it by `hash`. */
  query: string | undefined;
  hash: string | undefined;
  status: number;
}

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
    /** What `npm run token` prints with the settings of this gateway. */
    async token(...args: string[]): Promise<string> {
      const { stdout } = await run(process.execPath, [TOKEN_COMMAND, ...args], { env: settings });
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
export async function startDemo(): Promise<GatewayProcess & { stop(): Promise<void> }> {
  const data = await mkdtemp(join(tmpdir(), 'demo-'));
  const env = { NODE_ENV: 'development', REFERENCE_PORT: '0', DATA_DIR: data };
  const gateway = await startProcess(env);
  return {
    ...gateway,
    async stop() {
      gateway.child.kill('SIGTERM');
      await gateway.ended;
      await rm(data, { recursive: true });
    },
  };
}

/** Records the requests of this suite's `fetch`. */
export function recordRequests() {
  const original = globalThis.fetch;
  const sent: Sent[] = [];
  let lost = 0;
  let underWay = 0;
  globalThis.fetch = async (url, options) => {
    underWay += 1;
    try {
      const response = await original(url, options);
      sent.push({
        method: options?.method ?? 'GET',
        ...operationOf(String(url), options?.body),
        status: response.status,
      });
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

/** How a request names its operation: in the body of a POST, or in the URL of a GET. */
function operationOf(url: string, body: unknown): Pick<Sent, 'query' | 'hash'> {
  const parameters = Object.fromEntries(new URL(url).searchParams);
  const {
    query,
    documentId,
    extensions = parameters['extensions'],
  } = typeof body === 'string' ? JSON.parse(body) : parameters;
  const { persistedQuery } = typeof extensions === 'string' ? JSON.parse(extensions) : (extensions ?? {});
  return { query, hash: documentId ?? persistedQuery?.sha256Hash };
}
