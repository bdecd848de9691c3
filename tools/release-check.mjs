/*
 * `npm run release:check`: whether this commit can be released. Checks the version, the changelog, the released schema and
 * the SBOM, packs the client and builds the images. Changes nothing: what it makes is in a temporary folder or removed. What it
 * cannot check here, it names in its last line; with CI=true that is a failure.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const read = (path) => readFileSync(path, 'utf8');
const readJson = (path) => JSON.parse(read(path));
const run = (command, ...args) => execFileSync(command, args, { encoding: 'utf8', maxBuffer: 2 ** 28, stdio: 'pipe' });
const status = () => run('git', 'status', '--porcelain');

/** Entries of the client package that are read as files. */
const NO_MODULES = ['schema.graphql', 'schema.semantic.graphql', 'llms.txt'];
const MAX_IMAGE_AGE_MS = 60 * 86_400_000;
const { version } = readJson('package.json');
const before = status();
const folder = mkdtempSync(join(tmpdir(), 'release-'));

/** Thrown by a check for which this machine lacks a tool, or the way to a registry. */
class Skipped extends Error {}

const skipped = [];
let failed = 0;
const ofCommit = [checkVersions, checkChangelog, checkSchema, checkSbom, packClient, lintPackage];
for (const check of [...ofCommit, checkBaseImages, buildImages]) {
  const title = check.name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  try {
    console.log(`ok      ${title}: ${check()}`);
  } catch (error) {
    if (error instanceof Skipped) {
      skipped.push(title);
      console.log(`SKIPPED ${title}: ${error.message}`);
    } else {
      failed += 1;
      console.error(`FAILED  ${title}: ${error.stderr || error.message}`);
    }
  }
}
rmSync(folder, { recursive: true });
if (status() !== before) {
  failed += 1;
  console.error('FAILED  the working tree was changed');
}
if (skipped.length > 0) {
  // biome-ignore lint/style/noProcessEnv: a person may lack a tool, the machine of the workflow has all.
  if (process.env.CI === 'true') {
    failed += 1;
    console.error('FAILED  with CI=true no check may be skipped');
  }
  console.log(`${skipped.join(', ')}: SKIPPED`);
}
process.exitCode = failed > 0 ? 1 : 0;

function checkVersions() {
  const lock = readJson('package-lock.json').packages;
  const places = {
    'package-lock.json': lock[''].version,
    'packages/client': readJson('packages/client/package.json').version,
    'packages/client in package-lock.json': lock['packages/client'].version,
    'packages/reference': readJson('packages/reference/package.json').version,
    'packages/reference in package-lock.json': lock['packages/reference'].version,
  };
  for (const file of ['deploy/Dockerfile', 'deploy/compose.yaml', 'deploy/kubernetes.yaml']) {
    for (const [match, found] of read(file).matchAll(/(?:referral-(?:gateway|reference):|ARG VERSION=)(\d[\w.-]*)/g))
      places[`${file}: ${match}`] = found;
  }
  const wrong = Object.entries(places).filter(([, found]) => found !== version);
  if (wrong.length > 0)
    throw new Error(`not ${version}: ${wrong.map(([place, found]) => `${place} (${found})`).join(', ')}`);
  return version;
}

function checkChangelog() {
  const [, heading, text = ''] =
    new RegExp(`^## (${version.replaceAll('.', '\\.')}\\b.*)\\n([^]*?)(?=^## |$(?![^]))`, 'm').exec(
      read('CHANGELOG.md'),
    ) ?? [];
  if (!/^- /m.test(text)) throw new Error(`CHANGELOG.md has no entries for ${version}`);
  return heading;
}

/** At the release, the SDL is copied to schema/released/. */
function checkSchema() {
  if (!read('docs/schema-changes.md').includes(`## ${version}`)) throw new Error('run npm run docs');
  const file = `schema/released/${version}.graphql`;
  try {
    if (read(file) !== read('src/generated/schema.graphql'))
      throw new Error(`${file} is another schema: raise the version`);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return `not released yet; the release adds ${file}`;
  }
  return file;
}

function checkSbom() {
  const { metadata, components } = JSON.parse(run('npm', 'run', '--silent', 'sbom'));
  if (metadata.component.version !== version) throw new Error(`it names ${metadata.component.version}`);
  return `${components.length} packages`;
}

function packClient() {
  const options = ['--ignore-scripts', '--json', '--silent', '--pack-destination', folder];
  const [packed] = JSON.parse(run('npm', 'pack', '--workspace', '@referral-gateway/client', ...options));
  const files = packed.files.map(({ path }) => path);
  const needed = ['dist/index.js', 'dist/index.d.ts', 'dist/schema.graphql', 'LICENSE', 'README.md'];
  const missing = needed.filter((file) => !files.includes(file));
  if (missing.length > 0) throw new Error(`${missing} missing in the package`);
  return `${packed.filename}, ${files.length} files, ${packed.size} bytes`;
}

function engineOf(...names) {
  return names.find((name) => spawnSync(name, ['info'], { stdio: 'ignore' }).status === 0);
}

/** The package that `packClient` made. */
function lintPackage() {
  const [name] = readdirSync(folder);
  if (!name) throw new Error('there is no package');
  const file = join(folder, name);
  const [publint, attw] = ['publint@0.3.25', '@arethetypeswrong/cli@0.18.5'];
  const isThere = (name) => spawnSync('npm', ['view', name, 'version'], { encoding: 'utf8' }).stdout.trim() !== '';
  if (![publint, attw].every(isThere)) throw new Skipped('npm cannot fetch publint and attw');
  run('npx', '--yes', publint, '--strict', file);
  run('npx', '--yes', attw, '--exclude-entrypoints', ...NO_MODULES, '--', file);
  return 'publint and attw find nothing';
}

/** An image that is older misses the patches of two months. */
function checkBaseImages() {
  const images = [
    ...read('deploy/Dockerfile').matchAll(/^ARG NODE_IMAGE=(\S+)/gm),
    ...read('deploy/compose.yaml').matchAll(/^ +image: ((?!referral-)\S+)/gm),
  ].map(([, image]) => image);
  if (images.length < 4) throw new Error(`found only ${images.join(', ')}`);
  const engine = engineOf('docker', 'podman');
  if (!engine) throw new Skipped(`neither docker nor podman runs here: ${images.join(', ')}`);
  const old = images.filter((image) => {
    const pulled = spawnSync(engine, ['pull', '--quiet', image], { encoding: 'utf8' });
    if (pulled.status !== 0) throw new Skipped(`${engine} cannot pull ${image}: ${pulled.stderr.trim()}`);
    const created = Date.parse(run(engine, 'image', 'inspect', '--format', '{{.Created}}', image).trim());
    // Not a date: fails too.
    return !(Date.now() - created < MAX_IMAGE_AGE_MS);
  });
  if (old.length > 0) throw new Error(`older than 60 days: ${old.join(', ')}`);
  return images.join(', ');
}

function buildImages() {
  const engine = engineOf('docker', 'podman');
  if (!engine) throw new Skipped('neither docker nor podman runs here');
  for (const target of ['gateway', 'reference']) {
    const tag = `release-check-${target}`;
    run(engine, 'build', '-f', 'deploy/Dockerfile', '--target', target, '-t', tag, '.');
    run(engine, 'rmi', tag);
  }
  return `with ${engine}`;
}
