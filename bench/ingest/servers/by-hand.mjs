// (b) What one would write by hand: Fastify, the HMAC over the raw body, one prepared INSERT for each delivery over a pool. The pool's size
// and the column's compression are those that were fastest here.
import { createHmac, timingSafeEqual } from 'node:crypto';
import Fastify from 'fastify';
import pg from 'pg';
import { serve } from './serve.mjs';

const secret = process.env.BENCH_SECRET;
const pool = new pg.Pool({
  connectionString: process.env.BENCH_DATABASE_URL,
  max: Number(process.env.BENCH_POOL ?? 20),
});
await pool.query(
  'CREATE TABLE deliveries (id text PRIMARY KEY, event text NOT NULL, received_at timestamptz NOT NULL DEFAULT now(), body bytea NOT NULL)',
);
await pool.query('ALTER TABLE deliveries ALTER COLUMN body SET COMPRESSION lz4').catch(() => undefined);

const app = Fastify();
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
app.post('/webhooks/:hook', async (request, reply) => {
  const expected = createHmac('sha256', secret).update(request.body).digest();
  const given = Buffer.from(request.headers['x-gitea-signature'] ?? '', 'hex');
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    return reply.code(401).send({ error: 'not authentic' });
  const id = request.headers['x-gitea-delivery'];
  await pool.query({
    name: 'store',
    text: 'INSERT INTO deliveries (id, event, body) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING',
    values: [id, request.headers['x-gitea-event'], request.body],
  });
  return reply.code(202).send({ id });
});
await app.ready();
serve(app.server, () => pool.end());
