import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { expect, test } from '@jest/globals';
import { atEnd, newFolder } from '../kit/at-end.ts';
import { post } from '../kit/post.ts';
import { startProcess } from '../kit/process.ts';
import { API_KEY, SECRET_KEY } from '../kit/upstream.ts';

/** The reference service with its log, which has one JSON object in a line. */
async function startLogged() {
  const env = { REST_API_KEY: API_KEY, REST_SECRET_KEY: SECRET_KEY, DATA_DIR: newFolder(), REFERENCE_PORT: '0' };
  const child = spawn(process.execPath, ['dist/reference/main.js', '--demo'], { env });
  atEnd(() => child.kill('SIGKILL'));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  let log = '';
  /** Reads on to the first line that fits. */
  const until = async (fits: (line: string) => boolean) => {
    for (;;) {
      const { value } = await lines.next();
      log += `${value}\n`;
      if (fits(value)) return value;
    }
  };
  const { url } = JSON.parse(await until((line) => line.includes('"msg":"listening"')));
  return { url, until, log: () => log };
}

test('the command of docs/operations.md finds the lines of one request in the logs of both programs, and no others', async () => {
  const service = await startLogged();
  const gateway = await startProcess({ REST_BASE_URL: service.url });
  const ids = ['night-shift-1', 'night-shift-10'];
  const query = '{ player(playerUniqueId: "demo-player") { attributes { displayName } coupons { code } } }';
  for (const id of ids) expect((await post(gateway.url, { query }, { 'x-request-id': id })).codes).toEqual([]);
  await gateway.logged(({ requestId }) => requestId === ids[1]);
  let calls = 0;
  await service.until((line) => line.includes(`"${ids[1]}"`) && ++calls === 2);

  const [, command = ''] =
    /logs --no-color --no-log-prefix gateway reference \| (.*)$/m.exec(readFileSync('docs/operations.md', 'utf8')) ??
    [];
  const input = gateway.output() + service.log();
  const found = execFileSync('sh', ['-c', command.replace('ID', ids[0] ?? '')], { input, encoding: 'utf8' });
  const lines = found
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(new Set(lines.map(({ requestId }) => requestId))).toEqual(new Set([ids[0]]));
  const routes = lines.flatMap(({ name, route }) => (name === 'reference-service' ? [route] : []));
  expect(routes.sort()).toEqual([expect.stringMatching(/player\/:playerUniqueId$/), expect.stringMatching(/coupon$/)]);
  expect(lines.length).toBe(3);
});
