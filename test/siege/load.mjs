/* More load than the gateway can take: what it still answers, and how soon it refuses. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { withGateway } from './check.mjs';
import { serverToken } from './programs.mjs';
import { head } from './wire.mjs';

/** Work for the gateway, little for this process: a page of 50 friends, of which the answer is not looked at. */
const QUERY =
  'query Load($id: ID!) { player(playerUniqueId: $id) { id referredFriends(limit: 50) { total nodes { playerUniqueId displayName email joinDate status } } } }';
const authorization = `Bearer ${serverToken()}`;

function requestOf(number, keepAlive) {
  const body = JSON.stringify({ query: QUERY, variables: { id: `load-${number % 500}` } });
  const headers = [
    `Authorization: ${authorization}`,
    `Content-Length: ${body.length}`,
    ...(keepAlive ? [] : ['Connection: close']),
  ];
  return head({ headers }) + body;
}

/**
 * A connection on which requests follow one another. `send` resolves to the status and the time in milliseconds once the
 * answer has come whole; status 0 for a connection that was lost.
 */
function connection(port) {
  const socket = connect(port, '127.0.0.1');
  let settle;
  let status = 0;
  let left = -1;
  const done = (value) => {
    settle?.(value);
    settle = undefined;
  };
  socket.on('error', () => {});
  socket.on('close', () => done(0));
  socket.on('data', (chunk) => {
    if (left < 0) {
      const end = chunk.indexOf('\r\n\r\n');
      const text = chunk.latin1Slice(0, end);
      status = Number(text.slice(9, 12));
      left = Number(/content-length: (\d+)/i.exec(text)?.[1]) - (chunk.length - end - 4);
    } else left -= chunk.length;
    if (left > 0) return;
    left = -1;
    done(status);
  });
  return {
    get closed() {
      return socket.destroyed || !socket.writable;
    },
    async send(text) {
      const began = performance.now();
      const result = await new Promise((resolve) => {
        settle = resolve;
        socket.write(text);
      });
      return { status: result, ms: performance.now() - began };
    },
    close: () => socket.destroy(),
  };
}

/** Connections that ask again at once, with a pause after a refusal. */
function loop(port, number, { pauseMs, onAnswer, isOver }) {
  return Promise.all(
    Array.from({ length: number }, async (_, index) => {
      let one = connection(port);
      for (let asked = index; !isOver(); asked += number) {
        if (one.closed) one = connection(port);
        const answer = await one.send(requestOf(asked, true));
        if (isOver()) break;
        onAnswer(answer);
        if (answer.status !== 200) await sleep(pauseMs);
      }
      one.close();
    }),
  );
}

/** Answers a second, and a second of CPU time, with 32 connections. */
async function measurePeak(gateway, ms) {
  let over = false;
  let good = 0;
  const cpu = gateway.cpuMs();
  const onAnswer = ({ status }) => {
    if (status === 200) good += 1;
  };
  const running = loop(portOf(gateway), 32, { pauseMs: 20, isOver: () => over, onAnswer });
  await sleep(ms);
  const peak = { perSecond: (good * 1_000) / ms, perCpuSecond: (good * 1_000) / (gateway.cpuMs() - cpu) };
  over = true;
  await running;
  if (good === 0) throw new Error('The gateway answers nothing.');
  return peak;
}

const portOf = ({ url }) => Number(new URL(url).port);

/**
 * 1,500 connections that retry so soon that they ask for five times what can be answered. Goodput is counted by CPU time:
 * the gateway uses all that it gets, and on a shared machine that differs from second to second.
 */
export async function retryingConnections(upstream) {
  upstream.become({ delayMs: 5 });
  return await withGateway(upstream, {}, async (gateway) => {
    const port = portOf(gateway);
    await measurePeak(gateway, 2_000);
    const peaks = [await measurePeak(gateway, 2_000)];
    const pauseMs = (1_500 / (5 * peaks[0].perSecond)) * 1_000;
    let over = false;
    let seen;
    const reset = () => {
      seen = { good: 0, refused: 0, lost: 0, times: [] };
    };
    reset();
    const running = loop(port, 1_500, {
      pauseMs,
      isOver: () => over,
      onAnswer({ status, ms }) {
        seen[status === 200 ? 'good' : status === 503 ? 'refused' : 'lost'] += 1;
        seen.times.push(ms);
      },
    });
    await sleep(3_000);
    reset();
    const cpu = gateway.cpuMs();
    const began = performance.now();
    await sleep(4_000);
    const seconds = (performance.now() - began) / 1_000;
    const { good, refused, lost, times } = seen;
    const cpuSeconds = (gateway.cpuMs() - cpu) / 1_000;
    over = true;
    for (const end = performance.now() + 2_000; performance.now() < end; )
      if (await Promise.race([running.then(() => true), sleep(100)])) break;
    peaks.push(await measurePeak(gateway, 2_000));
    const peak = (peaks[0].perCpuSecond + peaks[1].perCpuSecond) / 2;
    times.sort((a, b) => a - b);
    const share = good / cpuSeconds / peak;
    const p99 = times[Math.floor(times.length * 0.99)] ?? Number.NaN;
    return {
      ok: share >= 0.6,
      seen: `${(100 * share).toFixed(0)} % of ${peak.toFixed(0)} per second of CPU time, ${(refused / seconds).toFixed(0)} refusals/s, ${lost} lost, p99 ${p99.toFixed(0)} ms`,
    };
  });
}

/** Each request on a connection of its own, four times as many as can be answered. */
export async function newConnections(upstream) {
  upstream.become({ delayMs: 5 });
  return await withGateway(upstream, {}, async (gateway) => {
    const port = portOf(gateway);
    await measurePeak(gateway, 2_000);
    const perSecond = Math.min(4 * (await measurePeak(gateway, 1_500)).perSecond, 4_000);
    const seconds = 4;
    const asked = Math.floor(perSecond * seconds);
    const seen = { 200: 0, 503: 0, 0: 0 };
    const times = [];
    const all = [];
    const began = performance.now();
    for (let number = 0; number < asked; number += 1) {
      const early = began + (number * 1_000) / perSecond - performance.now();
      if (early > 1) await sleep(early);
      const one = connection(port);
      all.push(
        one.send(requestOf(number, false)).then(({ status, ms }) => {
          seen[status] = (seen[status] ?? 0) + 1;
          times.push(ms);
          one.close();
        }),
      );
    }
    await Promise.race([Promise.all(all), sleep(15_000)]);
    times.sort((a, b) => a - b);
    const p99 = times[Math.floor(times.length * 0.99)] ?? Number.NaN;
    const waiting = asked - times.length;
    return {
      ok: p99 <= 5_000 && waiting === 0,
      seen: `${perSecond.toFixed(0)}/s for ${seconds} s: ${seen[200]} answered, ${seen[503]} refused, ${seen[0]} lost, ${waiting} without any; p99 ${p99.toFixed(0)} ms`,
    };
  });
}
