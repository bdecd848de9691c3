import { loadReferenceConfig } from './config.ts';
import { OperatorError } from './errors.ts';

const USAGE = `node main.js [--demo]                  starts the service; with --demo, an empty store gets demo players
node main.js backup                    writes a backup of SQLite to DATA_DIR/backups/
node main.js coupons give PLAYER GROUP gives a coupon
node main.js coupons use CODE          counts a use of a coupon
node main.js restore --check [BACKUP]  checks a backup of SQLite; without one, the database of DATABASE_URL
node main.js export                    prints all data as lines of JSON
node main.js import                    reads such lines into an empty database

With REFERENCE_OPERATOR_PORT, backup and coupons ask the service that runs on this machine.`;

// What the service stores is for its user alone: files get the mode 0600, folders 0700.
process.umask(0o077);

async function main(args: readonly string[]): Promise<void> {
  const [command] = args;
  if (command === '--help') return console.log(USAGE);
  if (command === undefined || (command === '--demo' && args.length === 1)) {
    const { serve } = await import('./serve.ts');
    return serve(loadReferenceConfig(), command === '--demo');
  }
  const { runCommand } = await import('./commands.ts');
  if (await runCommand(loadReferenceConfig(), args, console.log)) return;
  throw new OperatorError(`Unknown command ${args.join(' ')}. There are:\n\n${USAGE}`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof OperatorError ? error.message : error);
  process.exit(1);
});
