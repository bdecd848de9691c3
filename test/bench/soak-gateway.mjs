/* The gateway of the soak: the built program in a process of its own, set up as in production. */
import { setTimeout as sleep } from 'node:timers/promises';
import { startOurs, tokenOf } from './processes.mjs';

/** Lets the memory be measured without what waits for the garbage collector. */
const COLLECT_ON_SIGNAL = ['--expose-gc', '--import', 'data:text/javascript,process.on("SIGUSR2",()=>gc())'];

/** Starts it in front of the REST service at `restUrl`, on ports of its own. */
export async function startSoakGateway(restUrl) {
  const gateway = await startOurs(restUrl, 'anywhere', COLLECT_ON_SIGNAL);

  /** The sum of a metric over its labels. */
  async function metrics() {
    const page = await (await fetch(`${gateway.management}/metrics`)).text();
    return (name) =>
      page
        .split('\n')
        .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }

  return {
    url: gateway.url,
    token: await tokenOf('soak', 'players:write players:delete events:write any-player'),
    metrics,
    /** What is in use after everything that can be collected has been, in megabytes. */
    async memory() {
      for (let round = 0; round < 3; round += 1) {
        gateway.child.kill('SIGUSR2');
        await sleep(200);
      }
      const value = await metrics();
      const megabytes = (...names) => names.reduce((sum, name) => sum + value(name), 0) / 1024 / 1024;
      return {
        used: megabytes('nodejs_heap_size_used_bytes', 'nodejs_external_memory_bytes'),
        resident: megabytes('process_resident_memory_bytes'),
      };
    },
    close: () => gateway.stop(),
  };
}
