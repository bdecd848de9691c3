import { loadReferenceConfig } from './config.ts';
import { OperatorError } from './errors.ts';
import { serve } from './serve.ts';

// What the service stores is for its user alone: files get the mode 0600, folders 0700.
process.umask(0o077);

/** Starts the service. `--demo` fills an empty store with demo players. */
async function main(args: readonly string[]): Promise<void> {
  const unknown = args.find((argument) => argument !== '--demo');
  if (unknown !== undefined) throw new OperatorError(`Unknown argument ${unknown}; there is only --demo.`);
  await serve(loadReferenceConfig(), args.includes('--demo'));
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof OperatorError ? error.message : error);
  process.exit(1);
});
