import { getDefaultAutoSelectFamilyAttemptTimeout, setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import os from 'node:os';
import type { Logger } from 'pino';
import packageJson from '../../package.json' with { type: 'json' };
import { tokenHint } from '../config/auth.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { ConfigError } from '../config/environment.ts';
import type { Secret } from '../config/secret.ts';
import { serve } from '../serve.ts';
import { memoryLimits, outputOf, UsageError } from './commands.ts';
import { tryTls } from './first-connection.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import { createLog, flushed, openStdout } from './log.ts';
import { startManagement } from './management.ts';
import { ReferenceFailed, startReference } from './reference.ts';

/** How long one address of a name may take before the next is tried, in milliseconds. Node's 250 are too few for another continent. */
const ATTEMPT_MS = 1_500;

/** The process from start to end. A start that fails is reported on stderr. `setSignalHandler` is for SIGTERM and SIGINT. */
export async function run(setSignalHandler: (handler: Lifecycle['onSignal']) => void): Promise<void> {
  let log: Logger | undefined;
  let lifecycle: Lifecycle | undefined;
  // For every connection: to the REST service, the key server, the collector and Redis.
  setDefaultAutoSelectFamilyAttemptTimeout(Math.max(ATTEMPT_MS, getDefaultAutoSelectFamilyAttemptTimeout()));
  try {
    os.networkInterfaces();
  } catch {
    // Fastify asks for them when it listens at 0.0.0.0. systemd's RestrictAddressFamilies refuses it without AF_NETLINK.
    Object.assign(os, { networkInterfaces: () => ({ lo: [{ family: 'IPv4', address: '127.0.0.1' }] }) });
  }
  try {
    const config = loadConfig();
    const output = await outputOf(process.argv.slice(2), config);
    if (output) return end(...output);
    const stdout = openStdout();
    log = createLog(config.LOG_LEVEL, stdout);
    for (const warning of [...config.warnings, ...memoryLimits().warnings]) log.warn(warning);
    lifecycle = createLifecycle(config.SHUTDOWN_DELAY_MS, config.SHUTDOWN_GRACE_MS, log);
    setSignalHandler(lifecycle.onSignal);
    await start(config, lifecycle, log, stdout.dropped);
  } catch (error) {
    // A signal came during the start: the process ends when everything that had started has stopped.
    if (lifecycle?.phase === 'draining') return;
    if (log) await flushed(log);
    console.error(failureText(error));
    process.exit(1);
  }
}

/** Ends the process after a command, also while something that it asked has not answered. */
function end(text: string, problems: readonly string[]): void {
  process.stdout.write(`${text}\n`, () => {
    process.stderr.write(problems.map((problem) => `${problem}\n`).join(''), () =>
      process.exit(problems.length > 0 ? 1 : 0),
    );
  });
}

async function start(config: Config, lifecycle: Lifecycle, log: Logger, droppedLines: () => number): Promise<void> {
  const reference = config.rest.baseUrl ? undefined : lifecycle.stopAtEnd(await startReference(lifecycle, log));
  const restUrl = (config.rest.baseUrl ?? reference?.url ?? '').toString();
  let serving: Awaited<ReturnType<typeof serve>> | undefined;
  const address = { host: config.MANAGEMENT_HOST, port: config.MANAGEMENT_PORT };
  const management = lifecycle.stopAtEnd(await startManagement(address, lifecycle, () => serving, log));
  const connect = async (url: Secret) => (await import('./redis.ts')).connectRedis(url, restUrl, config, log);
  const shared = config.REDIS_URL && lifecycle.stopAtEnd(await connect(config.REDIS_URL));
  const options = { draining: lifecycle.draining, shared, droppedLines };
  serving = lifecycle.stopAtEnd(await serve(config, restUrl, log, options));
  tryTls(config.rest, log);
  if (lifecycle.phase === 'starting') lifecycle.phase = 'running';
  const { version } = packageJson;
  const about = { version, revision: config.REVISION, node: process.version, ...config.summary };
  log.info({ url: serving.url, management: management.url, ...about, operations: serving.operations }, 'ready');
  if (config.production) return;
  await flushed(log);
  process.stdout.write(announce(config, { gateway: serving.url, rest: restUrl, management: management.url }));
}

/** By the code of an error, when the gateway cannot listen. */
const LISTEN_ADVICE: Partial<Record<string, string>> = {
  EADDRINUSE: 'set PORT or MANAGEMENT_PORT to another port',
  EACCES: 'set PORT and MANAGEMENT_PORT to ports from 1024, which need no privilege',
  EADDRNOTAVAIL: 'set HOST and MANAGEMENT_HOST to addresses of this machine, or to 0.0.0.0',
  EINVAL: 'a link-local address needs its interface, as in HOST=fe80::1%eth0',
  EAFNOSUPPORT: 'this machine has no IPv6; set HOST and MANAGEMENT_HOST to 0.0.0.0',
  ENOTFOUND: 'set HOST and MANAGEMENT_HOST to addresses of this machine, or to 0.0.0.0',
};

/** What is printed of an error that ended the start. Only the stack of an unexpected one: its properties can hold secrets. */
function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof ConfigError || error instanceof ReferenceFailed || error instanceof UsageError)
    return error.message;
  const { code = '', syscall = '' } = Object(error);
  const advice = /listen|getaddrinfo/.test(syscall) && LISTEN_ADVICE[code];
  return advice ? `${error.message}; ${advice}.` : (error.stack ?? error.message);
}

/** The text printed at a terminal in development: the addresses, and a query to try. */
export function announce(config: Config, urls: { gateway: string; rest: string; management: string }): string {
  const hint = tokenHint(config.auth);
  const open =
    'OPEN: no token setting is given, so everybody on this machine may do everything, as the player "demo-player".';
  return `
  Start page       ${urls.gateway}/ (in a browser; works offline)
  GraphQL          ${urls.gateway}/graphql
  Apollo Sandbox   ${urls.gateway}/graphql (in a browser)
  IDE              ${urls.gateway}/graphiql (works offline)
  REST service     ${new URL(urls.rest).origin}${config.rest.baseUrl ? '' : ' (the reference service, started beside the gateway)'}
  Management       ${urls.management}/readyz, /healthz, /metrics

  ${hint === undefined ? open : `TOKENS: every request needs one. ${hint}`}

  ${config.PERSISTED_OPERATIONS === 'enforce' ? 'Only the operations of PERSISTED_OPERATIONS_FILE are run.' : TRY_IT}

`;
}

const TRY_IT = `Try it in the IDE:

    {
      player(playerUniqueId: "demo-player") {
        attributes { displayName tags }
        coupons(filter: { usableNow: true, couponTypes: [PERCENTAGE_DISCOUNT] }) { couponType value }
        referredFriends(limit: 2) { total totalActive nodes { displayName status } }
      }
    }`;
