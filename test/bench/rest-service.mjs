/*
 * The REST service of the soak and of the siege: every read is answered from memory, every write is entered in a ledger, and
 * it fails in the way it is told to. Half of the writes that fail have been carried out all the same, as with a real service.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { attributes, coupons, PREFIX, referrals } from './rest-data.mjs';

/** Of the player `long-texts`: longer than the gateway accepts, as an older store may hold them. */
const LONG = Object.fromEntries(
  ['displayName', 'firstName', 'lastName', 'email', 'mobile', 'city', 'country'].map((name) => [
    name,
    'x'.repeat(2_000),
  ]),
);
/** Of the players of the siege: one cannot be read as it should be. */
const [first, ...COUPONS] = coupons(6);
const ODD_COUPONS = [{ ...first, code: null, couponType: 'unheard_of', endAt: 'no date' }, ...COUPONS];
const FRIENDS = 4_000;
const JSON_TYPE = { 'content-type': 'application/json' };

/** What it does to a request; `apply` answers as a healthy service would. */
const MODES = {
  healthy: (_request, apply) => apply(),
  errors: (request, apply) => (Math.random() < 0.05 ? fail(request, 500) : apply()),
  hang: (request) => request.maybeCarryOut(),
  reset(request) {
    request.maybeCarryOut();
    request.response.socket?.resetAndDestroy();
  },
  limited({ response, askFor }) {
    const seconds = Math.random() < 0.5 ? askFor(1) : undefined;
    response.writeHead(429, seconds ? { 'retry-after': seconds } : {}).end();
  },
  dripping(request) {
    request.maybeCarryOut();
    request.response.writeHead(200, JSON_TYPE);
    const drip = setInterval(() => request.response.write(' '), 20);
    request.response.on('close', () => clearInterval(drip));
  },
};

function fail(request, status) {
  request.maybeCarryOut();
  request.response.writeHead(status, JSON_TYPE).end('{"code":1,"message":"No"}');
}

/** Starts it on a free port. `ledger` tells how often each write was carried out, by the name the write was given. */
export async function startRestService() {
  const ledger = new Map();
  let mode = 'healthy';
  let delay = 0;
  let requests = 0;
  let pauseUntil = 0;
  const askFor = (seconds) => {
    pauseUntil = performance.now() + seconds * 1_000;
    return String(seconds);
  };

  const server = createServer({ keepAliveTimeout: 600_000 }, async (incoming, response) => {
    requests += 1;
    const chunks = [];
    try {
      for await (const chunk of incoming) chunks.push(chunk);
    } catch {
      return;
    }
    const { answer, written } = understand(incoming, Buffer.concat(chunks));
    const carryOut = () => written && ledger.set(written, (ledger.get(written) ?? 0) + 1);
    const request = { response, askFor, maybeCarryOut: () => Math.random() < 0.5 && carryOut() };
    const apply = () => {
      carryOut();
      response.writeHead(200, JSON_TYPE).end(JSON.stringify(answer));
    };
    MODES[mode](request, delay > 0 ? () => setTimeout(apply, delay) : apply);
  });
  const listen = async (port) => void (await once(server.listen(port, '127.0.0.1'), 'listening'));
  await listen(0);
  const { port } = server.address();

  async function stop() {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }

  return {
    url: `http://127.0.0.1:${port}`,
    ledger,
    requests: () => requests,
    /** Until when it asked to be left alone, on the clock of `performance.now()`. */
    pauseUntil: () => pauseUntil,
    /**
     * From now on it behaves like this, and takes `delayMs` for a healthy answer; `refused` closes the port, `restart` does so
     * for the moment of a restart.
     */
    async become(next, delayMs = 0) {
      const isDown = !server.listening;
      mode = next in MODES ? next : 'healthy';
      delay = delayMs;
      if (next === 'refused' || next === 'restart') await stop();
      else if (isDown) await listen(port);
    },
    close: () => (server.listening ? stop() : undefined),
  };
}

/** What a healthy service answers, and the name of what it has carried out then. */
function understand({ method, url = '' }, bytes) {
  const { pathname, searchParams } = new URL(url, 'http://service');
  const [noun, id] = pathname.slice(PREFIX.length + 1).split('/');
  const playerUniqueId = decodeURIComponent(id ?? '');
  const referralLink = `https://refer.example/r/${id}`;
  if (method === 'DELETE') return { answer: {}, written: `delete ${id}` };
  if (method === 'POST') {
    const body = JSON.parse(bytes.toString());
    if (noun === 'event') return { answer: {}, written: `event ${Object.keys(body.events)[0]}` };
    const answer = { playerUniqueId: body.playerUniqueId, serviceId: `s-${body.playerUniqueId}`, referralLink };
    return { answer, written: `upsert ${body.playerUniqueId}` };
  }
  if (noun === 'transactions') return { answer: { coupons: /^player-/.test(id) ? ODD_COUPONS : COUPONS } };
  if (noun === 'players') {
    const [page, limit] = ['page', 'limit'].map((name) => Number(searchParams.get(name)));
    return { answer: referrals(Math.max(0, Math.min(limit, FRIENDS - (page - 1) * limit)), FRIENDS) };
  }
  const playerAttributes = playerUniqueId === 'long-texts' ? { ...attributes, ...LONG } : attributes;
  return { answer: { playerUniqueId, playerAttributes, referralLink } };
}
