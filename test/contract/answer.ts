import type { Json } from '../../src/core/json.js';
import type { RecordedAnswer } from './story.js';

/** An answer as it is compared: what counts of the headers, the body, and the address it speaks of itself by. */
export interface Answer {
  readonly status: number;
  readonly totalCount: string | null;
  readonly hasLink: boolean;
  /** JSON value or text; '' when there is none. */
  readonly body: Json;
  /** `http://host:port` of the server that answered. */
  readonly origin: string;
  /** Of the web side: its body counts in refusals too. */
  readonly isWeb?: boolean;
}

export function recordedAnswer(response: RecordedAnswer, origin: string): Answer {
  return {
    status: response.status,
    totalCount: response.headers['x-total-count'] ?? null,
    hasLink: response.headers['link'] !== undefined,
    body: response.body,
    origin,
  };
}
