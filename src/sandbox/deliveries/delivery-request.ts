import { createHmac } from 'node:crypto';
import { writeFormField } from './go-json.js';
import { hookEventOf, type HookEventType } from './hook-events.js';

/** What a hook says about how its deliveries are sent. */
export interface HookTarget {
  readonly url: string;
  readonly contentType: 'json' | 'form';
  /** Empty = unsigned. */
  readonly secret: string;
  /** Sent as typed; empty = none. */
  readonly authorizationHeader: string;
  readonly targetType: 'organization' | 'repository' | 'user' | 'system';
}

/** Differences between servers in what surrounds a body. */
export interface DeliveryStyle {
  /** Header families, in the order in which they are written. */
  readonly families: readonly ('Forgejo' | 'GitHub' | 'Gitea' | 'Gogs')[];
  /** `X-*-Hook-Installation-Target-Type` is sent (Gitea 1.24 and later). */
  readonly targetTypeHeader: boolean;
  /** Event types that carry an empty family name (Forgejo's package). */
  readonly namelessTypes: readonly string[];
}

export const GITEA_DELIVERIES: DeliveryStyle = {
  families: ['GitHub', 'Gitea', 'Gogs'],
  targetTypeHeader: true,
  namelessTypes: [],
};

export const FORGEJO_DELIVERIES: DeliveryStyle = {
  families: ['Forgejo', 'GitHub', 'Gitea', 'Gogs'],
  targetTypeHeader: false,
  namelessTypes: ['package'],
};

export interface DeliveryRequest {
  /** As written on the wire, in order; Host and Content-Length are left to the client. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

/**
 * Header lines and body of one delivery.
 * @param json the JSON text; signatures are over it, also when it is sent as a form field
 * @see reference/webhooks.md section 1; recordings of both servers for the order of the headers
 */
export function buildDeliveryRequest(
  hook: HookTarget,
  delivery: { readonly id: string; readonly type: HookEventType; readonly json: string },
  style: DeliveryStyle,
): DeliveryRequest {
  const event = hookEventOf(delivery.type);
  const family = style.namelessTypes.includes(event.type) ? '' : event.family;
  const signature = signText(delivery.json, hook.secret, 'sha256');
  const isForm = hook.contentType === 'form';

  const headers: [string, string][] = [['User-Agent', 'Go-http-client/1.1']];
  if (hook.authorizationHeader !== '') headers.push(['Authorization', hook.authorizationHeader]);
  headers.push(['Content-Type', isForm ? 'application/x-www-form-urlencoded' : 'application/json']);
  for (const name of style.families) {
    headers.push(
      [`X-${name}-Delivery`, delivery.id],
      [`X-${name}-Event`, family],
      [`X-${name}-Event-Type`, event.type],
    );
    if (style.targetTypeHeader && (name === 'GitHub' || name === 'Gitea')) {
      headers.push([`X-${name}-Hook-Installation-Target-Type`, hook.targetType]);
    }
    if (name !== 'GitHub') headers.push([`X-${name}-Signature`, signature]);
  }
  headers.push(
    ['X-Hub-Signature', `sha1=${signText(delivery.json, hook.secret, 'sha1')}`],
    ['X-Hub-Signature-256', `sha256=${signature}`],
    ['Accept-Encoding', 'gzip'],
  );
  return { headers, body: isForm ? writeFormField('payload', delivery.json) : delivery.json };
}

/** Hex HMAC over the text; empty without a secret, as the servers write it. */
function signText(text: string, secret: string, algorithm: 'sha1' | 'sha256'): string {
  return secret === '' ? '' : createHmac(algorithm, secret).update(text).digest('hex');
}
