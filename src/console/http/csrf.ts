import { createHmac } from 'node:crypto';
import { equalSecret } from '../../core/equal-secret.js';

/** The token that a form of this session carries. It comes from the session's secret, which is in a cookie that no script can read. */
export function csrfToken(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('csrf').digest('base64url');
}

export function isCsrfToken(token: string | undefined, sessionToken: string): boolean {
  return equalSecret(token ?? '', csrfToken(sessionToken));
}
