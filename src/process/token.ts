import { loadConfig } from '../config/config.ts';
import { ConfigError } from '../config/environment.ts';
import { mint, UsageError } from './mint.ts';

/** `npm run token`: prints a token for development. */
async function main(): Promise<void> {
  process.stdout.write(`${await mint(process.argv.slice(2), loadConfig())}\n`);
}

main().catch((error: unknown) => {
  console.error(error instanceof UsageError || error instanceof ConfigError ? error.message : error);
  process.exit(1);
});
