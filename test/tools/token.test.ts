import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { atEnd, newFile } from '../kit/at-end.ts';
import { startBoth } from '../kit/gateway.ts';
import { rows } from '../kit/rows.ts';
import { AUDIENCE, bearer, ISSUER, keySigner, secretSigner, token as tokenOf } from '../kit/tokens.ts';

const { env } = secretSigner();
const run = (args: string[], settings: Record<string, string>, input = '') =>
  spawnSync(process.execPath, ['dist/token.js', ...args], { env: settings, input, encoding: 'utf8' });
const mint = (args: string[], settings: Record<string, string> = env) => run(args, settings).stdout.trimEnd();
/** What `--check` prints about a token. */
const check = (token: string, settings: Record<string, string>) =>
  run(['--check'], settings, `> referral-gateway token\n\n${token}\n`).stdout;

test('a token of a player or of a client lets it in, with the scopes asked for', async () => {
  const [client, entry] = mint(['--client', 'shop', '--scopes', 'players:read,any-player']).split('\n');
  const { gateway } = await startBoth({ ...env, CLIENT_TOKENS_FILE: newFile('clients.json', `[${entry}]`) });
  const player = mint(['--sub', 'p1', '--scopes', 'players:read', '--minutes', '5']);
  const own = await gateway.query('{ me { id coupons { code } } }', {}, bearer(player));
  expect(own).toMatchObject({ data: { me: { id: 'p1' } }, errors: [{ extensions: { code: 'FORBIDDEN' } }] });
  const other = '{ player(playerUniqueId: "p2") { id } }';
  expect((await gateway.query(other, {}, bearer(`${client}`))).data).toEqual({ player: { id: 'p2' } });
});

test('--check prints each check with the settings of the gateway', () => {
  const settings = {
    ...{ ...env, JWT_PLAYER_CLAIM: '/who/id', JWT_SCOPE_CLAIM: 'scp', JWT_AUDIENCE_CLAIM: 'azp' },
    ...{ JWT_SCOPE_MAP: '{"gw/players:read":["players:read"]}', JWT_REQUIRE: 'token_use=access' },
  };
  const token = mint(['--sub', 'p1', '--scopes', 'players:read'], settings);
  const good = check(token, settings);
  expect(good).not.toContain('FAIL');
  expect(good).toMatch(/ok {4}signature\n.*\n {6}mapped {2}gw\/players:read players:read\n/s);
  const other = check(token, { ...settings, JWT_ISSUER: 'https://other.example/', JWT_PLAYER_CLAIM: 'sub' });
  expect(other).toMatch(/FAIL {2}issuer {5}iss: https:\/\/login.example; expected https:\/\/other.example\/\n/);
  expect(check(token, secretSigner().env)).toMatch(/^FAIL {2}signature/);
  expect(run(['--check'], settings).stderr).toMatch(/^Give the token on stdin/);
  const lastBit = token.replace(/.$/, (last) => String.fromCharCode(last.charCodeAt(0) + 1));
  expect(check(lastBit, settings)).toMatch(/^FAIL {2}malformed/);
  const expired = check(mint(['--sub', 'p1', '--recipe', 'phone-app', '--expired']), env);
  expect(expired.match(/FAIL.*/g)).toEqual([expect.stringContaining('FAIL  expired')]);
});

test('--check fetches the key set through the proxy of the settings', async () => {
  const signer = keySigner('ES256', 'k1');
  const keys = createServer((_request, response) => response.end(JSON.stringify({ keys: [signer.jwk] })));
  // Names are resolved by the proxy alone.
  const proxy = createServer().on('connect', ({ url }, socket) => {
    asked.push(`${url}`);
    const target = connect((keys.address() as AddressInfo).port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    });
    target.pipe(socket).pipe(target);
    for (const one of [socket, target]) one.on('error', () => target.destroy());
    atEnd(() => target.destroy());
  });
  const asked: string[] = [];
  for (const server of [keys, proxy]) {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    atEnd(() => server.close());
  }
  const HTTP_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const jwt = { JWT_JWKS_URL: 'http://login.invalid/keys', JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE };
  const child = execFile(process.execPath, ['dist/token.js', '--check'], { env: { ...jwt, HTTP_PROXY } });
  child.stdin?.end(tokenOf(signer));
  const printed = [child.stdout, child.stderr].map((stream) => stream?.toArray());
  expect((await Promise.all(printed)).flat().join('')).toMatch(/^ok {4}key .*\nok {4}signature\n/);
  expect(asked).toEqual(['login.invalid:80']);
});

/** Arguments that are refused: settings, the command line, and the first line of what is printed. */
const REFUSED = rows<[keyof typeof SETTINGS, args: string, message: string]>(`
  secret | | Give either --sub or --client.
  secret | --sub a --client b | Give either --sub or --client.
  secret | --sub a --scopes admin | There is no scope "admin".
  secret | --sub .. --recipe support | --sub must not have "." or ".." between slashes.
  secret | --sub a --recipe support --minutes 0 | --minutes must be a whole number between 1 and 1440.
  nothing | --sub a --recipe support | Set JWT_SECRET (at least 32 bytes), JWT_ISSUER and JWT_AUDIENCE, the same
  nothing | --client shop | Give either --scopes or --recipe.
  secret | --sub a --scopes= --events a | --events is for --recipe only.
  nothing | --client a --scopes= --minutes 5 | --minutes and --expired are for --sub only.
  nothing | --client= --scopes= | --client must have 1 to 100 characters.
  secret | --sub p1 --recipe nothing | There is no recipe "nothing".
  production | --sub a | Not with NODE_ENV=production: run this command on your own machine, without that setting.
`);
const REST = { REST_BASE_URL: 'https://r.example', REST_API_KEY: 'a', REST_SECRET_KEY: 'b' };
const SETTINGS = { nothing: {}, secret: env, production: { ...env, ...REST, NODE_ENV: 'production' } };

test.each(REFUSED)('with %s, refuses "%s"', (settings, args, message) => {
  const { status, stderr } = run(args.split(' ').filter(Boolean), SETTINGS[settings]);
  expect([status, stderr]).toEqual([1, expect.stringContaining(message)]);
});

test('a recipe gives a player the scopes of a kind of client, never the bare scope for events; --help lists them', () => {
  const help = mint(['--help'], { NODE_ENV: 'production' });
  expect(help).toMatch(/^npm run token -- .*\nScopes: .* events:write:<name>$/s);
  const phone = mint(['--sub', 'p1', '--recipe', 'phone-app', '--events', 'open_app, café']);
  const scopes = JSON.parse(Buffer.from(phone.split('.')[1] ?? '', 'base64url').toString()).scope.split(' ');
  expect(scopes).toEqual(expect.arrayContaining(['players:read', 'events:write:open_app', 'events:write:caf%C3%A9']));
  for (const bare of ['events:write', 'figures:write', 'contacts:write']) expect(scopes).not.toContain(bare);
});
