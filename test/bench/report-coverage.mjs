/* Loaded into a gateway with `--import`: counts the calls of functions between two messages. */
import { Session } from 'node:inspector/promises';

const session = new Session();
session.connect();
await session.post('Profiler.enable');

process.on('message', async (message) => {
  if (message === 'start-coverage') {
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    process.send({});
  } else if (message === 'take-coverage') {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    process.send(result.filter(({ url }) => url.startsWith('file://') && url.includes('/dist/')));
  }
});
