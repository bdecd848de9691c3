import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { atEnd } from './at-end.ts';

/** A proxy in front of a server, and the server's URL by way of the proxy. */
export async function startProxyOf(server: string) {
  const url = new URL(server);
  const proxy = await startProxy(Number(url.port), url.hostname);
  url.host = proxy.host;
  return { ...proxy, url: url.href };
}

/** Forwards TCP connections to a port, until a test makes it hang: a server that neither answers nor closes. */
export async function startProxy(port: number, host = '127.0.0.1') {
  let targetPort = port;
  const sockets = new Set<Socket>();
  let isHanging = false;
  let delayMs = 0;
  let last: string | undefined;
  const keep = (socket: Socket) => {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)));
  };
  const pipe = (from: Socket, to: Socket) =>
    from
      .on('data', (chunk) => {
        if (isHanging) return;
        if (delayMs === 0) to.write(chunk);
        else setTimeout(() => to.writable && to.write(chunk), delayMs);
      })
      .on('close', () => to.destroy());
  const server = createServer((client) => {
    keep(client);
    if (isHanging) return void client.resume();
    const target = connect(targetPort, host);
    keep(target);
    client.on('data', (chunk) => {
      if (last === undefined || !chunk.includes(last)) return;
      last = undefined;
      target.removeAllListeners('data').once('data', () => client.destroy());
    });
    pipe(client, target);
    pipe(target, client);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address() as AddressInfo;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  atEnd(async () => {
    server.close();
    cut();
    await once(server, 'close');
  });
  return {
    /** The address and port that it listens at. */
    host: `127.0.0.1:${address.port}`,
    /** From now on nothing is forwarded; connections stay open. Resolves when a client connects. */
    hang() {
      isHanging = true;
      return once(server, 'connection');
    },
    /** From now on each piece is forwarded so many milliseconds later, in both directions. */
    delay(ms: number) {
      delayMs = ms;
    },
    /** Forwards again, but nothing of connections that were made while it was hanging. */
    resume() {
      isHanging = false;
    },
    /** From now on new connections lead to another port, as those of a name that follows a primary. */
    follow(other: number) {
      targetPort = other;
    },
    /** The connection that next sends this text is closed in place of the reply to it. */
    cutReplyTo(text: string) {
      last = text;
    },
    /** Closes all connections. New ones are accepted and, while it hangs, get nothing. */
    cut,
  };
}
