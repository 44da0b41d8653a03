import { randomBytes } from 'node:crypto';

/** A new one for each answer: an island that makes style of its own (the editor) puts it there. */
export function newNonce(): string {
  return randomBytes(16).toString('base64');
}

/**
 * Nothing is loaded from another host, no script or style stands in a page, no other page may frame ours. A cached page would show one person's data to the
 * next one at the same browser.
 */
export function securityHeaders(nonce: string): Readonly<Record<string, string>> {
  return {
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      `style-src 'self' 'nonce-${nonce}'`,
      "img-src 'self'",
      "connect-src 'self'",
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    // Not `no-referrer`: browsers would then send `Origin: null` with our own forms.
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    'cache-control': 'no-store',
  };
}
