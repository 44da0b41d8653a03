import { createHash, randomBytes } from 'node:crypto';

const TOKEN = /^fho_[A-Za-z0-9_-]{43}$/;

/** 256 random bits. The prefix lets secret scanners find a token that was published. */
export function newOperatorToken(): string {
  return `fho_${randomBytes(32).toString('base64url')}`;
}

export function isOperatorToken(text: string): boolean {
  return TOKEN.test(text);
}

/**
 * What the store keeps and is asked for. A token is random, so one round of SHA-256 cannot be searched backwards; and the time that a lookup
 * of the hash takes says nothing about the token.
 */
export function hashOperatorToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
