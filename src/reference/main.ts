import { ConfigError, loadReferenceConfig } from './config.ts';
import { ProgrammeError } from './programme/load.ts';
import { serve } from './serve.ts';
import { StoreError } from './store/store.ts';

/** Without arguments, the service; with arguments, the operator's command. `--demo` fills an empty store. */
async function main(args: readonly string[]): Promise<void> {
  const config = loadReferenceConfig();
  const [isDemo, command] = [args.includes('--demo'), args.filter((argument) => argument !== '--demo')];
  if (command.length === 0) return serve(config, isDemo);
  const { runCommand } = await import('./operator.ts');
  console.log(await runCommand(command, config));
}

/** Errors whose message is complete; others are printed with their stack. */
const EXPECTED = new Set([ConfigError.name, ProgrammeError.name, StoreError.name, 'CommandError']);

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error && EXPECTED.has(error.name) ? error.message : error);
  process.exit(1);
});
