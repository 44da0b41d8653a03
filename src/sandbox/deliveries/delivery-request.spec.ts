import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { buildDeliveryRequest, FORGEJO_DELIVERIES, GITEA_DELIVERIES, type HookTarget } from './delivery-request.js';

const HOOK: HookTarget = {
  url: 'http://127.0.0.1:1/x',
  contentType: 'json',
  secret: 's3cret',
  authorizationHeader: '',
  targetType: 'organization',
};
const DELIVERY = { id: '6e42e7f4-2a54-449a-bae6-e1c8b20d2fd3', type: 'push', json: '{\n  "ref": "a&b"\n}' } as const;

function headersOf(request: ReturnType<typeof buildDeliveryRequest>): Record<string, string> {
  return Object.fromEntries(request.headers);
}

describe('sandbox/deliveries/delivery-request', () => {
  it('writes the header names of Gitea in their order', () => {
    const request = buildDeliveryRequest(HOOK, DELIVERY, GITEA_DELIVERIES);

    expect(request.headers.map(([name]) => name)).toEqual([
      'User-Agent',
      'Content-Type',
      'X-GitHub-Delivery',
      'X-GitHub-Event',
      'X-GitHub-Event-Type',
      'X-GitHub-Hook-Installation-Target-Type',
      'X-Gitea-Delivery',
      'X-Gitea-Event',
      'X-Gitea-Event-Type',
      'X-Gitea-Hook-Installation-Target-Type',
      'X-Gitea-Signature',
      'X-Gogs-Delivery',
      'X-Gogs-Event',
      'X-Gogs-Event-Type',
      'X-Gogs-Signature',
      'X-Hub-Signature',
      'X-Hub-Signature-256',
      'Accept-Encoding',
    ]);
    expect(request.body).toBe(DELIVERY.json);
  });

  it('adds the Forgejo family and leaves out the target type for Forgejo', () => {
    const names = buildDeliveryRequest(HOOK, DELIVERY, FORGEJO_DELIVERIES).headers.map(([name]) => name);

    expect(names.slice(2, 6)).toEqual([
      'X-Forgejo-Delivery',
      'X-Forgejo-Event',
      'X-Forgejo-Event-Type',
      'X-Forgejo-Signature',
    ]);
    expect(names.filter((name) => name.includes('Target-Type'))).toEqual([]);
  });

  it('signs the JSON text, also of a form', () => {
    const signature = createHmac('sha256', 's3cret').update(DELIVERY.json).digest('hex');

    const request = buildDeliveryRequest({ ...HOOK, contentType: 'form' }, DELIVERY, GITEA_DELIVERIES);

    expect(headersOf(request)).toMatchObject({
      'Content-Type': 'application/x-www-form-urlencoded',
      'X-Gitea-Signature': signature,
      'X-Gogs-Signature': signature,
      'X-Hub-Signature-256': `sha256=${signature}`,
      'X-Hub-Signature': `sha1=${createHmac('sha1', 's3cret').update(DELIVERY.json).digest('hex')}`,
    });
    expect(new URLSearchParams(request.body).get('payload')).toBe(DELIVERY.json);
  });

  it('leaves signatures empty without a secret, and sends the authorization as typed', () => {
    const request = buildDeliveryRequest(
      { ...HOOK, secret: '', authorizationHeader: 'Bearer shared' },
      DELIVERY,
      GITEA_DELIVERIES,
    );

    expect(headersOf(request)).toMatchObject({
      Authorization: 'Bearer shared',
      'X-Gitea-Signature': '',
      'X-Hub-Signature': 'sha1=',
      'X-Hub-Signature-256': 'sha256=',
    });
    expect(request.headers[1]?.[0]).toBe('Authorization');
  });

  it('tells family and precise name apart', () => {
    const request = buildDeliveryRequest(HOOK, { ...DELIVERY, type: 'pull_request_comment' }, GITEA_DELIVERIES);

    expect(headersOf(request)).toMatchObject({
      'X-Gitea-Event': 'issue_comment',
      'X-Gitea-Event-Type': 'pull_request_comment',
    });
  });

  it('sends an empty family name for a package of Forgejo', () => {
    const request = buildDeliveryRequest(HOOK, { ...DELIVERY, type: 'package' }, FORGEJO_DELIVERIES);

    expect(headersOf(request)).toMatchObject({
      'X-Forgejo-Event': '',
      'X-Gitea-Event': '',
      'X-Gitea-Event-Type': 'package',
    });
  });
});
