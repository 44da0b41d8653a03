import { connect, createServer } from 'node:net';

const PATIENCE_MS = 5000;
const PORTS = 50;

/** The address of this machine on the way to the forge, under which the forge probably reaches it; null when there is no way. */
export function addressTowards(baseUrl: string): Promise<string | null> {
  const { hostname, port, protocol } = new URL(baseUrl);
  const socket = connect({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || (protocol === 'https:' ? 443 : 80),
    timeout: PATIENCE_MS,
  });
  return new Promise((resolve) => {
    const end = (address: string | null): void => {
      socket.destroy();
      resolve(address);
    };
    socket.once('connect', () => end(socket.localAddress ?? null));
    socket.once('error', () => end(null));
    socket.once('timeout', () => end(null));
  });
}

/** `http://HOST:PORT`. */
export function addressOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The first port from here on that nobody listens on; of many that are taken, the first. */
export async function freePort(first: number): Promise<number> {
  for (let port = first; port < first + PORTS; port += 1) if (await isFree(port)) return port;
  return first;
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
