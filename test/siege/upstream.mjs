/* The REST service of the siege, a program of its own. A message over IPC changes `delayMs`, the time of every answer. */
import { startRestService } from '../bench/rest-service.mjs';

const service = await startRestService();
await service.become('healthy', 5);
process.on('message', ({ delayMs }) => service.become('healthy', delayMs));
process.on('disconnect', () => process.exit());
process.send({ url: service.url });
