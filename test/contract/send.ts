import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

/** A server that says nothing for so long will say nothing more. */
const TIMEOUT_MS = 60_000;

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Lines of `Set-Cookie`. */
  readonly cookies: readonly string[];
}

/** One HTTP request with the path exactly as given: no normalizing, no redirects, no retries. */
export function send(
  origin: string,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<RawAnswer> {
  const { hostname, port, protocol } = new URL(origin);
  const request = protocol === 'https:' ? requestHttps : requestHttp;
  const bytes = body === undefined ? undefined : Buffer.from(body);
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: hostname,
        port,
        method,
        path: escapeOdd(path),
        agent: false,
        timeout: TIMEOUT_MS,
        headers: { ...headers, ...(bytes ? { 'content-length': String(bytes.length) } : {}) },
      },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: flatten(answer.headers),
            text: Buffer.concat(chunks).toString('utf8'),
            cookies: answer.headers['set-cookie'] ?? [],
          }),
        );
      },
    );
    sent.on('error', reject);
    sent.on('timeout', () => sent.destroy(new Error(`${method} ${path}: no answer in ${TIMEOUT_MS / 1000} s`)));
    sent.end(bytes);
  });
}

/** Only what may not stand in a request line at all. */
function escapeOdd(path: string): string {
  return path.replace(/[^\x21-\x7e]+/gu, encodeURIComponent);
}

function flatten(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}
