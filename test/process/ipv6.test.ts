import { once } from 'node:events';
import { createServer } from 'node:http';
import { networkInterfaces } from 'node:os';
import { expect, test } from '@jest/globals';
import { atEnd } from '../kit/at-end.ts';
import { post } from '../kit/post.ts';
import { startProcess } from '../kit/process.ts';
import { secretSigner, token } from '../kit/tokens.ts';

/* The built program where there is IPv6 alone: the REST service, the port of clients and that of operators. */

const signer = secretSigner();

const hasIpv6 = Object.values(networkInterfaces()).some((ones) => ones?.some(({ address }) => address === '::1'));
if (!hasIpv6) console.warn('This machine has no ::1: the tests of IPv6 are skipped.');

(hasIpv6 ? test : test.skip).each(['::1', '::'])(
  'HOST=%s: reads the REST service at [::1] and is ready',
  async (host) => {
    const asked: (string | undefined)[] = [];
    const rest = createServer(({ url }, response) => {
      asked.push(url);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ playerUniqueId: 'p1', playerAttributes: { displayName: 'Six' } }));
    });
    await once(rest.listen(0, '::1'), 'listening');
    atEnd(async () => void rest.close());
    const { port } = Object(rest.address());
    const env = { HOST: host, MANAGEMENT_HOST: '::1', REST_BASE_URL: `http://[::1]:${port}/`, ...signer.env };
    const gateway = await startProcess(env);
    const url = `http://[::1]:${new URL(gateway.url).port}`;
    const query = '{ me { attributes { displayName } } }';
    const { status, text } = await post(url, { query }, { authorization: `Bearer ${token(signer)}` });
    expect([status, JSON.parse(text).data]).toEqual([200, { me: { attributes: { displayName: 'Six' } } }]);
    expect(asked).toEqual(['/api/v3.0/integrations/player/p1']);
    expect(gateway.management).toContain('[::1]');
    expect((await gateway.page('/readyz')).status).toBe(200);
  },
);
