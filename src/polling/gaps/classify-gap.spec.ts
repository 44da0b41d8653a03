import { describe, expect, it } from '@jest/globals';
import type { OwnHook, MissedFact, DeliveryConditions } from './classify-gap.js';
import { classifyGap } from './classify-gap.js';

const at = (time: string): Date => new Date(`2026-11-20T${time}Z`);
const hook = (over: Partial<OwnHook> = {}): OwnHook => ({
  active: true,
  events: ['issues', 'push'],
  branchFilter: '',
  ...over,
});
const fact = (over: Partial<MissedFact> = {}): MissedFact => ({
  kind: 'issue.opened',
  factAt: at('12:00:00'),
  data: {},
  hasRepeats: false,
  ...over,
});
const weather = (over: Partial<DeliveryConditions> = {}): DeliveryConditions => ({
  outages: [],
  hooks: [hook()],
  ...over,
});
const outage = { from: at('12:00:00'), to: at('12:10:00') };
const push = (ref: string): Partial<MissedFact> => ({ kind: 'push', data: { ref } });

describe('polling/gaps/classify-gap', () => {
  it.each<[string, Partial<MissedFact>, Partial<DeliveryConditions>, string]>([
    ['lost on its way', {}, {}, 'unknown'],
    ['no hook to be seen', {}, { hooks: null }, 'unknown'],
    ['while we were down', { factAt: at('12:05:00') }, { outages: [outage] }, 'down'],
    ['in the second in which we went', { factAt: at('11:59:59') }, { outages: [outage] }, 'down'],
    ['before we went', { factAt: at('11:59:58') }, { outages: [outage] }, 'unknown'],
    ['after we came back', { factAt: at('12:10:01') }, { outages: [outage] }, 'unknown'],
    ['a fact without a time', { factAt: null }, { outages: [outage] }, 'unknown'],
    ['no hook any more', {}, { hooks: [] }, 'hook-inactive'],
    ['hook switched off', {}, { hooks: [hook({ active: false })] }, 'hook-inactive'],
    ['one of two hooks switched off', {}, { hooks: [hook({ active: false }), hook()] }, 'unknown'],
    ['not asked for', { kind: 'release.published' }, {}, 'not-subscribed'],
    ['asked for by its narrow name', {}, { hooks: [hook({ events: ['issues_only'] })] }, 'unknown'],
    [
      'a review, asked for by the family',
      { kind: 'review.approved' },
      { hooks: [hook({ events: ['pull_request_review'] })] },
      'unknown',
    ],
    [
      'asked for by the inactive hook alone',
      {},
      { hooks: [hook({ active: false }), hook({ events: ['push'] })] },
      'not-subscribed',
    ],
    [
      'a branch that the filter shuts out',
      push('refs/heads/dev'),
      { hooks: [hook({ branchFilter: 'main' })] },
      'branch-filter',
    ],
    ['a branch that it lets in', push('refs/heads/main'), { hooks: [hook({ branchFilter: '{main,v*}' })] }, 'unknown'],
    ['a filter, and an issue', {}, { hooks: [hook({ branchFilter: 'main' })] }, 'unknown'],
    ['a text that came before', { hasRepeats: true }, { outages: [outage] }, 'duplicate-hook'],
  ])('%s', (_title, missed, seen, expected) => {
    const { class: found, reason } = classifyGap(fact(missed), weather(seen));

    expect(found).toBe(expected);
    expect(reason).not.toBe('');
  });
});
