// (c) Probot's middleware with one handler that does nothing: HMAC, JSON.parse, dispatch. It stores nothing.
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { createNodeMiddleware, Probot } from 'probot';
import { serve } from './serve.mjs';

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
const probot = new Probot({ appId: '1', privateKey, secret: process.env.BENCH_SECRET, logLevel: 'error' });
const middleware = await createNodeMiddleware((app) => app.on('push', async () => {}), {
  probot,
  webhooksPath: '/webhooks/acme',
});
serve(createServer((request, response) => void middleware(request, response, () => response.writeHead(404).end())));
