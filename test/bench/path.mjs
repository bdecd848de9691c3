/*
 * Prints how many files and functions of src/ one warm `{ player { id attributes coupons } }` of a real client runs through:
 * what an engineer has to open to follow one query. Fails for more files than today; the design wants at most 30.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';
import { startOurs, tokenOf } from './processes.mjs';
import { bodyOf, headersOf } from './workloads.mjs';

const MAX_FILES = 38;
/** More requests than it takes to be compiled. */
const WARM_REQUESTS = 200;
const QUERY = 'query ($id: ID!) { player(playerUniqueId: $id) { id attributes { firstName } coupons { code } } }';
const COVERAGE = new URL('./report-coverage.mjs', import.meta.url).href;

/** Answers what is asked for and no more, so that nothing else is decoded. */
const upstream = createServer(({ url }, response) => {
  const answer = url.endsWith('/coupon') ? { coupons: [{ code: 'A' }] } : { playerAttributes: { firstName: 'Ada' } };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
});
await once(upstream.listen(0, '127.0.0.1'), 'listening');
const gateway = await startOurs(`http://127.0.0.1:${upstream.address().port}`, 'anywhere', ['--import', COVERAGE]);
const headers = headersOf(await tokenOf());
try {
  for (let request = 0; request < WARM_REQUESTS; request += 1) await query();
  await gateway.ask('start-coverage');
  await query();
  const functions = sourceFunctions(await gateway.ask('take-coverage'));
  const files = new Set(functions.map((name) => name.split('#')[0]));
  console.log(
    `{ player { id attributes coupons } } runs ${new Set(functions).size} functions in ${files.size} files of src/`,
  );
  if (process.argv.includes('--list')) console.log([...files].sort().join('\n'));
  if (files.size > MAX_FILES) {
    console.error(`At most ${MAX_FILES} files are to be on the path of a query.`);
    process.exitCode = 1;
  }
} finally {
  await gateway.stop();
  upstream.close();
}

async function query() {
  const response = await fetch(`${gateway.url}/graphql`, { method: 'POST', headers, body: bodyOf(QUERY, 'p1') });
  if (response.status !== 200) throw new Error(`The gateway answered ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}

/** The functions of src/ that ran, as `file#line`, found through the source maps of dist/. */
function sourceFunctions(scripts) {
  return scripts.flatMap(({ url, functions }) => {
    const file = fileURLToPath(url);
    const text = readFileSync(file, 'utf8');
    // Without the function that V8 makes of the module.
    const isModule = ({ startOffset, endOffset }) => startOffset === 0 && endOffset === text.length;
    const ran = functions.filter(({ ranges: [range] }) => range.count > 0 && !isModule(range));
    const map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
    const starts = lineStarts(text);
    return ran.flatMap(({ ranges: [{ startOffset }] }) => {
      const line = starts.findLastIndex((start) => start <= startOffset);
      const { originalSource, originalLine } = map.findEntry(line, startOffset - starts[line]);
      const path = /(?:^|\/)(src\/.+)$/.exec(originalSource ?? '')?.[1];
      return path && !originalSource.includes('node_modules') ? [`${path}#${originalLine}`] : [];
    });
  });
}

function lineStarts(text) {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
