import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { build } from 'esbuild';
import { startDemo } from '../../kit/demo.ts';
import { documented, newProject, pack, run, writeFiles } from './project.ts';

/* `createFetch` as the `fetch` of other libraries, in the code of docs/frameworks.md, in front of a gateway with its demo players. */

jest.setTimeout(300_000);
const code = documented();
const files = ['graphqlRequest', 'villus', 'post', 'session'].map((name) => `src/${name}.ts`);
const tools = ['graphql-request', 'villus', 'vue', 'graphql', '@tanstack/react-query', 'swr', 'react'];
const { packed } = await pack();
const sources = Object.fromEntries(files.map((file) => [file, code[file] ?? 'missing']));
const { folder } = await newProject(packed, tools, sources);
const demo = await startDemo();

test.each([
  ['graphql-request', "import { readScreen } from './graphqlRequest';"],
  ['villus', "import { readScreen } from './villus';"],
  [
    'TanStack Query',
    `import { QueryClient } from '@tanstack/react-query';
     import { readScreen as queryFn } from './post';
     const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
     const readScreen = (id) => client.fetchQuery({ queryKey: ['screen', id], queryFn: () => queryFn(id) });`,
  ],
  [
    'SWR',
    `import { mutate } from 'swr';
     import { readScreen as fetcher } from './post';
     const readScreen = (id) => mutate(id, () => fetcher(id));`,
  ],
])(
  '%s sends with the token, sends a lost request again, and delivers what is there beside the errors',
  async (name, reads) => {
    const text = `${reads}
    const sent = [];
    const original = globalThis.fetch;
    globalThis.fetch = async (url, init) => {
      if (url === '/session') return new Response('a-token');
      sent.push(new Headers(init.headers).get('authorization'));
      if (sent.length === 1) throw new TypeError('fetch failed');
      return original(${JSON.stringify(`${demo.url}/graphql`)}, init);
    };
    const players = [];
    for (const playerUniqueId of ['demo-player', 'demo-no-coupons', 'nobody']) {
      const { data, errors } = await readScreen(playerUniqueId);
      const { attributes, coupons } = data.player ?? {};
      players.push([attributes?.displayName, coupons?.length > 0, errors.map(({ code, path }) => [code, path.join('.')])]);
    }
    console.log(JSON.stringify([sent, players]));`;
    const entry = `src/run-${name.replaceAll(' ', '-')}.js`;
    writeFiles(folder, { [entry]: text });
    const outfile = join(folder, `${entry}.mjs`);
    await build({ entryPoints: [join(folder, entry)], outfile, bundle: true, packages: 'external', format: 'esm' });
    const { stdout } = await run(process.execPath, [outfile], { cwd: folder });
    const [sent, players] = JSON.parse(stdout);
    expect(sent).toEqual(Array(4).fill('Bearer a-token'));
    expect(players).toEqual([
      ['Demo Player', true, []],
      [expect.any(String), false, [['UPSTREAM_UNAVAILABLE', 'player.coupons']]],
      [null, false, []],
    ]);
  },
);
