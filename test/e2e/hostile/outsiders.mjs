// node outsiders.mjs JSON: attacks on the webhook endpoint by somebody without a secret, until stdin is closed; then prints what was answered.
// A process of its own, so that neither the good traffic nor the measuring is slowed down by it.
//   url          address of the hook
//   kind         bodies: whole bodies as fast as they go · drips: a few bytes at a time · announced: a length and no body · silent: no request at all
//   connections  so many at once; each that ends is opened again
//   sources      local addresses to come from, in turn
//   headers      header lines beside those of every request
import { connect } from 'node:net';

const { url, kind, connections, sources, headers = [], bytes = 5 * 1024 * 1024 } = JSON.parse(process.argv[2]);
const { hostname, port, pathname } = new URL(url);
const PART = Buffer.alloc(256 * 1024, 'x');
const DRIP = Buffer.alloc(200, 'x');
const DRIP_MS = 250;
const AGAIN_MS = 20;
const counts = { opened: 0, refused: 0, answers: {} };
const open = new Set();
let isOver = false;

const head = (n) =>
  [
    `POST ${pathname} HTTP/1.1`,
    'Host: bot',
    'Content-Type: application/json',
    `Content-Length: ${bytes}`,
    'X-Gitea-Event: push',
    `X-Gitea-Delivery: ${n}`,
    ...headers,
    '',
    '',
  ].join('\r\n');

function pour(socket) {
  let left = bytes;
  const go = () => {
    while (left > 0 && !socket.destroyed) {
      const part = left < PART.length ? PART.subarray(0, left) : PART;
      left -= part.length;
      if (!socket.write(part)) return socket.once('drain', go);
    }
  };
  go();
}

function drip(socket) {
  const timer = setInterval(() => socket.write(DRIP), DRIP_MS);
  socket.once('close', () => clearInterval(timer));
}

function attack(n) {
  if (isOver) return;
  const socket = connect({ host: hostname, port: Number(port), localAddress: sources[n % sources.length] });
  open.add(socket);
  socket.on('connect', () => {
    counts.opened += 1;
    if (kind !== 'silent') socket.write(head(n));
    if (kind === 'bodies') pour(socket);
    if (kind === 'drips') drip(socket);
  });
  socket.on('data', (text) => {
    const status = /^HTTP\/1\.\d (\d{3})/.exec(text.toString('latin1'))?.[1];
    if (status) counts.answers[status] = (counts.answers[status] ?? 0) + 1;
    socket.destroy();
  });
  socket.on('error', () => (counts.refused += 1));
  socket.on('close', () => {
    open.delete(socket);
    setTimeout(() => attack(n), AGAIN_MS);
  });
}

for (let n = 0; n < connections; n += 1) attack(n);

process.stdin.resume().on('end', () => {
  isOver = true;
  for (const socket of open) socket.destroy();
  process.stdout.write(`${JSON.stringify(counts)}\n`, () => process.exit(0));
});
