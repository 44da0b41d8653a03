// (d) Bare node:http: reads the body, compares the HMAC, answers. What a request costs when nothing is done with it.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { serve } from './serve.mjs';

const secret = process.env.BENCH_SECRET;

serve(
  createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      const expected = createHmac('sha256', secret).update(Buffer.concat(parts)).digest();
      const given = Buffer.from(request.headers['x-gitea-signature'] ?? '', 'hex');
      response.statusCode = given.length === expected.length && timingSafeEqual(given, expected) ? 202 : 401;
      response.end('{}');
    });
  }),
);
