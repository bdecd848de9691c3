/*
 * The panel "Upstream" of /graphiql: what the gateway did for the last operation, from `extensions` of its response.
 * `showOperation` is called with each request and its response. Plain DOM; nothing is stored.
 */
const panel = document.querySelector('#upstream');
const output = panel.querySelector('output');

/** @param children Nodes or text. */
function element(name, attributes, ...children) {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
}

/** The command that sends the operation again. It has no token: `$TOKEN` stands for it. */
function curlOf(body, hasToken) {
  const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const token = hasToken ? ' \\\n  -H "authorization: Bearer $TOKEN"' : '';
  const url = new URL('/graphql', location.href).href;
  return `curl ${url} -H 'content-type: application/json'${token} \\\n  --data-raw ${quote(body)}`;
}

function fact(name, value) {
  return [element('dt', {}, name), element('dd', {}, value)];
}

/** One bar: when the call began and ended, and the part of it that it waited for a connection. */
function rowOf(call, total, fields) {
  const percent = (ms) => `${Math.min(100, (100 * ms) / total)}%`;
  const wait = element('i');
  wait.style.width = call.ms > 0 ? `${(100 * call.queueMs) / call.ms}%` : '0';
  const bar = element('b', { className: call.outcome === 'OK' ? '' : 'failed' }, wait);
  bar.style.marginInlineStart = percent(call.startMs);
  bar.style.width = percent(call.ms);
  const attempts = call.attempts === 1 ? '1 attempt' : `${call.attempts} attempts`;
  const end = Math.round((call.startMs + call.ms) * 10) / 10;
  const text = `${call.startMs} to ${end} ms, ${call.queueMs} ms of it in the queue, ${attempts}`;
  const result = `${call.status ?? 'no response'} ${call.outcome}`;
  return element(
    'li',
    {},
    element('code', {}, `${call.method} ${call.template}`),
    element('span', { className: 'bar', ariaHidden: 'true' }, bar),
    element('span', {}, `${result} · ${text}`),
    element('span', {}, `for ${fields.join(', ') || 'no field'}`),
  );
}

// biome-ignore lint/correctness/noUnusedVariables: the script that follows this one calls it.
function showOperation(body, headers, response, result) {
  const { upstream, cost, plan } = result?.extensions ?? {};
  if (!upstream) return;
  const calls = [...upstream].sort((a, b) => a.startMs - b.startMs);
  const total = Math.max(1, ...calls.map(({ startMs, ms }) => startMs + ms));
  const quota = /q=(\d+)/.exec(response.headers.get('ratelimit-policy') ?? '')?.[1];
  const left = /r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1];
  const limit = quota === undefined ? '' : `; ${left} of ${quota} left`;
  const engine = `${plan?.engine}${plan?.notCompiled ? `, never compiled: ${plan.notCompiled}` : ''}`;
  const copy = element('button', { type: 'button' }, 'Copy as curl');
  copy.addEventListener('click', async () => {
    const hasToken = (headers.get('authorization') ?? 'Bearer') !== 'Bearer';
    await navigator.clipboard.writeText(curlOf(body, hasToken));
    copy.textContent = 'Copied';
  });
  output.replaceChildren(
    element('p', {}, `${calls.length} REST call${calls.length === 1 ? '' : 's'} in ${total.toFixed(1)} ms`),
    copy,
    element('ol', {}, ...calls.map((call) => rowOf(call, total, plan?.fields[call.operation] ?? []))),
    element(
      'dl',
      {},
      ...(cost ? fact('Cost', `${cost.operations} of the caller's operations${limit}`) : []),
      ...(cost ? fact('Complexity, depth', `${cost.complexity}, ${cost.depth}`) : []),
      ...(plan ? fact('Scopes', plan.scopes.join(' ') || 'none') : []),
      ...(plan ? fact('Executed by', engine) : []),
    ),
  );
}
