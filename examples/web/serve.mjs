/*
 * `npm run example`: builds the application, starts the gateway and the reference service with its demo player, and serves
 * the application beside them. The gateway requires tokens and runs the documents of the application alone.
 *
 * EXAMPLE_PORT (default 3000) is the port of the application, EXAMPLE_PLAYER (default demo-player) the player who is signed
 * in; all settings of the gateway apply. With `--all`, as in `npm run example`, the gateway and the client package are built
 * first; with `--built` the application is served as it was built last.
 */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startProgress } from '../../tools/progress.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const TOKEN_COMMAND = fileURLToPath(new URL('../../dist/token.js', import.meta.url));
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css' };
/** The level of ordinary lines in the gateway's log. */
const INFO = 30;
const { EXAMPLE_PORT = '3000', EXAMPLE_PLAYER = 'demo-player' } = process.env;

const settings = {
  ...process.env,
  JWT_SECRET: randomBytes(32).toString('hex'),
  JWT_ISSUER: 'http://localhost/example',
  JWT_AUDIENCE: 'referral-gateway',
  PERSISTED_OPERATIONS: 'enforce',
  PERSISTED_OPERATIONS_FILE: join(HERE, 'src/generated/persisted-query-manifest.json'),
};

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const before = [
  ...(process.argv.includes('--all')
    ? [
        ['build the gateway', ROOT, 'run', '--silent', 'build'],
        ['build the client package', ROOT, 'run', '--silent', 'build:client'],
      ]
    : []),
  ...(existsSync(join(HERE, 'node_modules')) ? [] : [['install its packages', HERE, 'ci', '--no-audit', '--no-fund']]),
  ...(process.argv.includes('--built') ? [] : [['build the application', HERE, 'run', '--silent', 'build']]),
];
const progress = startProgress(before.length + 1);
for (const [what, cwd, ...args] of before) {
  progress.step(what);
  await npm(cwd, args);
}
progress.step('start the gateway and the demo');
const graphql = await startGateway();
progress.end();
const server = createServer((request, response) => {
  // It gives out tokens. With DNS rebinding, a website reaches it through its visitor's browser, under the website's name.
  if (!/^(?:localhost|127\.0\.0\.1)(?::\d+)?$/.test(request.headers.host ?? '')) {
    return response.writeHead(421).end('This server answers to localhost and 127.0.0.1 only.\n');
  }
  const answered = request.url === '/session' ? session(request, response) : file(request, response);
  answered.catch((error) => {
    console.error(error);
    if (!response.headersSent) response.writeHead(500);
    response.end();
  });
});
server.once('error', ({ message }) => {
  console.error(`${message}; set EXAMPLE_PORT to another port.`);
  process.exit(1);
});
server.listen(Number(EXAMPLE_PORT), '127.0.0.1', () => {
  console.log(`
  Example          http://localhost:${server.address().port}, as the player "${EXAMPLE_PLAYER}"
  GraphQL          ${graphql}, with the tokens and the documents of the example alone
`);
});

/** Its output is shown when it fails. */
async function npm(cwd, args) {
  const options = { cwd, shell: process.platform === 'win32', maxBuffer: 100 * 1_024 * 1_024 };
  await promisify(execFile)('npm', args, options).catch(({ stdout, stderr }) => {
    progress.print(`${stdout}${stderr}`);
    process.exit(1);
  });
}

/** Resolves to the URL of GraphQL when the gateway is ready. This process ends with it, and the other way round. */
function startGateway() {
  const gateway = spawn(process.execPath, [PROGRAM], { env: settings, stdio: ['ignore', 'pipe', 'inherit'] });
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => gateway.kill(signal));
  process.once('exit', () => gateway.kill());
  gateway.once('exit', (code) => process.exit(code ?? 1));
  return new Promise((resolve) => {
    createInterface(gateway.stdout).on('line', (line) => {
      // The log without its ordinary lines. What the gateway prints for newcomers does not hold for this one.
      const { level, msg, url } = line.startsWith('{') ? JSON.parse(line) : {};
      if (level > INFO) console.log(line);
      if (msg === 'ready') resolve(`${url}/graphql`);
    });
  });
}

/** The login service of the example. A real one asks who the player is. */
async function session({ method }, response) {
  if (method !== 'POST') return response.writeHead(405, { allow: 'POST' }).end();
  const args = ['--sub', EXAMPLE_PLAYER, '--recipe', 'phone-app', '--events', 'daily_check_in', '--minutes', '15'];
  const { stdout } = await promisify(execFile)(process.execPath, [TOKEN_COMMAND, ...args], { env: settings });
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  return response.end(JSON.stringify({ token: stdout.trim(), graphql }));
}

/** A file of the built application. */
async function file({ url }, response) {
  const { pathname } = new URL(url, 'http://localhost');
  const path = normalize(pathname === '/' ? '/index.html' : pathname);
  const type = TYPES[extname(path)];
  const content = type && (await readFile(join(HERE, 'dist', path)).catch(() => undefined));
  if (!content) return response.writeHead(404).end();
  return response.writeHead(200, { 'content-type': type }).end(content);
}
