import { loadReferenceConfig } from './config.ts';
import { OperatorError } from './errors.ts';

// What the service stores is for its user alone: files get the mode 0600, folders 0700.
process.umask(0o077);

/** Starts the service, with `--demo` for a demo, or runs a command of its operator. */
async function main(args: readonly string[]): Promise<void> {
  const isDemo = args.join(' ') === '--demo';
  if (args.length === 0 || isDemo) {
    const { serve } = await import('./serve.ts');
    return serve(loadReferenceConfig(), isDemo);
  }
  const { commandOf, USAGE } = await import('./commands.ts');
  if (args[0] === '--help') return console.log(USAGE);
  const run = commandOf(args);
  if (!run) throw new OperatorError(`Unknown command ${args.join(' ')}. There are:\n\n${USAGE}`);
  const result = await run(loadReferenceConfig());
  if (result) console.log(JSON.stringify(result));
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof OperatorError ? error.message : error);
  process.exit(1);
});
