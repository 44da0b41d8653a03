import { beforeEach, describe, expect, it } from '@jest/globals';
import { anEvent } from '../../../test/builders/arrivals.js';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import { everyRepositoryIsOurs } from '../../../test/fakes/repository-owners.js';
import { ForgeError } from '../../core/errors.js';
import type { ForgeEvent } from '../../core/event.js';
import type { JsonObject } from '../../core/json.js';
import type { ForgeClient } from '../../forge/forge-client.js';
import type { RepositoryOwners } from '../../core/repository-owner.js';
import type { ActProof } from './act-proof.js';
import { EARLIER_PAGE } from '../inbox-store.port.js';
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
  let isDeleted: boolean;
  let lookedFor: unknown[];
  let client: Partial<Record<keyof ForgeClient, (asked?: unknown) => Promise<unknown>>>;
  let clock: ManualClock;
  type Parts = ConstructorParameters<typeof ActProofs>;
  let deps: {
    readonly forges: Parts[0];
    readonly owners: Parts[1];
    readonly recovery: Parts[2];
    readonly inbox: Parts[3];
    readonly journal: Parts[4];
    readonly events: Parts[5];
    readonly clock: Parts[6];
  };
  let proofs: ActProofs;
  /** What was told before, by the event that tells it now. */
  let earlier: Map<string, ForgeEvent[]>;
  /** Where each page of them began that was read. */
  let pages: number[];
  /** What rules acted upon. */
  let told: Map<string, Array<[string, string]>>;

  beforeEach(() => {
    [calls, echo, client, told] = [[], false, {}, new Map()];
    [isDeleted, lookedFor, earlier, pages] = [false, [], new Map(), []];
    const asked = (name: string): unknown => {
      const call = client[name as keyof ForgeClient];
      return call && ((parameters: unknown) => (calls.push(name), call(parameters)));
    };
    const access = {
      client: new Proxy({}, { get: (_, name) => asked(String(name)) }) as ForgeClient,
      offers: (name: string) => name in client,
    };
    clock = new ManualClock();
    deps = {
      forges: { get: () => access as never },
      owners: everyRepositoryIsOurs,
      recovery: { echoOf: async () => (echo ? { eventId: 'e', intentId: 'i', depth: 1 } : null) },
      inbox: {
        isStoredSince: async ({ id }, keys) => (lookedFor.push([id, keys]), isDeleted),
        toldEarlier: async (id, rule, after) => {
          const all = rule === 'a' ? (earlier.get(id) ?? []) : [];
          const from = all.findIndex((event) => event.id === after) + 1;
          pages.push(from);
          return all.slice(from, from + EARLIER_PAGE);
        },
      },
      journal: { toldActs: async ({ rule, acts }) => new Map(acts.flatMap((act) => told.get(`${rule} ${act}`) ?? [])) },
      events: { normalizeEntry: () => [] },
      clock,
    };
    proofs = proofsOver(deps);
  });

  const proofsOver = ({ forges, owners, recovery, inbox, journal, events, clock: now }: typeof deps): ActProofs =>
    new ActProofs(forges, owners, recovery, inbox, journal, events, now);
  const verdict = (proof: ActProof): string => (proof.proven ? proof.by : proof.code);

  it.each<[string, string, ForgeEvent, Partial<Record<keyof ForgeClient, () => Promise<unknown>>>]>([
    ['a comment at its time', 'comment', commented(), { getComment: async () => written() }],
    [
      'an old comment told as a new one',
      'act.not_found',
      commented(),
      { getComment: async () => written({ created_at: THEN, updated_at: THEN }) },
    ],
    [
      'an issue whose row has the second after it, and whose delivery came last',
      'issue',
      opened({
        source: 'feed',
        factAt: new Date(Date.parse(AT) + 1000),
        data: { number: '4', '@learned': ['delivery'] },
      }),
      { getIssue: async () => ({ user: ANN, created_at: AT }) },
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

    expect(verdict(await proofs.prove(event))).toBe(expected);
  });

  it.each<[string, ForgeEvent, string[]]>([
    ['a comment', commented(), ['7|issue.deleted|4', '7|pull_request.deleted|4', '7|comment.deleted|11']],
    ['an issue', opened(), ['7|issue.deleted|4', '7|pull_request.deleted|4']],
  ])('takes nobody for a liar who told of %s that was deleted since', async (_what, event, keys) => {
    client = { getComment: async () => null, getIssue: async () => null };
    expect(verdict(await proofs.prove(event))).toBe('act.not_found');
    isDeleted = true;

    expect(verdict(await proofs.prove({ ...event, id: 'e2' }))).toBe('act.gone');
    expect(lookedFor.at(-1)).toEqual(['e2', keys]);
  });

  it('takes an act that the forge denies for no deletion', async () => {
    isDeleted = true;
    client = { getComment: async () => written({ body: 'other' }) };

    expect(verdict(await proofs.prove(commented()))).toBe('act.other_text');
  });

  it('reads who wrote the issue, also where the delivery says that it is who commented', async () => {
    const event = commented({ data: { number: '4', comment: { id: '11', body: '/close' }, issue: { user: ANN } } });
    const author = async (user: JsonObject, id: string): Promise<unknown> => {
      client = { getComment: async () => written(), getIssue: async () => ({ user }) };
      const proof = await proofs.prove({ ...event, id }, ['issue.user']);
      return proof.proven && [proof.event.data['issue'], proof.newer];
    };

    expect(await author(ANN, 'one')).toEqual([{ user: ANN }, []]);
    expect(await author({ id: '66', login: 'eve' }, 'two')).toEqual([
      { user: { id: '66', login: 'eve' } },
      ['issue.user'],
    ]);
  });

  it('gives the names of a person that the forge has', async () => {
    client = { getComment: async () => written() };
    const event = commented({
      data: { number: '4', comment: { id: '11', body: '/close', user: { ...ANN, username: 'olga' } }, issue: {} },
    });

    const proof = await proofs.prove(event, ['comment.user']);
    expect(proof.proven && [proof.event.data['comment'], proof.newer]).toEqual([written(), ['comment.user']]);
  });

  it('keeps nothing of a delivery but what a read shows, and only what is asked for', async () => {
    client = { getIssue: async () => ({ user: ANN, created_at: AT, title: 'true', body: 'long' }) };
    const event = opened({ data: { number: '4', issue: { title: 'forged' }, commit_id: 'forged', changes: {} } });

    const proof = await proofs.prove(event, ['issue.title']);
    expect(proof.proven && [proof.event.data, proof.newer]).toEqual([
      { number: '4', issue: { user: ANN, created_at: AT, title: 'true', body: 'long' } },
      ['issue.title'],
    ]);
    expect(await proofs.prove(event, ['commit_id'])).toMatchObject({
      code: 'act.unreadable',
      reason: 'no read of this forge shows event.commit_id',
    });
  });

  describe('of what the journal knows as an effect of ours', () => {
    const created = (data: JsonObject = {}): ForgeEvent =>
      anEvent({ kind: 'branch.created', actor: BOT, data: { number: '4', branch: 'x', ...data } });

    beforeEach(() => {
      echo = true;
    });

    it('asks nobody', async () => {
      expect([verdict(await proofs.prove(created(), ['actor', 'issue.user'])), calls]).toEqual(['journal', []]);
    });

    it('still asks about other people whom a rule looks at', async () => {
      client = { getIssue: async () => ({ user: { id: '66', login: 'eve' } }) };
      const event = created({ issue: { user: ANN } });

      expect(verdict(await proofs.prove(event, ['issue.user']))).toBe('act.unreadable');
      const commentOf = { ...event, kind: 'issue.labeled' as const, id: 'again' };
      expect(await proofs.prove(commentOf, ['issue.user'])).toMatchObject({ by: 'journal', newer: ['issue.user'] });
    });

    it('still compares words', async () => {
      client = { getComment: async () => written({ user: BOT, body: 'Nothing happened here for 60 days.' }) };

      expect(verdict(await proofs.prove(commented({ actor: BOT })))).toBe('act.other_text');
    });
  });

  it('takes a history that fails for an answer where there is no such issue, and for none where there is one', async () => {
    const broken = new ForgeError('unknown', 'issue does not exist', { operation: 'listTimeline', status: 500 });
    const gone = new ForgeError('refused', 'no', { operation: 'getIssue', status: 404 });
    client = { listTimeline: async () => Promise.reject(broken), getIssue: async () => Promise.reject(gone) };
    expect(verdict(await proofs.prove(opened({ kind: 'issue.closed' })))).toBe('act.not_found');

    client = { ...client, getIssue: async () => ({ user: ANN }) };
    await expect(proofs.prove(opened({ kind: 'issue.closed', id: 'another' }))).rejects.toBe(broken);
  });

  it('looks for a repository that was renamed again, once', async () => {
    const moved = new ForgeError('moved', 'moved', { operation: 'getComment', status: 301 });
    const forgotten: unknown[] = [];
    let answers: unknown[] = [moved, written()];
    const owners = { ...everyRepositoryIsOurs, forget: (...asked: unknown[]) => void forgotten.push(asked) };
    proofs = proofsOver({ ...deps, owners });
    client = { getComment: async () => (answers[0] === moved ? Promise.reject(answers.shift()) : answers.shift()) };
    expect(verdict(await proofs.prove(commented()))).toBe('comment');
    expect(forgotten).toEqual([['main', '7']]);

    answers = [moved, moved, written()];
    expect(verdict(await proofs.prove(commented({ id: 'another' })))).toBe('act.unreadable');
  });

  it('takes a list without end for an answer, and one that fails for none', async () => {
    const reviewed = opened({ kind: 'review.approved', data: { number: '4', review: { body: '' } } });
    let page = 0;
    client = {
      listReviews: async () =>
        Array.from({ length: 50 }, () => ({ id: String((page += 1)), state: 'APPROVED', user: ANN })),
    };

    expect(verdict(await proofs.prove(reviewed))).toBe('act.unreadable');
    expect(calls).toHaveLength(40);

    client = {
      listReviews: async () =>
        Promise.reject(new ForgeError('unknown', 'cut', { operation: 'listReviews', detail: 'cut' })),
    };
    await expect(proofs.prove({ ...reviewed, id: 'another' })).rejects.toThrow('cut');
  });

  describe('says why it cannot be proven that', () => {
    const reasonOf = async (event: ForgeEvent, people: readonly string[] = []): Promise<object> => {
      const proof = await proofs.prove(event, people);
      return proof.proven ? proof : { [proof.code]: proof.reason };
    };
    const withOwners = (of: RepositoryOwners['of']): ActProofs =>
      proofsOver({ ...deps, owners: { ...everyRepositoryIsOurs, of } });

    it('somebody did it whom the delivery does not name', async () => {
      expect(await reasonOf(opened({ actor: null }))).toEqual({
        'act.unreadable': 'the delivery does not say who did it',
      });
    });

    it('something happened in no repository, or on a forge that is not there', async () => {
      const unnamed = { 'act.unreadable': 'the delivery names no repository' };

      expect(await reasonOf(opened({ repo: null }))).toEqual(unnamed);
      proofs = proofsOver({ ...deps, forges: { get: () => null } });
      expect(await reasonOf(opened())).toEqual(unnamed);
    });

    it('something happened in a repository of somebody else', async () => {
      proofs = withOwners(async () => ({ is: 'refused', code: 'repository_gone' }));

      expect(await reasonOf(opened())).toEqual({
        'act.unreadable': 'the repository cannot be read (repository_gone)',
      });
    });

    it('something of a kind happened that no read shows', async () => {
      expect(await reasonOf(opened())).toEqual({
        'act.unreadable': 'this forge has no read that shows who did it (issue.opened)',
      });
    });

    it.each([
      ['refused', { status: 422 }],
      ['moved', {}],
      ['unknown', { detail: 'pages' }],
    ] as const)(
      'an act happened that the forge does not tell of, with an answer that stays (%s)',
      async (kind, facts) => {
        client = {
          getIssue: async () =>
            Promise.reject(new ForgeError(kind, 'no', { operation: 'getIssue', ...facts } as never)),
        };

        expect(await reasonOf(opened())).toEqual({ 'act.unreadable': 'the forge cannot confirm it: no' });
      },
    );

    it('a field has the value that the delivery says, where this forge shows the object not at all', async () => {
      client = { getComment: async () => written() };
      const event = commented({ data: { number: '4', comment: { id: '11', body: '/close' }, issue: { user: ANN } } });

      expect(await reasonOf(event, ['issue.user'])).toEqual({
        'act.unreadable': 'no read of this forge shows event.issue.user',
      });
    });
  });

  it('asks about the repository by its number, and reads where it is now', async () => {
    const asked: unknown[] = [];
    client = { getIssue: async (about) => (asked.push(about), { user: ANN, created_at: AT }) };
    proofs = proofsOver({
      ...deps,
      owners: {
        ...everyRepositoryIsOurs,
        of: async (about) => {
          asked.push(about);
          return { is: 'ours', repository: { id: about.id, owner: 'acme', name: 'renamed' } };
        },
      },
    });
    const event = opened();

    expect(verdict(await proofs.prove(event))).toBe('issue');
    expect(asked).toEqual([
      { forge: event.forge, org: event.org, id: event.repo?.id, name: event.repo?.name },
      { owner: 'acme', repo: 'renamed', index: '4' },
    ]);
  });

  it('knows where the ref of a deleted tag stands: nowhere, in as many zeros as the delivery has', async () => {
    const data = { ref: 'refs/tags/v1', tag: 'v1', before: 'a'.repeat(40), after: '0'.repeat(40), deleted: true };
    const event = anEvent({ kind: 'push', factKey: '1|push|v1|0', storedAt: new Date(AT), actor: ANN, data });
    const row = { ref: 'refs/tags/v1', tag: 'v1', deleted: true };
    client = { listOrgFeed: async () => [{ created: AT }] };
    deps = { ...deps, events: { normalizeEntry: () => [{ ...event, data: row }] } };
    proofs = proofsOver(deps);

    const proof = await proofs.prove(event, ['ref', 'after', 'deleted']);
    expect(proof).toMatchObject({ by: 'feed', newer: [], event: { data: { after: data.after, deleted: true } } });
    expect(verdict(await proofs.prove({ ...event, data: { ...data, after: 'b'.repeat(40) } }, ['after', 'tag']))).toBe(
      'act.unreadable',
    );
  });

  it('believes what polling read without asking', async () => {
    const event = opened({ source: 'feed' });

    expect(await proofs.prove(event, ['issue.user'])).toEqual({
      proven: true,
      by: 'feed',
      actor: ANN,
      event,
      newer: [],
      acts: [],
    });
    expect(calls).toEqual([]);
  });

  it('looks for the entry that shows what polling read, and believes it without one', async () => {
    client = { getIssue: async () => ({ user: ANN, created_at: AT }) };
    expect(await proofs.prove(opened({ source: 'feed' }), [], 'a')).toMatchObject({ acts: ['opening 7 4'] });

    client = { getIssue: async () => ({ user: BOT, created_at: AT }) };
    expect(await proofs.prove(opened({ source: 'feed', id: 'other' }), [], 'a')).toMatchObject({
      proven: true,
      acts: [],
    });
  });

  describe('of an act that another event told', () => {
    const label = (id: string, name: string, created_at = AT): JsonObject => ({
      ...{ id, type: 'label', body: '1', user: ANN, created_at },
      label: { name },
    });
    const assignee = (id: string, person: object): JsonObject => ({
      ...{ id, type: 'assignees', user: ANN, created_at: AT, assignee: { ...person } },
    });
    const labeled = (id: string, labels_added: string[], at = AT): ForgeEvent =>
      opened({
        id,
        kind: 'issue.labeled',
        factAt: new Date(at),
        storedAt: new Date(at),
        data: { number: '4', derived: { labels_added } },
      });
    const acts = async (event: ForgeEvent, rule = 'a'): Promise<unknown> => {
      const proof = await proofs.prove(event, ['derived.labels_added'], rule);
      return proof.proven ? [proof.acts, proof.event.data['derived']] : proof.code;
    };

    it('says which event did, to the rule that acted upon that and to no other', async () => {
      client = { getComment: async () => written() };
      told.set('a comment 11', [['comment 11', 'the first']]);

      expect(await proofs.prove(commented(), [], 'a')).toEqual({
        proven: false,
        code: 'act.told_before',
        reason: 'event the first told this act already',
      });
      expect(await proofs.prove(commented(), [], 'b')).toMatchObject({ proven: true, acts: ['comment 11'] });
      expect(await proofs.prove(commented())).toMatchObject({ proven: true });
      expect(await proofs.prove(commented({ id: 'the first' }), [], 'a')).toMatchObject({ proven: true });
    });

    it('says so too where it was told since its own answer was kept', async () => {
      client = { getComment: async () => written() };
      expect(verdict(await proofs.prove(commented(), [], 'a'))).toBe('comment');
      told.set('a comment 11', [['comment 11', 'the first']]);
      expect(verdict(await proofs.prove(commented(), [], 'a'))).toBe('act.told_before');
    });

    it('takes all entries of one call, of acts in one second those that the event names, and of others the nearest', async () => {
      client = { listTimeline: async (asked) => ((asked as JsonObject)['page'] === 1 ? entries : []) };
      let entries = [label('1', 'one'), label('2', 'two')];
      expect(await acts(labeled('x', ['one', 'two']))).toEqual([
        ['history labeled 1', 'history labeled 2'],
        { labels_added: ['one', 'two'] },
      ]);
      expect(await acts(labeled('y', ['two']))).toEqual([['history labeled 2'], { labels_added: ['two'] }]);
      // Where nothing is as the event says, all of the call is what it tells of.
      expect(await acts(labeled('z', ['forged']))).toEqual([
        ['history labeled 1', 'history labeled 2'],
        { labels_added: ['one', 'two'] },
      ]);

      entries = [label('1', 'one', '2026-07-30T11:59:00Z'), label('2', 'two')];
      expect(await acts(labeled('u', ['one'], '2026-07-30T11:59:10Z'))).toEqual([
        ['history labeled 1'],
        { labels_added: ['one'] },
      ]);
      told.set('a history labeled 2', [['history labeled 2', 'the first']]);
      expect(await acts(labeled('v', ['two']))).toEqual([['history labeled 1'], { labels_added: ['one'] }]);
      told.set('a history labeled 1', [['history labeled 1', 'the first']]);
      expect(await acts(labeled('w', ['two']))).toBe('act.told_before');
    });

    it('deals the entries to the events in the order in which they came, each what it names or what is nearest', async () => {
      client = { listTimeline: async (asked) => ((asked as JsonObject)['page'] === 1 ? entries : []) };
      const entries = [
        label('1', 'one', '2026-07-30T11:50:00Z'),
        label('2', 'two', '2026-07-30T11:50:00Z'),
        label('3', 'three', '2026-07-30T11:55:00Z'),
      ];
      const first = labeled('first', ['two'], '2026-07-30T11:50:00Z');
      const second = labeled('second', [], '2026-07-30T11:55:00Z');
      earlier.set('third', [first, second]);
      expect(await acts(labeled('third', ['forged']))).toEqual([['history labeled 1'], { labels_added: ['one'] }]);
      expect(await acts(labeled('third', ['forged']), 'b')).toEqual([
        ['history labeled 3'],
        { labels_added: ['three'] },
      ]);

      // Somebody else, and who told before it happened, take nothing.
      const others = [
        { ...first, actor: BOT },
        { ...second, storedAt: new Date('2026-07-30T11:49:00Z') },
      ];
      earlier.set('fourth', others);
      expect(await acts(labeled('fourth', ['three'], '2026-07-30T11:55:00Z'))).toEqual([
        ['history labeled 3'],
        { labels_added: ['three'] },
      ]);

      earlier.set('fifth', [first, labeled('another', ['one'], '2026-07-30T11:50:00Z'), second]);
      expect(await proofs.prove(labeled('fifth', ['one']), [], 'a')).toMatchObject({
        code: 'act.told_before',
        reason: 'event first told this act already',
      });
      // An event upon which the rule acted took what it stands on, and nothing else.
      told.set('a history labeled 3', [['history labeled 3', 'second']]);
      earlier.set('sixth', [second]);
      expect(await acts(labeled('sixth', ['one'], '2026-07-30T11:50:00Z'))).toEqual([
        ['history labeled 1'],
        { labels_added: ['one'] },
      ]);
    });

    it('takes of the entries of one second those that fit the labels of the event', async () => {
      client = { listTimeline: async (asked) => ((asked as JsonObject)['page'] === 1 ? entries : []) };
      const entries = [label('1', 'one'), label('2', 'two'), { ...label('3', 'three'), body: '' }];
      const event = labeled('x', []);
      const labels = [{ name: 'one' }, { name: 'three' }];
      expect(await acts({ ...event, data: { ...event.data, issue: { labels } } })).toEqual([
        ['history labeled 1'],
        { labels_added: ['one'] },
      ]);
    });

    it.each<[string, JsonObject[], Array<[string, JsonObject]>]>([
      [
        'labels of a known issue',
        [label('1', 'one'), { ...label('2', 'one'), body: '' }, label('3', 'one')],
        [
          ['issue.labeled', { derived: { labels_added: ['one'] }, issue: { labels: [{ name: 'one' }] } }],
          ['issue.labeled', { derived: { labels_removed: ['one'] }, issue: { labels: [] } }],
          ['issue.labeled', { derived: { labels_added: ['one'] }, issue: { labels: [{ name: 'one' }] } }],
        ],
      ],
      [
        'labels of an issue that the bot did not know',
        [
          label('1', 'one'),
          label('2', 'two'),
          { ...label('3', 'one'), body: '' },
          label('4', 'one'),
          { ...label('5', 'two'), body: '' },
        ],
        [
          ['issue.labeled', { issue: { labels: [{ name: 'one' }] } }],
          ['issue.labeled', { issue: { labels: [{ name: 'two' }] } }],
          ['issue.labeled', { issue: { labels: [{ name: 'one' }] } }],
        ],
      ],
      [
        'assignees, one after the other',
        [assignee('1', ANN), assignee('2', BOT)],
        [
          ['issue.assigned', { issue: { assignees: [ANN] } }],
          ['issue.assigned', { issue: { assignees: [ANN, BOT] } }],
        ],
      ],
      [
        'one assignee, twice',
        [assignee('1', ANN), { ...assignee('2', ANN), removed_assignee: true }, assignee('3', ANN)],
        [
          ['issue.assigned', { issue: { assignees: [ANN] } }],
          ['issue.assigned', { issue: { assignees: [ANN] } }],
        ],
      ],
    ])('deals the entries of quick acts of one second to all of their events: %s', async (_, entries, told) => {
      client = { listTimeline: async (asked) => ((asked as JsonObject)['page'] === 1 ? entries : []) };
      const events = told.map(([kind, data], n): ForgeEvent => {
        const event = labeled(`${n}`, []);
        return { ...event, kind: kind as ForgeEvent['kind'], data: { number: '4', ...data } };
      });
      events.forEach(({ id }, n) => earlier.set(id, events.slice(0, n)));

      const proofsOfAll = [];
      for (const event of events) proofsOfAll.push(await proofs.prove(event, [], 'a'));
      expect(proofsOfAll.map((proof) => proof.proven || proof.code)).toEqual(events.map(() => true));
      const all = proofsOfAll.flatMap((proof) => (proof.proven ? proof.acts : []));
      expect(new Set(all).size).toBe(all.length);
    });

    it.each<[string, ForgeEvent, ForgeEvent, Partial<typeof client>]>([
      [
        'a comment',
        commented(),
        commented({ data: { number: '4', comment: { id: '11', body: 'forged' } } }),
        { getComment: async () => written() },
      ],
      [
        'an issue',
        opened({ data: { number: '4', issue: { title: 'a' } } }),
        opened({ data: { number: '4', issue: { title: 'forged' } } }),
        { getIssue: async () => ({ user: ANN, title: 'a', created_at: AT }) },
      ],
      [
        'a review',
        opened({ kind: 'review.approved', data: { number: '4', review: { body: 'a' } } }),
        opened({ kind: 'review.approved', data: { number: '4', review: { body: 'forged' } } }),
        {
          listReviews: async (asked) =>
            (asked as JsonObject)['page'] === 1
              ? [{ id: '1', state: 'APPROVED', body: 'a', user: ANN, submitted_at: AT }]
              : [],
        },
      ],
    ])('takes %s for told by who has its words, and by no liar', async (_, event, lie, answers) => {
      client = answers;
      earlier.set('true', [{ ...lie, id: 'lie', storedAt: new Date(AT) }]);
      earlier.set('again', [{ ...event, id: 'first', storedAt: new Date(AT) }]);

      expect(await proofs.prove({ ...event, id: 'true', storedAt: new Date(AT) }, [], 'a')).toMatchObject({
        proven: true,
      });
      expect(await proofs.prove({ ...event, id: 'again', storedAt: new Date(AT) }, [], 'a')).toMatchObject({
        code: 'act.told_before',
      });
    });

    it('finds the act of an honest account that does the same hundreds of times', async () => {
      const entries = Array.from({ length: 451 }, (_, n) => label(`${n}`, 'one'));
      client = {
        listTimeline: async (asked) => {
          const { page = 1, limit = 50 } = asked as { page?: number; limit?: number };
          return entries.slice((page - 1) * limit, page * limit);
        },
      };
      const events = entries.map(({ id }) => labeled(`e${String(id)}`, ['one']));
      earlier.set('e450', events.slice(0, 450));

      expect(await acts(labeled('e450', ['one']))).toEqual([['history labeled 450'], { labels_added: ['one'] }]);
      expect([...new Set(pages)]).toEqual([0, 100, 200, 300, 400]);
    });

    it('asks for no earlier event where none can take the act: a status', async () => {
      const set = { id: '7', context: 'ci', status: 'pending', creator: ANN, created_at: AT };
      client = { listStatuses: async (asked) => ((asked as JsonObject)['page'] === 1 ? [set] : []) };
      const data = { sha: 'a'.repeat(40), status: { id: '7', context: 'ci', state: 'pending' } };
      const status = opened({ id: 'e', kind: 'status.set', storedAt: new Date(AT), data });
      earlier.set(
        'e',
        Array.from({ length: 1_500 }, (_, n) => ({ ...status, id: `${n}` })),
      );

      expect(verdict(await proofs.prove(status, [], 'a'))).toBe('status');
      expect(pages).toEqual([]);
    });

    it('believes nobody any more who tells what was told a thousand times, and reads no further', async () => {
      client = { getComment: async () => written() };
      const lie = commented({ data: { number: '4', comment: { id: '11', body: 'forged' } } });
      earlier.set(
        'e',
        Array.from({ length: 5_000 }, (_, n) => ({ ...lie, id: `${n}` })),
      );
      expect(verdict(await proofs.prove(commented({ id: 'e' }), [], 'a'))).toBe('act.told_before');
      expect(pages).toEqual(Array.from({ length: 10 }, (_, n) => n * EARLIER_PAGE));
    });

    it('counts an effect of the bot once', async () => {
      echo = true;
      const created = anEvent({ kind: 'branch.created', actor: BOT, data: { branch: 'x' } });
      expect(await proofs.prove(created, [], 'a')).toMatchObject({ acts: ['effect branch.created i'] });
      told.set('a effect branch.created i', [['effect branch.created i', 'the first']]);
      expect(verdict(await proofs.prove({ ...created, id: 'again' }, [], 'a'))).toBe('act.told_before');
    });
  });

  it('takes the author of an issue that was just opened for who opened it', async () => {
    client = { getIssue: async () => ({ user: ANN, created_at: AT }) };

    expect(verdict(await proofs.prove(opened({ data: { number: '4', issue: { user: ANN } } }), ['issue.user']))).toBe(
      'issue',
    );
    expect(calls).toEqual(['getIssue']);
  });

  it('asks the journal about acts, and never about reviews', async () => {
    echo = true;
    client = { listReviews: async () => [] };

    expect(verdict(await proofs.prove(opened({ kind: 'review.commented', data: { number: '4', review: {} } })))).toBe(
      'act.not_found',
    );
  });

  describe('keeps an answer', () => {
    let event: ForgeEvent;
    beforeEach(() => {
      event = opened();
      client = { getIssue: async () => ({ user: ANN, created_at: AT }) };
    });

    it('for ten minutes, for each event and the people asked about', async () => {
      await proofs.prove(event);
      clock.advance(599_999);
      await proofs.prove(event);
      expect(calls).toEqual(['getIssue']);
      await proofs.prove(opened({ id: 'other' }));
      await proofs.prove(event, ['issue.user']);
      expect(calls).toHaveLength(3);

      clock.advance(1);
      await proofs.prove(event);
      expect(calls).toHaveLength(4);
    });

    it('but not that the forge could not be asked, which leaves a later answer alone', async () => {
      const away = new ForgeError('not-sent', 'away', { operation: 'getIssue' });
      let fail: (error: Error) => void = () => undefined;
      client = { getIssue: () => new Promise((_, reject) => (fail = reject)) };
      const first = proofs.prove(event);
      await new Promise(setImmediate);
      // Its ten minutes are over before the forge answers, and somebody asks again.
      clock.advance(600_000);
      client = { getIssue: async () => ({ user: ANN, created_at: AT }) };
      const second = proofs.prove(event);
      fail(away);
      await expect(first).rejects.toBe(away);
      calls = [];
      expect(verdict(await second)).toBe('issue');
      expect(verdict(await proofs.prove(event))).toBe('issue');
      expect(calls).toEqual([]);

      client = { getIssue: async () => Promise.reject(away) };
      await expect(proofs.prove(opened({ id: 'third' }))).rejects.toBe(away);
      client = { getIssue: async () => ({ user: ANN, created_at: AT }) };
      expect(verdict(await proofs.prove(opened({ id: 'third' })))).toBe('issue');
    });

    it('of the thousand that were asked for last', async () => {
      const polled = (n: number): Promise<ActProof> => proofs.prove(opened({ id: `e${n}`, source: 'feed' }));
      for (let n = 0; n < 1_000; n += 1) await polled(n);
      await polled(0);
      expect(calls).toHaveLength(1_000);

      await polled(1_000);
      await polled(0);
      expect(calls).toHaveLength(1_001);
      await polled(1);
      expect(calls).toHaveLength(1_002);
    });
  });
});
