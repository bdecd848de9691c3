import { pino } from 'pino';
import { createReferenceApp } from './app.ts';
import { ConfigError, loadReferenceConfig, type ReferenceConfig } from './config.ts';
import { loadProgramme, ProgrammeError } from './programme/load.ts';
import { openStore } from './store/open.ts';
import { StoreError } from './store/store-error.ts';

/** Run alone this is the service; with words after it, the operator's command; with `--demo`, an empty store is seeded. */
async function main(words: readonly string[]): Promise<void> {
  const config = loadReferenceConfig();
  const [isDemo, command] = [words.includes('--demo'), words.filter((word) => word !== '--demo')];
  if (command.length > 0) {
    const { runCommand } = await import('./operator.ts');
    return console.log(await runCommand(command, config));
  }
  await serve(config, isDemo);
}

/** How long requests that are under way may take to end, in milliseconds, when the process is told to end. */
const GRACE_MS = 5_000;

async function serve(config: ReferenceConfig, isDemo: boolean): Promise<void> {
  const programme = loadProgramme(config.programmeFile);
  const store = await openStore(config);
  let url = `http://127.0.0.1:${config.port}`;
  const app = createReferenceApp({
    store,
    programme,
    keys: config.keys,
    publicUrl: () => config.publicUrl ?? url,
    log: pino({ name: 'reference-service', level: 'error' }, pino.destination(2)),
  });
  app.addHook('onClose', () => store.close());
  stopWhenTold(() => {
    setTimeout(() => app.server.closeAllConnections(), GRACE_MS).unref();
    return app.close();
  });

  if (isDemo) {
    const { seedDemo } = await import('./demo.ts');
    await seedDemo(app, store, programme, config.keys);
  }
  url = await app.listen({ host: config.host, port: config.port }).catch((error: unknown) => {
    throw isTaken(error) ? new ConfigError(portTaken(config)) : error;
  });
  announce(config, url, store.name);
}

const isTaken = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';

const portTaken = ({ host, port }: ReferenceConfig) =>
  `Port ${port} of ${host} is taken; set REFERENCE_PORT to another.`;

/** Tells a parent process that the service is ready, or a person where it is. */
function announce(config: ReferenceConfig, url: string, store: string): void {
  if (config.hasDevelopmentKeys) {
    console.error('The reference service takes the development keys (REST_API_KEY, REST_SECRET_KEY are not set).');
  }
  if (process.send) process.send({ ready: true, url });
  else console.log(`Reference service: ${url}/api/v3.0, data in ${store}`);
}

/**
 * Ends the process when it is told to, after what is under way is answered and stored. A service that was started by
 * another process lets that one decide: a Ctrl-C reaches both, and the parent still needs the service to finish.
 */
function stopWhenTold(close: () => Promise<void>): void {
  let isStopping = false;
  const stop = () => {
    if (isStopping) return;
    isStopping = true;
    close().then(
      () => process.exit(0),
      (error: unknown) => fail(error),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', process.send ? () => {} : stop);
  process.on('disconnect', stop);
}

function fail(error: unknown): never {
  const isForPeople = error instanceof Error && FOR_PEOPLE.has(error.name);
  console.error(isForPeople ? error.message : error);
  process.exit(1);
}

const FOR_PEOPLE = new Set([ConfigError.name, ProgrammeError.name, StoreError.name, 'CommandError']);

main(process.argv.slice(2)).catch(fail);
