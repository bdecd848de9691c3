/*
 * The REST service of the soak: every read is answered, every write is entered in a ledger, and it fails in the way it is
 * told to. Half of the writes that fail have been carried out all the same, as with a real service.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';

const PLAYER = {
  playerAttributes: { displayName: 'Ada', email: 'ada@example.com', tags: 'vip', totalSpent: 12.5 },
  referralLink: 'https://refer.example/r/1',
};
const COUPONS = Array.from({ length: 5 }, (_, index) => ({
  code: `C-${index}`,
  isUsed: false,
  value: 10,
  currency: 'USD',
  couponType: 'fixed_discount',
}));
const FRIENDS = Array.from({ length: 10 }, (_, index) => ({
  playerUniqueId: `f${index}`,
  displayName: `Friend ${index}`,
  joinDate: '2025-03-04T05:06:07.008Z',
  status: 'pending',
}));
const REFERRALS = { referredFriends: FRIENDS, count: 10, total: 40, totalPending: 40, totalActive: 0 };

/** What it does to a request; `apply` answers as a healthy service would. */
const MODES = {
  healthy: (_request, apply) => apply(),
  slow: (_request, apply) => setTimeout(apply, 50),
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
    request.response.writeHead(200, { 'content-type': 'application/json' });
    const drip = setInterval(() => request.response.write(' '), 20);
    request.response.on('close', () => clearInterval(drip));
  },
};

function fail(request, status) {
  request.maybeCarryOut();
  request.response.writeHead(status, { 'content-type': 'application/json' }).end('{"code":1,"message":"No"}');
}

/** Starts it on a free port. `ledger` tells how often each write was carried out, by the name the write was given. */
export async function startSoakUpstream() {
  const ledger = new Map();
  let mode = 'healthy';
  let requests = 0;
  let pauseUntil = 0;
  const askFor = (seconds) => {
    pauseUntil = performance.now() + seconds * 1_000;
    return String(seconds);
  };

  const server = createServer({ keepAliveTimeout: 60_000 }, async (incoming, response) => {
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
    MODES[mode](request, () => {
      carryOut();
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
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
    /** From now on it behaves like this; `refused` closes the port, `restart` does so for the moment of a restart. */
    async become(next) {
      const isDown = !server.listening;
      mode = next in MODES ? next : 'healthy';
      if (next === 'refused' || next === 'restart') await stop();
      else if (isDown) await listen(port);
    },
    close: () => (server.listening ? stop() : undefined),
  };
}

/** What a healthy service answers, and the name of what it has carried out then. */
function understand({ method, url = '' }, bytes) {
  const path = url.replace('/api/v3.0/integrations/', '').replace(/\?.*/, '');
  const [noun, id] = path.split('/');
  if (method === 'DELETE') return { answer: {}, written: `delete ${id}` };
  if (method === 'POST') {
    const body = JSON.parse(bytes.toString());
    if (noun === 'event') return { answer: {}, written: `event ${Object.keys(body.events)[0]}` };
    const { playerUniqueId } = body;
    return {
      answer: { playerUniqueId, serviceId: `s-${playerUniqueId}`, referralLink: PLAYER.referralLink },
      written: `upsert ${playerUniqueId}`,
    };
  }
  if (noun === 'transactions') return { answer: { coupons: COUPONS } };
  if (noun === 'players') return { answer: REFERRALS };
  return { answer: { playerUniqueId: decodeURIComponent(id), ...PLAYER } };
}
