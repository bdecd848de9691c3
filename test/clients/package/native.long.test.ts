import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { expect, jest, test } from '@jest/globals';
import { newFolder } from '../../kit/at-end.ts';

/*
 * The package in an application of React Native: bundled by Metro with the preset of React Native, and run with what an engine
 * on a phone has. It has no `crypto`, `URL`, `TextDecoder`, `DOMException` and `structuredClone`; its signals have no reason.
 */

const run = promisify(execFile);
jest.setTimeout(300_000);

const project = newFolder();
const ENTRY = `
import { createClient, gatewayErrors, heal } from '@referral-gateway/client';
import { cacheConfig, createGatewayLink, defaultOptions, toDocument } from '@referral-gateway/client/apollo';
import { useHealing } from '@referral-gateway/client/react';
import { createGatewayFetch } from '@referral-gateway/client/relay';
import { gatewayExchanges } from '@referral-gateway/client/urql';

globalThis.entries = [cacheConfig, createGatewayLink, defaultOptions, toDocument, useHealing, createGatewayFetch, gatewayExchanges];
globalThis.start = async (fetch) => {
  const closing = new AbortController();
  const client = createClient({ url: 'http://gateway.example/graphql', fetch, token: async () => 'abc', timeoutMs: 50 });
  const text = 'mutation Open($input: TrackEventsInput!) { trackEvents(input: $input) { eventNames } }';
  const seen = [(await client.request(text, { input: { playerUniqueId: 'a', events: [] } })).data];
  await client.watch('{ me { coupons { id } } }', {}, ({ data }) => seen.push(data), { signal: closing.signal });
  const closed = client.request('{ hangs { id } }', {}, { signal: closing.signal }).catch(({ name }) => name);
  closing.abort();
  seen.push(await closed, gatewayErrors(await heal({ errors: [], again: async () => undefined })));
  return seen;
};
`;
const BUNDLE = `
import { createRequire } from 'node:module';
import Metro from 'metro';
import { FileStore } from 'metro-cache';

const path = createRequire(import.meta.url).resolve('@react-native/metro-babel-transformer');
// What both bundles contain is compiled once.
const cache = new FileStore({ root: 'cache' });
const config = await Metro.loadConfig({ cwd: process.cwd() }, {});
for (const [out, unstable_enablePackageExports] of Object.entries({ exports: true, folders: false })) {
  const resolver = { ...config.resolver, unstable_enablePackageExports, unstable_conditionNames: ['require', 'react-native'], resolverMainFields: ['react-native', 'browser', 'main'], useWatchman: false };
  const transformer = { ...config.transformer, babelTransformerPath: path };
  const settings = { ...config, cacheStores: [cache], maxWorkers: 2, reporter: { update() {} }, resolver, transformer };
  await Metro.runBuild(settings, { entry: 'index.js', platform: 'android', dev: false, minify: false, out });
}
process.exit();
`;

/** A signal of React Native: it has no reason, and cannot throw. */
class Signal extends EventTarget {
  aborted = false;
}
class Abort {
  readonly signal = new Signal();
  abort() {
    this.signal.aborted = true;
    this.signal.dispatchEvent(new Event('abort'));
  }
}

test('Metro bundles every entry, with and without package exports; it runs with what a phone has', async () => {
  const file = fileURLToPath(new URL('../../../packages/client', import.meta.url));
  const packages =
    'metro@0.83 @react-native/metro-babel-transformer@0.83 @babel/core@7 @babel/runtime@7 @apollo/client@4 graphql@16 rxjs@7 react@19 @urql/core@6 @urql/exchange-graphcache@9 relay-runtime@20';
  writeFileSync(join(project, 'package.json'), '{ "private": true }');
  writeFileSync(join(project, 'index.js'), ENTRY);
  writeFileSync(join(project, 'bundle.mjs'), BUNDLE);
  const options = ['install', '--install-links', '--ignore-scripts', '--no-audit', '--no-fund'];
  await run('npm', [...options, ...packages.split(' '), file], { cwd: project });
  await run(process.execPath, ['bundle.mjs'], { cwd: project });

  for (const bundle of ['exports.js', 'folders.js']) {
    const keys = new Set<string>();
    let lost = 1;
    const missing = {
      message: 'Not now.',
      path: ['me', 'coupons'],
      extensions: { code: 'UPSTREAM_TIMEOUT', retryable: true },
    };
    const screens: unknown[] = [
      { data: { me: { coupons: null } }, errors: [missing] },
      { data: { me: { coupons: [] } } },
    ];
    const fetch = async (_to: unknown, { body }: { body: string }) => {
      const { query, variables } = JSON.parse(body);
      if (query.includes('hangs')) return new Promise(() => undefined);
      if (!query.includes('mutation')) return Response.json(screens.shift());
      keys.add(variables.input.idempotencyKey);
      lost -= 1;
      if (lost >= 0) throw new TypeError('Network request failed');
      return Response.json({ data: { trackEvents: { eventNames: [] } } });
    };
    const phone: Record<string, unknown> = {
      ...{ setTimeout, clearTimeout, setInterval, clearInterval, console, Headers, Response, AbortController: Abort },
      navigator: { product: 'ReactNative' },
    };
    phone['window'] = phone['global'] = phone;
    runInContext(readFileSync(join(project, bundle), 'utf8'), createContext(phone));
    const { entries, start } = Object(phone);
    expect(entries).not.toContain(undefined);
    const shown = [{ me: { coupons: null } }, { me: { coupons: [] } }];
    const seen = [{ trackEvents: { eventNames: [] } }, ...shown, 'AbortError', []];
    expect([bundle, JSON.parse(JSON.stringify(await start(fetch)))]).toEqual([bundle, seen]);
    expect([...keys]).toEqual([expect.stringMatching(/^[\da-f-]{36}$/)]);
  }
});
