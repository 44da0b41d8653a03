const HIDDEN = '[secret]';
/** Shorter secrets would blot out ordinary words. */
const SHORTEST = 4;

/** User info of an address, as git repeats it in its complaints about a mirror. */
const USER_INFO = /(:\/\/)[^/\s@]+@/g;

/** Replaces every given secret in a text that came from outside, in plain, URL, base64 and hex form, and the user info of addresses. */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text.replace(USER_INFO, `$1${HIDDEN}@`);
  for (const form of [...new Set(secrets.flatMap(formsOf))].sort((a, b) => b.length - a.length))
    clean = clean.replaceAll(form, HIDDEN);
  return clean;
}

function formsOf(secret: string): string[] {
  if (secret.length < SHORTEST) return [];
  const bytes = Buffer.from(secret);
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(bytes.toString()),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ];
}

/** One line of a text from outside: control characters out, cut at 500 characters. */
export function cleanLine(text: string): string {
  const line = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim();
  return line.length > 500 ? `${line.slice(0, 500)}…` : line;
}
