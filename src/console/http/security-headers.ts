import helmet, { type FastifyHelmetOptions } from '@fastify/helmet';
import type { FastifyInstance, FastifyReply } from 'fastify';

/**
 * Nothing is loaded from another host, no script or style stands in a page, no other page may frame ours. Each answer has a new nonce: an island that makes
 * style of its own (the editor) puts it there.
 */
const OPTIONS: FastifyHelmetOptions = {
  enableCSPNonces: true,
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      'default-src': ["'none'"],
      'script-src': ["'self'"],
      'style-src': ["'self'"],
      'img-src': ["'self'"],
      'connect-src': ["'self'"],
      'form-action': ["'self'"],
      'base-uri': ["'none'"],
      'frame-ancestors': ["'none'"],
    },
  },
  frameguard: { action: 'deny' },
  // Not `no-referrer`: browsers would then send `Origin: null` with our own forms.
  referrerPolicy: { policy: 'same-origin' },
  // Whoever ends TLS before us decides that.
  hsts: false,
};

/** Sets the headers of every answer. Call it before other hooks, so that refusals have them too. */
export async function useSecurityHeaders(server: FastifyInstance): Promise<void> {
  await server.register(helmet, OPTIONS);
  server.addHook('onRequest', async (_request, reply) => {
    reply.headers({
      'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
      // A cached page would show one person's data to the next one at the same browser.
      'cache-control': 'no-store',
    });
  });
}

/** Where style of this answer may stand in the page. */
export function nonceOf(reply: FastifyReply): string {
  return reply.cspNonce.style;
}
