import net from 'node:net';

/** A way to a database that the test can cut, hang and restore. */
export interface Proxy {
  readonly url: string;
  /** Connections break and new ones are refused. */
  cut(): Promise<void>;
  /** Connections stay, and nothing comes through any more. */
  hang(): void;
  restore(): Promise<void>;
}

export async function proxyTo(target: string): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<net.Socket>();
  let hung = false;
  const open = (at: number): Promise<net.Server> =>
    new Promise((resolve) => {
      const server = net.createServer((socket) => {
        const upstream = net.connect(Number(port), hostname);
        for (const [from, to] of [[socket, upstream], [upstream, socket]] as const) {
          sockets.add(from);
          from.on('data', (chunk) => {
            if (!hung) to.write(chunk);
          });
          from.on('error', () => to.destroy());
          from.on('close', () => to.destroy());
        }
      }).listen(at, '127.0.0.1', () => resolve(server));
    });
  let server = await open(0);
  const own = (server.address() as net.AddressInfo).port;
  const url = new URL(target);
  url.host = `127.0.0.1:${own}`;
  const cut = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    url: url.href,
    cut,
    hang: () => (hung = true),
    restore: async () => {
      if (hung) await cut();
      hung = false;
      server = await open(own);
    },
  };
}
