import { fileURLToPath } from 'node:url';
import { expect, jest } from '@jest/globals';
import type { Token } from '@referral-gateway/client';
import { build } from 'esbuild';
import type { FunctionComponent, ReactElement } from 'react';
import { act, create, type ReactTestRenderer } from 'react-test-renderer';
import { atEnd } from '../kit/at-end.ts';
import type { Upstream } from '../kit/upstream.ts';
import { EXPIRED, tokenOf } from './kit.ts';

/* The components of docs/clients.md in React's renderer for tests. */

const HERE = fileURLToPath(new URL('.', import.meta.url));

/** Compiles the component `Screen` of a folder, and imports it. */
export async function importScreen(folder: string): Promise<FunctionComponent<{ playerUniqueId: string }>> {
  const outfile = `${HERE}${folder}/generated/Screen.js`;
  const entryPoints = [`${HERE}${folder}/Screen.tsx`];
  await build({ entryPoints, outfile, bundle: true, packages: 'external', format: 'esm', jsx: 'automatic' });
  return (await import(outfile)).Screen;
}

/** Renders an element until the end of the test. */
export async function render(element: ReactElement) {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  let rendered: ReactTestRenderer | undefined;
  await act(async () => {
    rendered = create(element);
  });
  atEnd(() => act(async () => rendered?.unmount()));
  const text = () => JSON.stringify(rendered?.toJSON());
  const buttons = () => rendered?.root.findAllByType('button') ?? [];
  /** Lets React work until something is shown. Nothing may happen between two calls of `act`. */
  async function shows(isShown: () => boolean, wanted = String(isShown)): Promise<void> {
    for (const end = performance.now() + 30_000; !isShown(); ) {
      await act(() => new Promise((resolve) => setImmediate(resolve)));
      if (performance.now() > end) throw new Error(`Never shown: ${wanted}, but ${text()}`);
    }
  }
  return {
    text,
    buttons,
    items: () => rendered?.root.findAllByType('li').map(({ children }) => children.join('')) ?? [],
    press: () => act(async () => buttons()[0]?.props['onClick']()),
    shows,
    see: (wanted: string) => shows(() => text().includes(wanted), wanted),
  };
}

/** A screen without a player says why, and has a button to try again unless there is no such player. */
export async function expectNoPlayer(
  upstream: Upstream,
  screenOf: (playerUniqueId: string, token: Token) => ReactElement,
): Promise<void> {
  const console = jest.spyOn(globalThis.console, 'error').mockImplementation(() => undefined);
  const unknown = await render(screenOf('nobody', tokenOf()));
  await unknown.see('There is no such player.');
  expect(unknown.buttons()).toEqual([]);

  upstream.on('GET /player', { status: 500 });
  const failed = await render(screenOf('p1', tokenOf()));
  await failed.see('Your rewards cannot be loaded now.');
  upstream.on('GET /player', 'usual');
  await failed.press();
  await failed.see('Player p1');

  const tokens = [EXPIRED, EXPIRED, '<!doctype html>', tokenOf()];
  const signedOut = await render(screenOf('p1', () => tokens.shift()));
  for (const text of ['You have been signed out.', 'You could not be signed in.']) {
    await signedOut.see(text);
    await signedOut.press();
  }
  await signedOut.see('Player p1');
  console.mockRestore();
}
