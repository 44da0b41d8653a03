/** Longest wait we let a server ask for (reliability A4). */
export const RETRY_AFTER_CAP_S = 15 * 60;

/**
 * Seconds that a Retry-After header asks for: whole seconds or an HTTP date.
 * @returns 0 to 900, rounded up; undefined when the header is absent or makes no sense
 * @see RFC 9110, section 10.2.3
 */
export function readRetryAfterS(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text), RETRY_AFTER_CAP_S);
  // Date.parse alone would take "-5" or "1.5" for a date.
  if (!/^[A-Za-z]{3,9}, /.test(text)) return undefined;
  const at = Date.parse(text);
  if (Number.isNaN(at)) return undefined;
  return Math.min(Math.max(Math.ceil((at - now.getTime()) / 1000), 0), RETRY_AFTER_CAP_S);
}
