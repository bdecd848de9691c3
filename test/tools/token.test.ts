import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startGateway } from '../kit/gateway.ts';
import { rows } from '../kit/rows.ts';
import { secretSigner } from '../kit/tokens.ts';
import { startUpstream, type Upstream } from '../kit/upstream.ts';

/* The command that makes tokens for development makes tokens that the gateway accepts. */

const { env } = secretSigner();
/** What the command prints; rejects with what it says when it fails. */
async function mint(args: string[], settings: Record<string, string> = {}): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['dist/token.js', ...args], { env: settings });
  return stdout.trimEnd();
}

const folder = mkdtempSync(join(tmpdir(), 'mint-'));
let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(async () => {
  await upstream.close();
  rmSync(folder, { recursive: true });
});

test('--help says how it is used', async () => {
  expect(await mint(['--help'], { NODE_ENV: 'production' })).toMatch(
    /^npm run token -- --sub alice .*\nScopes: .* events:write:<name>$/s,
  );
});

test("a player's token lets that player in, with the scopes asked for", async () => {
  const token = await mint(['--sub', 'p1', '--scopes', 'players:read coupons:read', '--minutes', '5'], env);
  const gateway = await startGateway(upstream.url, env);
  const { data, errors } = await gateway.query(
    '{ me { id coupons { code } referredFriends { total } } }',
    {},
    { authorization: `Bearer ${token}` },
  );
  expect(data).toMatchObject({ me: { id: 'p1', referredFriends: null } });
  expect(errors.map(({ extensions }) => extensions['code'])).toEqual(['FORBIDDEN']);
  await gateway.close();
});

const MAPPED = {
  JWT_PLAYER_CLAIM: '/who/id',
  JWT_SCOPE_CLAIM: 'scp',
  JWT_SCOPE_MAP: '{"gw/players:read":["players:read"]}',
  JWT_AUDIENCE_CLAIM: 'azp',
  JWT_REQUIRE: 'token_use=access',
};

/** What `--check` prints about a token. */
async function check(token: string, settings: Record<string, string>): Promise<string> {
  const path = join(folder, 'token.txt');
  writeFileSync(path, token);
  const command = '"$1" dist/token.js --check < "$2" || true';
  const run = promisify(execFile)('sh', ['-c', command, 'sh', process.execPath, path], { env: settings });
  return (await run).stdout;
}

test('--check prints each check with the settings of the gateway', async () => {
  const settings = { ...env, ...MAPPED };
  const token = await mint(['--sub', 'p1', '--scopes', 'players:read'], settings);
  const good = await check(token, settings);
  expect(good).not.toContain('FAIL');
  expect(good).toMatch(/ok {4}signature\n.*\n {6}mapped {2}gw\/players:read players:read\n/s);
  const other = await check(token, { ...settings, JWT_ISSUER: 'https://other.example/', JWT_PLAYER_CLAIM: 'sub' });
  expect(other).toMatch(/FAIL {2}issuer {5}iss: https:\/\/login.example; expected https:\/\/other.example\/\n/);
  expect(await check(token, secretSigner().env)).toMatch(/^FAIL {2}signature/);
});

test('--expired makes a token that has expired', async () => {
  const token = await mint(['--sub', 'p1', '--recipe', 'phone-app', '--expired'], env);
  expect((await check(token, env)).match(/FAIL/g)).toHaveLength(1);
  expect(await check(token, env)).toMatch(/FAIL {2}expired/);
});

test("a client's token lets it in by the entry printed beside it", async () => {
  const [token, entry] = (await mint(['--client', 'shop', '--scopes', 'players:read,any-player'])).split('\n');
  const path = join(folder, 'clients.json');
  writeFileSync(path, `[${entry}]`);
  const gateway = await startGateway(upstream.url, { CLIENT_TOKENS_FILE: path });
  const { data } = await gateway.query(
    '{ player(playerUniqueId: "p2") { id } }',
    {},
    { authorization: `Bearer ${token}` },
  );
  expect(data).toEqual({ player: { id: 'p2' } });
  await gateway.close();
});

/** Arguments that are refused: settings, the command line, and the first line of what is printed. */
const REFUSED = rows<[settings: keyof typeof SETTINGS, args: string, message: string]>(`
  secret | | Give either --sub or --client.
  secret | --sub a --client b | Give either --sub or --client.
  secret | --admin | Unknown option '--admin'
  secret | --sub a --scopes admin | There is no scope "admin".
  secret | --sub .. --recipe support | --sub must not have "." or ".." between slashes.
  secret | --sub a --recipe support --minutes 0 | --minutes must be a whole number between 1 and 1440.
  nothing | --sub a --recipe support | Set JWT_SECRET (at least 32 bytes), JWT_ISSUER and JWT_AUDIENCE, the same
  nothing | --client shop | Give either --scopes or --recipe.
  secret | --sub a --recipe support --scopes= | Give either --scopes or --recipe.
  secret | --sub a --scopes= --events a | --events is for --recipe only.
  nothing | --client a --scopes= --minutes 5 | --minutes and --expired are for --sub only.
  nothing | --client= --scopes= | --client must have 1 to 100 characters.
  secret | --sub p1 --recipe nothing | There is no recipe "nothing".
  production | --sub a | Tokens are for development only; this command does not run with NODE_ENV=production.
`);
const REST = { REST_BASE_URL: 'https://r.example', REST_API_KEY: 'a', REST_SECRET_KEY: 'b' };
const SETTINGS = { nothing: {}, secret: env, production: { ...env, ...REST, NODE_ENV: 'production' } };

test.each(REFUSED)('with %s, refuses "%s"', async (settings, args, message) => {
  const refused = mint(args.split(' ').filter(Boolean), SETTINGS[settings]);
  await expect(refused).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
});

test('a recipe gives the scopes of a kind of client, and a player never the bare scope for events', async () => {
  const scopesOf = (token: string) =>
    JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).scope.split(' ');
  const phone = await mint(['--sub', 'p1', '--recipe', 'phone-app', '--events', 'open_app, café'], env);
  expect(scopesOf(phone)).toEqual(
    expect.arrayContaining(['players:read', 'events:write:open_app', 'events:write:caf%C3%A9']),
  );
  expect(scopesOf(phone)).not.toContain('events:write');
  expect(scopesOf(phone)).not.toContain('figures:write');
});
