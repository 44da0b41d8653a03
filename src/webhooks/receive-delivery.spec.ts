import { describe, expect, it } from '@jest/globals';
import { given } from '../../test/builders/given.js';
import { eventTypeFor, readDeliveryHeaders } from './receive-delivery.js';

const family = (name: string, eventType: string, event: string) => ({
  [`x-${name}-event-type`]: eventType,
  [`x-${name}-event`]: event,
  [`x-${name}-delivery`]: `id-of-${name}`,
  [`x-${name}-hook-installation-target-type`]: 'organization',
});

describe('webhooks/delivery-headers', () => {
  it.each(['forgejo', 'gitea', 'gogs'])('reads the family of %s', (name) => {
    expect(readDeliveryHeaders(family(name, 'issue_label', 'issues'))).toEqual({
      eventType: 'issue_label',
      event: 'issues',
      deliveryId: `id-of-${name}`,
      targetType: 'organization',
    });
  });

  it('believes Forgejo before Gitea before Gogs, and never a mixture', () => {
    const headers = {
      ...family('gogs', 'push', 'push'),
      ...family('gitea', 'create', 'create'),
      ...family('forgejo', 'release', 'release'),
    };

    expect(readDeliveryHeaders(headers)).toMatchObject({
      eventType: 'release',
      event: 'release',
      deliveryId: 'id-of-forgejo',
    });
  });

  it('reads a package of Forgejo, whose family name is empty', () => {
    expect(
      readDeliveryHeaders({ ...family('forgejo', 'package', ''), ...family('gitea', 'package', '') }),
    ).toMatchObject({ eventType: 'package', event: '' });
  });

  it.each<[string, Record<string, string>]>([
    ['no header at all', {}],
    ["GitHub's alone", { 'x-github-event': 'push', 'x-github-event-type': 'push' }],
    ['an event twice, joined', family('gitea', 'push, push', 'push')],
    ['an event with a space', family('gitea', 'push x', 'push')],
    ['a family name that is none', family('gitea', 'push', '<b>')],
    ['an endless name', family('gitea', 'p'.repeat(65), 'push')],
  ])('%s => none', (_title, headers) => {
    expect(readDeliveryHeaders(headers)).toBeNull();
  });

  it('cuts an endless delivery id', () => {
    expect(
      readDeliveryHeaders({ ...family('gitea', 'push', 'push'), 'x-gitea-delivery': 'x'.repeat(5000) })?.deliveryId,
    ).toHaveLength(200);
  });

  it('routes on the precise name, whatever the family name says', () => {
    const headers = given(readDeliveryHeaders(family('gitea', 'pull_request_comment', 'issue_comment')));

    expect(eventTypeFor(headers, { action: 'reviewed' })).toBe('pull_request_comment');
  });

  it.each([
    ['push', {}, 'push'],
    ['issues', { action: 'opened' }, 'issues'],
    ['issues', { action: 'assigned' }, 'issue_assign'],
    ['issues', { action: 'label_cleared' }, 'issue_label'],
    ['issues', { action: 'demilestoned' }, 'issue_milestone'],
    ['pull_request', { action: 'closed' }, 'pull_request'],
    ['pull_request', { action: 'synchronized' }, 'pull_request_sync'],
    ['pull_request', { action: 'review_requested' }, 'pull_request_review_request'],
    ['issue_comment', { is_pull: false }, 'issue_comment'],
    ['issue_comment', { is_pull: true }, 'pull_request_comment'],
    ['pull_request_approved', {}, 'pull_request_review_approved'],
    ['pull_request_rejected', {}, 'pull_request_review_rejected'],
    ['pull_request_comment', {}, 'pull_request_review_comment'],
  ])('without a precise name, the family %s with %j => %s', (event, body, expected) => {
    const headers = given(readDeliveryHeaders({ 'x-gogs-event': event, 'x-gogs-delivery': 'id' }));

    expect(eventTypeFor(headers, body)).toBe(expected);
  });
});
