import { execFile } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { freePort } from '../kit/redis.ts';
import { secretSigner, token } from '../kit/tokens.ts';
import { start, upstream } from './setup.ts';

/* `npm run smoke`: the built checks of a gateway that runs. */

const smoke = (...args: string[]) =>
  new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, ['dist/smoke.js', ...args], (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });

const signer = secretSigner();
const SCOPES = 'players:read events:write:smoke_test';

test('five checks pass on a gateway that is well, and one event is sent', async () => {
  const { url } = await start(signer.env);
  const { code, stdout } = await smoke(url, token(signer, { scope: SCOPES }));
  expect(stdout.split('\n').map((line) => line.slice(0, 6))).toEqual([...Array(5).fill('ok    '), '']);
  expect(code).toBe(0);
  expect(upstream.calls().filter((call) => call.startsWith('POST'))).toEqual(['POST /integrations/event']);
  const server = token(signer, { sub: undefined, client_id: 'shop', scope: `${SCOPES} any-player` });
  expect(await smoke(`${url}/graphql`, server, 'p2')).toMatchObject({ code: 0 });
});

test('a failed check says why and ends with 1: a token without a scope, a service that is down, no gateway', async () => {
  const { url } = await start(signer.env);
  const unable = await smoke(url, token(signer, { scope: 'players:read' }));
  expect(unable).toMatchObject({ code: 1, stdout: expect.stringMatching(/^FAILED {2}an event is sent: FORBIDDEN/m) });
  upstream.on('GET /player', { status: 500 });
  const down = await smoke(url, token(signer, { scope: SCOPES }));
  expect(down).toMatchObject({ code: 1, stdout: expect.stringMatching(/^FAILED .*UPSTREAM_UNAVAILABLE/m) });
  const none = await smoke(`http://127.0.0.1:${await freePort()}`, 'a-token');
  expect(none).toMatchObject({ code: 1, stdout: expect.stringMatching(/^FAILED .*ECONNREFUSED/m) });
  expect(await smoke(url)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('smoke -- URL TOKEN'),
  });
});
