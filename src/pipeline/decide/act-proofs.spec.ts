import { beforeEach, describe, expect, it } from '@jest/globals';
import { anEvent } from '../../../test/builders/arrivals.js';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import { everyHomeIsOurs } from '../../../test/fakes/repository-homes.js';
import { ForgeError } from '../../core/errors.js';
import type { ForgeEvent } from '../../core/event.js';
import type { JsonObject } from '../../core/json.js';
import type { ForgeClient } from '../../forge/forge-client.js';
import type { ActProof } from './act-proof.js';
import { ActProofs } from './act-proofs.js';

const ANN = { id: '3', login: 'ann' };
const BOT = { id: '5', login: 'forgehand' };
const AT = '2026-07-30T12:00:00Z';
const THEN = '2024-01-01T12:00:00Z';

const written = (over: object = {}): object => ({
  id: '11',
  body: '/close',
  user: ANN,
  created_at: AT,
  updated_at: AT,
  issue_url: '/issues/4',
  ...over,
});
const commented = (over: Partial<ForgeEvent> = {}): ForgeEvent =>
  anEvent({
    kind: 'comment.created',
    factAt: new Date(AT),
    actor: ANN,
    data: { number: '4', comment: { id: '11', body: '/close' }, issue: {} },
    ...over,
  });
const opened = (over: Partial<ForgeEvent> = {}): ForgeEvent =>
  anEvent({ kind: 'issue.opened', factAt: new Date(AT), actor: ANN, data: { number: '4' }, ...over });

/** By kind and forge: `test/integration/act-proofs.spec.ts`. */
describe('pipeline/decide/act-proofs', () => {
  let calls: string[];
  let echo: boolean;
  let client: Partial<Record<keyof ForgeClient, () => Promise<unknown>>>;
  let proofs: ActProofs;

  beforeEach(() => {
    [calls, echo, client] = [[], false, {}];
    const asked = (name: string): unknown => {
      const call = client[name as keyof ForgeClient];
      return call && (() => (calls.push(name), call()));
    };
    const access = {
      client: new Proxy({}, { get: (_, name) => asked(String(name)) }) as ForgeClient,
      offers: (name: string) => name in client,
    };
    proofs = new ActProofs({
      forges: { get: () => access as never },
      homes: everyHomeIsOurs,
      recovery: { echoOf: async () => (echo ? { eventId: 'e', intentId: 'i', depth: 1 } : null) },
      readRow: () => [],
      clock: new ManualClock(),
    });
  });

  const told = (proof: ActProof): string => (proof.proven ? proof.by : proof.code);

  it.each<[string, string, ForgeEvent, Partial<Record<keyof ForgeClient, () => Promise<unknown>>>]>([
    ['a comment at its time', 'comment', commented(), { getComment: async () => written() }],
    [
      'an old comment told as a new one',
      'act.not_found',
      commented(),
      { getComment: async () => written({ created_at: THEN, updated_at: THEN }) },
    ],
    [
      'an old issue told as a new one',
      'act.not_found',
      opened(),
      { getIssue: async () => ({ user: ANN, created_at: THEN }) },
    ],
    [
      'an old merge told as a new one',
      'act.not_found',
      opened({ kind: 'pull_request.merged' }),
      { getPull: async () => ({ merged: true, merged_by: ANN, merged_at: THEN }) },
    ],
    [
      'an act whose time the delivery does not tell',
      'act.not_found',
      opened({ factAt: null }),
      { getIssue: async () => ({ user: ANN, created_at: AT }) },
    ],
  ])('judges %s: %s', async (_what, expected, event, reads) => {
    client = reads;

    expect(told(await proofs.prove(event))).toBe(expected);
  });

  it('asks who wrote the issue, also where the delivery says that it is who commented', async () => {
    const event = commented({ data: { number: '4', comment: { id: '11', body: '/close' }, issue: { user: ANN } } });

    client = { getComment: async () => written(), getIssue: async () => ({ user: ANN }) };
    expect(told(await proofs.prove(event, ['issue.user']))).toBe('comment');

    client = { getComment: async () => written(), getIssue: async () => ({ user: { id: '66', login: 'eve' } }) };
    expect(told(await proofs.prove({ ...event, id: 'other' }, ['issue.user']))).toBe('act.other_author');
  });

  it('believes no second name of a person', async () => {
    client = { getComment: async () => written(), getIssue: async () => ({ user: ANN }) };
    const named = (user: JsonObject): ForgeEvent =>
      commented({ data: { number: '4', comment: { id: '11', body: '/close', user }, issue: {} } });

    expect(told(await proofs.prove(named({ ...ANN, username: 'ann' }), ['comment.user']))).toBe('comment');
    expect(told(await proofs.prove(named({ ...ANN, username: 'olga' }), ['comment.user']))).toBe('act.unreadable');
  });

  describe('of what the journal knows as an effect of ours', () => {
    const created = (data: JsonObject = {}): ForgeEvent =>
      anEvent({ kind: 'branch.created', actor: BOT, data: { number: '4', branch: 'x', ...data } });

    beforeEach(() => {
      echo = true;
    });

    it('asks nobody', async () => {
      expect([told(await proofs.prove(created(), ['actor', 'issue.user'])), calls]).toEqual(['journal', []]);
    });

    it('still asks about other people whom a rule looks at', async () => {
      client = { getIssue: async () => ({ user: { id: '66', login: 'eve' } }) };
      const event = created({ issue: { user: ANN } });

      expect(told(await proofs.prove(event, ['issue.user']))).toBe('act.other_author');
      client = { getIssue: async () => ({ user: ANN }) };
      expect(told(await proofs.prove({ ...event, id: 'again' }, ['issue.user']))).toBe('journal');
    });

    it('still compares words', async () => {
      client = { getComment: async () => written({ user: BOT, body: 'Nothing happened here for 60 days.' }) };

      expect(told(await proofs.prove(commented({ actor: BOT })))).toBe('act.other_text');
    });
  });

  it('takes a list without end for an answer, and one that fails for none', async () => {
    const reviewed = opened({ kind: 'review.approved', data: { number: '4', review: { body: '' } } });
    let page = 0;
    client = {
      listReviews: async () =>
        Array.from({ length: 50 }, () => ({ id: String((page += 1)), state: 'APPROVED', user: ANN })),
    };

    expect(told(await proofs.prove(reviewed))).toBe('act.unreadable');
    expect(calls).toHaveLength(40);

    client = {
      listReviews: async () =>
        Promise.reject(new ForgeError('unknown', 'cut', { operation: 'listReviews', detail: 'cut' })),
    };
    await expect(proofs.prove({ ...reviewed, id: 'another' })).rejects.toThrow('cut');
  });
});
