// node good-traffic.mjs URL RATE TEMPLATE SECRET [fresh]: sends good deliveries at a steady rate until stdin is closed, then prints what came of them.
// A process of its own: the hostile traffic must not slow the sender down. Open loop: a late answer delays no later delivery. On kept connections at
// most 50 deliveries are open at once: on a machine without room for the rate, the others are left out and counted.
import { createHmac, randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';

const [url, rate, template, secret, connections] = process.argv.slice(2);
const body = JSON.parse(template);
// `fresh`: each delivery opens a connection of its own, waits as long as a forge does, and nothing is left out.
const isFresh = connections === 'fresh';
const agent = isFresh ? new Agent({ keepAlive: false }) : new Agent({ keepAlive: true, maxSockets: 64 });
const answers = {};
const failures = {};
const tookMs = [];
const open = new Set();
const everyMs = 1000 / Number(rate);
const MOST_OPEN = isFresh ? Infinity : 50;
// An answer that never comes is a failure; one that is late, on a machine that does other work, is in the figures.
const PATIENCE_MS = isFresh ? 5_000 : 120_000;
let sent = 0;
let leftOut = 0;

function deliver(dueAt) {
  const text = JSON.stringify({ ...body, n: (sent += 1) });
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'x-gitea-event': 'push',
    'x-gitea-event-type': 'push',
    'x-gitea-delivery': randomUUID(),
    'x-gitea-signature': createHmac('sha256', secret).update(text).digest('hex'),
  };
  const done = new Promise((resolve) => {
    const post = () => {
      const outgoing = request(url, { agent, method: 'POST', headers, timeout: PATIENCE_MS }, (incoming) => {
        incoming.resume().on('end', () => {
          answers[incoming.statusCode] = (answers[incoming.statusCode] ?? 0) + 1;
          tookMs.push(performance.now() - dueAt);
          resolve();
        });
      });
      outgoing.on('timeout', () => outgoing.destroy(new Error('no answer')));
      outgoing.on('error', (error) => {
        // A kept connection that the server ends in the very moment it is used again: forges take a new one then, as Go's client does.
        if (error.code === 'ECONNRESET' && outgoing.reusedSocket) return post();
        failures[error.code ?? error.message] = (failures[error.code ?? error.message] ?? 0) + 1;
        resolve();
      });
      outgoing.end(text);
    };
    post();
  });
  open.add(done);
  void done.then(() => open.delete(done));
}

const startedAt = performance.now();
let ticks = 0;
const timer = setInterval(() => {
  // A timer that comes late makes up for what it missed, measured from when it was due.
  while (startedAt + ticks * everyMs <= performance.now()) {
    const dueAt = startedAt + ticks++ * everyMs;
    if (open.size < MOST_OPEN) deliver(dueAt);
    else leftOut += 1;
  }
}, everyMs);

process.stdin.resume().on('end', async () => {
  clearInterval(timer);
  await Promise.all(open);
  tookMs.sort((a, b) => a - b);
  const at = (share) => Math.round(tookMs[Math.min(tookMs.length - 1, Math.floor(tookMs.length * share))] ?? 0);
  console.log(JSON.stringify({ sent, leftOut, answers, failures, p50: at(0.5), p99: at(0.99), max: at(1) }));
  agent.destroy();
});
