import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  /** The address and port that it listens at. */
  host: string;
  /** From now on nothing is forwarded; connections stay open. */
  hang(): void;
  /** Closes all connections. New ones are accepted and, while it hangs, get nothing. */
  cut(): void;
  /** New connections are forwarded again. */
  resume(): void;
  close(): Promise<void>;
}

/** Forwards TCP connections to a port, until a test makes it hang: a server that neither answers nor closes. */
export async function startProxy(port: number, host: string): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isHanging = false;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    keep(client);
    if (isHanging) return void client.resume();
    const target = connect(port, host);
    keep(target);
    client.on('data', (chunk) => isHanging || target.write(chunk)).on('close', () => target.destroy());
    target.on('data', (chunk) => isHanging || client.write(chunk)).on('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === 'string') throw new Error('It does not listen at a port');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    host: `127.0.0.1:${address.port}`,
    hang() {
      isHanging = true;
    },
    cut,
    resume() {
      isHanging = false;
    },
    async close() {
      server.close();
      cut();
      await once(server, 'close');
    },
  };
}
