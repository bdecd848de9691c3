import { announce } from './announce.ts';
import { loadConfig } from './config.ts';
import { ConfigError } from './environment.ts';
import { createAuthenticate } from './gateway/access/authenticate.ts';
import { createGateway } from './gateway/server.ts';
import { createLog } from './log.ts';
import { startReference } from './reference-process.ts';
import { createRestClient } from './rest/client.ts';
import { stopOnSignals } from './shutdown.ts';

/** The composition root: configuration, REST service, REST client, gateway; then it listens. */
async function main(): Promise<void> {
  const config = loadConfig();
  const log = createLog(config.logLevel);
  const reference = config.rest.baseUrl ? undefined : await startReference();
  const baseUrl = (config.rest.baseUrl ?? reference?.url ?? '').toString();
  const rest = createRestClient({ ...config.rest, baseUrl });
  const authenticate = createAuthenticate(config.auth, (message) => log.warn(message));
  const gateway = await createGateway({ config, rest, authenticate, log });

  stopOnSignals([gateway, rest, ...(reference ? [reference] : [])], config.shutdownGraceMs, log);
  const url = await gateway.listen({ host: config.host, port: config.port });
  announce(config, url, baseUrl, (text) => process.stdout.write(text));
}

main().catch((error: unknown) => {
  console.error(error instanceof ConfigError ? error.message : error);
  process.exit(1);
});
