import { loadReferenceConfig } from './config.ts';
import { OperatorError } from './errors.ts';
import { serve } from './serve.ts';

/** Without arguments, the service; with arguments, the operator's command. `--demo` fills an empty store. */
async function main(args: readonly string[]): Promise<void> {
  const config = loadReferenceConfig();
  const [isDemo, command] = [args.includes('--demo'), args.filter((argument) => argument !== '--demo')];
  if (command.length === 0) return serve(config, isDemo);
  const { runCommand } = await import('./operator.ts');
  console.log(await runCommand(command, config));
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof OperatorError ? error.message : error);
  process.exit(1);
});
