import { request, type Dispatcher } from 'undici';
import type { DeliveryRequest } from './delivery-request.js';

/** What came of one POST: the status of the last answer, or why there was none. */
export interface DeliveryOutcome {
  readonly status: number | null;
  readonly error: string | null;
}

interface PostOptions {
  readonly dispatcher: Dispatcher;
  /** For the whole exchange, redirects included. */
  readonly timeoutMs: number;
}

const MAX_REDIRECTS = 10;

/**
 * Send a delivery once: no retry, whatever happens. Redirects are followed as the real servers do: after 301, 302 and 303
 * with GET and without the body, after 307 and 308 with POST.
 * @see reference/races.md
 */
export async function postDelivery(
  url: string,
  delivery: DeliveryRequest,
  options: PostOptions,
): Promise<DeliveryOutcome> {
  const signal = AbortSignal.timeout(options.timeoutMs);
  let target = url;
  let method: 'POST' | 'GET' = 'POST';
  try {
    for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
      const answer = await request(target, {
        method,
        headers: flatten(delivery.headers, method),
        body: method === 'POST' ? delivery.body : null,
        dispatcher: options.dispatcher,
        signal,
      });
      await answer.body.dump({ limit: 1024 * 1024 });
      const next = redirectOf(answer.statusCode, answer.headers['location']);
      if (next === null) return { status: answer.statusCode, error: null };
      if (!next.keepsMethod) method = 'GET';
      target = new URL(next.location, target).href;
    }
    return { status: null, error: `stopped after ${MAX_REDIRECTS} redirects` };
  } catch (error) {
    return { status: null, error: signal.aborted ? `no answer within ${options.timeoutMs} ms` : reasonOf(error) };
  }
}

function redirectOf(
  status: number,
  location: string | string[] | undefined,
): { location: string; keepsMethod: boolean } | null {
  if (typeof location !== 'string' || ![301, 302, 303, 307, 308].includes(status)) return null;
  return { location, keepsMethod: status === 307 || status === 308 };
}

function flatten(headers: DeliveryRequest['headers'], method: 'POST' | 'GET'): string[] {
  const lines = method === 'POST' ? headers : headers.filter(([name]) => name !== 'Content-Type');
  return lines.flatMap(([name, value]) => [name, value]);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = (error as NodeJS.ErrnoException).code;
  return error.message || code || error.name;
}
