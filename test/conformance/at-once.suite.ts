import { StoredRevisions } from '../../src/insight/revisions.js';
import { AN_ENCRYPTOR } from '../builders/an-encryptor.js';
import { aConfig } from '../builders/a-config.js';
import { honestActs } from '../fakes/honest-acts.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { actions } from '../../src/actions/index.js';
import { systemClock } from '../../src/core/clock.js';
import type { ForgeEvent } from '../../src/core/event.js';
import { newId } from '../../src/core/ids.js';
import { silentLogger } from '../../src/core/logger.js';
import type { Run } from '../../src/core/run.js';
import { runReason } from '../../src/core/run-reasons.js';
import { WRITE_TRUST_MS, type RepositoryOwners } from '../../src/core/repository-owner.js';
import { silentSecurityLog } from '../../src/core/security-log.js';
import { ForgeOwners } from '../../src/forge/forge-owners.js';
import { aBatchDecider, EVENT_READER } from '../builders/decide-all.js';
import { DecidingSide } from '../builders/deciding.js';
import { effectKeyOf } from '../../src/pipeline/decide/plan-intents.js';
import { EffectEchoDetector } from '../../src/pipeline/decide/detect-echoes.js';
import type { DecidedBy } from '../../src/pipeline/journal-store.port.js';
import type { RuleEngine } from '../../src/pipeline/rule-engine.port.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { Explainer } from '../../src/insight/explainer.js';
import type { NewDelivery } from '../../src/core/arrival.js';
import { stringifyJson, type Json } from '../../src/core/json.js';
import type { Stores } from '../../src/store/open-stores.js';
import { ALife, BOT, THE_SEALER, acmeRevision, theRules } from '../builders/a-life.js';
import { aDelivery, anEntry } from '../builders/arrivals.js';
import { anIntent, aRun, claimOne } from '../builders/journal.js';
import { InMemoryRevisionStore } from '../fakes/in-memory-revision-store.js';
import { jsonTextOf, readActFolders } from '../recordings-tool/act-file.js';
import { FakeForge } from '../fakes/fake-forge.js';
import { InMemorySeenRepositories } from '../fakes/in-memory-seen-repositories.js';
import { ManualClock } from '../fakes/manual-clock.js';
import { everyRepositoryIsOurs } from '../fakes/repository-owners.js';

const RULES = `
version: 1
org: acme
rules:
  - id: idle
    on: issue.opened
    if: event.issue.title == "wanted"
    do: { org_variable.set: { name: idle, value: '\${{ event.issue.title }}' } }
  - id: asks
    on: issue.closed
    lookup: { labels: { use: labels.list } }
    if: lookups.labels.size() > 0
    do: { org_variable.set: { name: asks, value: yes } }
  - id: told
    on: push
    do: { org_variable.set: { name: pushed, value: '\${{ event.branch }}' } }
`;

/** They see what events, the account of the bot and the time are, and want nothing. */
const UNWANTED_RULES = `
version: 1
org: acme
rules:
  - id: issues
    on: [issue.opened, issue.closed, issue.reopened]
    if:
      by_bot: event.actor.login == bot.login
      named: event.issue.title.startsWith("no such title") && event.number > 0
    do: { milestone.ensure: { title: '\${{ event.issue.title }}' } }
  - id: pulls
    on: [pull_request.opened, pull_request.closed, pull_request.reopened]
    if: event.pull_request.labels.exists(label, label.name == "no such label")
    do: { milestone.ensure: { title: '\${{ event.pull_request.title }}' } }
  - id: pushes
    on: push
    if: now < timestamp("2020-01-01T00:00:00Z") || event.ref == repo.name
    do: { milestone.ensure: { title: '\${{ event.ref }}' } }
  - id: comments
    on: comment.created
    if: event.comment.body.matches("^no such text$")
    do: { milestone.ensure: { title: '\${{ event.comment.body }}' } }
  - id: releases
    on: release.published
    if: glob(event.tag, "nothing/*")
    do: { milestone.ensure: { title: '\${{ event.tag }}' } }
`;

function recordedDeliveries(): NewDelivery[] {
  return readActFolders('test/recordings').flatMap(({ acts }) =>
    acts.flatMap(({ org, deliveries }) =>
      deliveries.map((delivery) => {
        const text = jsonTextOf(delivery);
        const { event_type: eventType } = delivery;
        return aDelivery({ eventType, event: eventType, text, body: Buffer.from(text), org });
      }),
    ),
  );
}

const REPOSITORY_RULES = `
version: 1
org: acme
rules:
  - id: labels
    on: push
    do:
      - label.ensure: { name: '\${{ event.branch }}', color: '#d73a4a' }
      - milestone.ensure: { title: '\${{ event.branch }}' }
`;

const REPOSITORY = {
  id: 7,
  name: 'app',
  full_name: 'acme/app',
  owner: { id: 3, login: 'acme' },
  private: false,
  default_branch: 'main',
};

type Kind = 'opened' | 'closed' | 'reopened';

/** @param minute of the act */
function issueText(number: number, action: Kind, minute: number, title = 'one'): string {
  const at = new Date(Date.UTC(2026, 10, 20, 12, minute)).toISOString().replace('.000', '');
  const state = action === 'closed' ? 'closed' : 'open';
  const issue = { id: 100 + number, number, title, state, created_at: at, updated_at: at };
  return JSON.stringify({
    action,
    number,
    issue: { ...issue, closed_at: action === 'closed' ? at : null },
    repository: REPOSITORY,
    sender: { id: 9, login: 'ben' },
  });
}

function pushText(): string {
  return JSON.stringify({
    ...{ ref: 'refs/heads/work', before: '1'.repeat(40), after: '2'.repeat(40), commits: [], total_commits: 0 },
    ...{ repository: REPOSITORY, pusher: { id: 9, login: 'ben' }, sender: { id: 9, login: 'ben' } },
  });
}

export type AtOnceStores = Pick<Stores, 'inbox' | 'journal' | 'recovery'>;

/** What needs no answer of anybody is decided in the transaction that makes the event; it comes to what it would come to afterwards. */
export function atOnceSuite(open: () => Promise<AtOnceStores>): void {
  let stores: AtOnceStores;
  let rung: string[];
  beforeEach(async () => {
    stores = await open();
    rung = [];
  });

  const queue = {
    ring: (topic: string, org: string): void => void rung.push(`${topic} of ${org}`),
  };

  function atOnce(
    rules = RULES,
    owners: RepositoryOwners = { ...everyRepositoryIsOurs, peek: () => null },
    engine: RuleEngine = theRules,
  ): DecidingSide {
    const { inbox, journal, recovery } = stores;
    const accounts = { self: () => BOT };
    const alerts = { raise: () => undefined, resolve: () => undefined };
    const revision = acmeRevision(rules);
    const common = { journal, recovery, actions, accounts, clock: systemClock, logger: silentLogger, alerts };
    return new DecidingSide({
      ...common,
      inbox,
      inventory: { list: async () => [] },
      rules: engine,
      echoes: new EffectEchoDetector(recovery, journal, { actions }, accounts, systemClock, silentLogger, alerts),
      revisions: { active: async () => ({ id: 'rev-1', revision, loadedAt: new Date() }) },
      lookups: { read: async () => ({ missing: true }) },
      acts: honestActs,
      owners,
      security: silentSecurityLog,
      queue,
      tools: { actions, encryptor: THE_SEALER, newId },
    });
  }

  function stepwise(rules: string, owners: RepositoryOwners = everyRepositoryIsOurs): ALife {
    const { journal, inbox } = stores;
    const tools = { actions, encryptor: THE_SEALER, newId };
    return new ALife(rules, async () => ({ missing: true }), {
      journal,
      inbox,
      owners,
      queue,
      tools,
      clock: systemClock,
    });
  }

  async function decide(ids: readonly string[], decider: DecidingSide | null = atOnce()): Promise<void> {
    const deps = { inbox: stores.inbox, queue, events: EVENT_READER, clock: systemClock, logger: silentLogger };
    const { atHand, recorder } = decider ?? {};
    await aBatchDecider({ ...deps, ...(atHand && recorder ? { atHand, recorder } : {}) }).decideOnce(ids);
  }

  async function store(texts: readonly string[], eventType = 'issues', org = 'acme'): Promise<string[]> {
    const deliveries = texts.map((text) =>
      aDelivery({ eventType, event: eventType, text, body: Buffer.from(text), org }),
    );
    await stores.inbox.storeDeliveries(deliveries);
    return deliveries.map(({ id }) => id);
  }

  const eventOf = async (arrival = ''): Promise<string> => (await stores.inbox.eventsOfArrival(arrival))[0] ?? '';
  const runsOf = (eventId: string): Promise<Run[]> => stores.journal.runs({ eventId, limit: 9 });

  it('stores an event that no rule asks for as decided, and wakes nobody', async () => {
    const ids = await store([issueText(1, 'reopened', 1)]);

    await decide(ids);

    const eventId = await eventOf(ids[0]);
    expect(await stores.inbox.event(eventId)).toMatchObject({ kind: 'issue.reopened' });
    expect([await stores.inbox.undecidedEvents(9), await runsOf(eventId), rung]).toEqual([[], [], []]);
  });

  it('writes the run of a rule whose condition does not hold as it is written afterwards', async () => {
    const [now = '', later = ''] = await store([issueText(1, 'opened', 1), issueText(2, 'opened', 1)]);
    await decide([now]);
    await decide([later], null);
    await stepwise(RULES).decides(await eventOf(later));

    const [written] = await runsOf(await eventOf(now));
    const [expected] = await runsOf(await eventOf(later));

    expect(written).toMatchObject({ rule: 'idle', state: 'not-fired', revisionId: 'rev-1' });
    const own = { id: '', runKey: '', cause: null, decidedAt: null, endedAt: null };
    expect({ ...written, ...own }).toEqual({ ...expected, ...own });
    expect(await stores.inbox.undecidedEvents(9)).toEqual([]);
  });

  it('keeps no trace of what a rule does not want, and derives the one that would have been kept', async () => {
    const evaluated = new Map<string, Json>();
    const engine: RuleEngine = Object.assign(Object.create(theRules) as RuleEngine, {
      evaluate: (...[revision, candidate, facts, answers]: Parameters<RuleEngine['evaluate']>) => {
        const told = theRules.evaluate(revision, candidate, facts, answers);
        if (told.kind === 'decided') evaluated.set(`${facts.event?.id} ${candidate.id}`, told.report.trace);
        return told;
      },
    });
    const revision = acmeRevision(UNWANTED_RULES);
    const explainer = new Explainer(
      stores.journal,
      stores.inbox,
      new StoredRevisions(
        new InMemoryRevisionStore(),
        { active: async () => ({ id: 'rev-1', revision }) },
        { load: () => ({ ok: false, problems: [] }) },
      ),
      new CelEngine(),
      theRules,
      { of: async () => null },
      AN_ENCRYPTOR,
      systemClock,
      { waiting: async () => [] },
      { of: () => ({ id: '77', login: 'renamed-since' }) },
    );
    const arrivals = recordedDeliveries();
    await stores.inbox.storeDeliveries(arrivals);
    await decide(
      arrivals.map(({ id }) => id),
      atOnce(UNWANTED_RULES, undefined, engine),
    );

    const rules = new Set<string>();
    for (const { id } of arrivals) {
      const event = await stores.inbox.event(await eventOf(id));
      for (const run of event ? await runsOf(event.id) : []) {
        expect(run).toMatchObject({ state: 'not-fired', trace: null });
        const { trace } = await explainer.withTrace(run, event as ForgeEvent);
        expect(stringifyJson(trace)).toBe(stringifyJson(evaluated.get(`${event?.id} ${run.rule}`) ?? null));
        expect(trace).toMatchObject({ conditions: expect.any(Array) });
        rules.add(run.rule);
      }
    }
    expect([...rules].sort()).toEqual(['comments', 'issues', 'pulls', 'pushes', 'releases']);
  });

  it('keeps by what an event was decided, at once as afterwards', async () => {
    const [now = '', later = '', undecided = ''] = await store([1, 2, 3].map((n) => issueText(n, 'reopened', n)));
    await decide([now]);
    await decide([later, undecided], null);
    const eventId = await eventOf(later);
    await stepwise(RULES).decides(eventId);
    await stores.journal.recordDecision({ eventId, by: { revisionId: 'rev-2', bot: null } }, []);

    const by = { revisionId: 'rev-1', bot: BOT };
    expect(await stores.journal.decidedBy(await eventOf(now))).toEqual(by);
    expect(await stores.journal.decidedBy(eventId)).toEqual(by);
    expect(await stores.journal.decidedBy(await eventOf(undecided))).toBeNull();
  });

  it.each<[string, number, number]>([
    ['happened after', 60, 2],
    ['happened before', -60, 1],
  ])('makes of a row the event of an act that %s the forge denied a delivery of it', async (_when, second, events) => {
    const at = new Date(Date.now() + second * 1000).toISOString().replace(/\.\d+/, '');
    const text = issueText(1, 'closed', 1).replaceAll(/"(closed_at|updated_at)":"[^"]*"/g, `"$1":"${at}"`);
    const [id = ''] = await store([text]);
    await decide([id], null);
    const eventId = await eventOf(id);
    const reason = runReason('run.not-confirmed', { code: 'act.not_found', because: 'no such act' });
    const run = aRun({ state: 'not-fired', reason, cause: { kind: 'event', eventId } });
    await stores.journal.recordDecision({ eventId }, [{ run, intents: [] }]);

    const { repository: repo, sender: act_user } = JSON.parse(text) as Record<string, Json>;
    const row = { id: 5, op_type: 'close_issue', content: '1|', created: at, repo, act_user, ref_name: '' };
    const [stored] = await stores.inbox.storeEntries([anEntry({ entryKey: '5', text: stringifyJson(row as Json) })]);
    await decide([stored?.id ?? ''], null);

    const [toldBy = ''] = await stores.inbox.eventsOfArrival(stored?.id ?? '');
    expect(await stores.inbox.event(toldBy)).toMatchObject({ kind: 'issue.closed' });
    expect(toldBy === eventId).toBe(events === 1);
  });

  it('keeps by what each of many events was decided', async () => {
    const ids = await store([1, 2, 3, 4].map((n) => issueText(n, 'reopened', n)));
    await decide(ids, null);
    const events = await Promise.all(ids.map(eventOf));
    const byOf = (n: number): DecidedBy => ({ revisionId: `rev-${n % 2}`, bot: n === 3 ? null : BOT });

    await Promise.all(
      events.map((eventId, n) => stores.journal.recordDecision({ eventId, ...(n > 0 ? { by: byOf(n) } : {}) }, [])),
    );

    expect(await Promise.all(events.map((eventId) => stores.journal.decidedBy(eventId)))).toEqual([
      null,
      ...[1, 2, 3].map(byOf),
    ]);
    expect(await stores.inbox.undecidedEvents(9)).toEqual([]);
  });

  it('writes what a rule wants with its event, and wakes who does it', async () => {
    const ids = await store([pushText()], 'push');

    await decide(ids);

    const [run] = await runsOf(await eventOf(ids[0]));
    const intents = await stores.journal.intentsOfRun(run?.id ?? '');
    expect(run).toMatchObject({ rule: 'told', state: 'open' });
    expect(intents).toMatchObject([{ params: { name: 'pushed' }, state: 'planned' }]);
    expect(rung).toEqual(['intents of acme']);
    expect(await stores.inbox.undecidedEvents(9)).toEqual([]);
  });

  it('leaves to the longer way what a rule asks the forge about', async () => {
    const ids = await store([issueText(1, 'closed', 1)]);

    await decide(ids);

    const eventId = await eventOf(ids[0]);
    expect([await stores.inbox.undecidedEvents(9), await runsOf(eventId)]).toEqual([[eventId], []]);
    expect(rung).toEqual(['events of acme']);
  });

  it('leaves an event behind an undecided one of its object, and no other', async () => {
    const ids = await store([issueText(1, 'closed', 1), issueText(1, 'reopened', 2), issueText(2, 'reopened', 2)]);

    await decide(ids);

    const [asks, behind] = [await eventOf(ids[0]), await eventOf(ids[1])];
    expect(await stores.inbox.undecidedEvents(9)).toEqual([asks, behind]);
    // Once more, in a transaction of its own.
    const [third = ''] = await store([issueText(1, 'reopened', 3)]);
    await decide([third]);
    expect(await stores.inbox.undecidedEvents(9)).toEqual([asks, behind, await eventOf(third)]);
  });

  it('decides many events of one object at once, in the order in which they were stored', async () => {
    const ids = await store(Array.from({ length: 20 }, (_, n) => issueText(5, 'reopened', n)));

    await decide(ids);

    const events = await Promise.all(ids.map(async (id) => stores.inbox.event(await eventOf(id))));
    expect(events.map((event: ForgeEvent | null) => event?.factAt?.getTime())).toEqual(
      ids.map((_, n) => Date.UTC(2026, 10, 20, 12, n)),
    );
    expect(await stores.inbox.undecidedEvents(99)).toEqual([]);
  });

  describe('what a rule wants in the repository of its event', () => {
    const ASKED = { forge: 'main', org: 'acme', id: '7', name: 'app' };
    let clock: ManualClock;
    let forge: FakeForge;
    let owners: ForgeOwners;
    beforeEach(() => {
      clock = new ManualClock();
      forge = new FakeForge('gitea');
      forge.addRepository('app');
      const seen = new InMemorySeenRepositories();
      owners = new ForgeOwners({ get: () => forge }, seen, aConfig({}), clock);
    });

    /** All that became of one push, but for its ids and times, and the rings. */
    async function comesTo(isAtOnce: boolean): Promise<object> {
      stores = await open();
      rung = [];
      const ids = await store([pushText()], 'push');
      await decide(ids, isAtOnce ? atOnce(REPOSITORY_RULES, owners) : null);
      const eventId = await eventOf(ids[0]);
      expect(await stores.inbox.undecidedEvents(9)).toEqual(isAtOnce ? [] : [eventId]);
      if (!isAtOnce) await stepwise(REPOSITORY_RULES, owners).decides(eventId);
      const runs = await runsOf(eventId);
      const intents = await stores.journal.intentsOfRun(runs[0]?.id ?? '');
      const ofRun = { id: '', runKey: '', cause: null, decidedAt: null };
      const ofIntent = { id: '', runId: '', intentKey: '', plannedAt: null, dueAt: null, updatedAt: null };
      return {
        runs: runs.map((run) => ({ ...run, ...ofRun })),
        intents: intents.map((intent) => ({ ...intent, ...ofIntent })),
        rungFor: rung.filter((line) => line.startsWith('intents')),
      };
    }

    it('is written with the event where the owner of the repository is known, as it is written afterwards', async () => {
      await owners.of(ASKED);

      const written = await comesTo(true);

      expect(written).toMatchObject({
        runs: [{ rule: 'labels', state: 'open' }],
        intents: [
          { action: 'label.ensure', target: { id: '7', owner: 'acme', name: 'app' }, orderKey: 'main/repository/7' },
          { action: 'milestone.ensure' },
        ],
        rungFor: ['intents of acme'],
      });
      expect(await comesTo(false)).toEqual(written);
    });

    it('is refused at once where it is known that the repository is not ours, as it is refused afterwards', async () => {
      forge.repositories.clear();
      await owners.of(ASKED);

      const written = await comesTo(true);

      expect(written).toMatchObject({ intents: [{ target: { refused: 'repository_gone' } }, {}] });
      expect(await comesTo(false)).toEqual(written);
    });

    it.each<[string, () => unknown]>([
      ['nobody asked about it', () => undefined],
      [
        'the forge is being asked',
        () => {
          forge.answer('getRepoById', () => new Promise(() => undefined));
          void owners.of(ASKED);
        },
      ],
      [
        'the answer is too old',
        async () => {
          await owners.of(ASKED);
          clock.advance(5 * 60_000);
        },
      ],
      [
        'an event may have changed it',
        async () => {
          await owners.of(ASKED);
          owners.forget('main', '7');
        },
      ],
      [
        'a call did not find it under its name',
        async () => {
          await owners.of(ASKED);
          owners.doubt('main', '7');
          clock.advance(WRITE_TRUST_MS);
        },
      ],
      ['another organization asked', () => owners.of({ ...ASKED, org: 'other' })],
    ])('takes the longer way, without a call, where %s', async (_, happens) => {
      await happens();
      const calls = forge.calls.length;
      const ids = await store([pushText()], 'push');

      await decide(ids, atOnce(REPOSITORY_RULES, owners));

      const eventId = await eventOf(ids[0]);
      expect([await stores.inbox.undecidedEvents(9), await runsOf(eventId)]).toEqual([[eventId], []]);
      expect(rung).toEqual(['events of acme']);
      expect(forge.calls).toHaveLength(calls);
    });

    it('takes the longer way behind an event after which the repository may have another owner', async () => {
      await owners.of(ASKED);
      const sender = { id: 9, login: 'ben' };
      const organization = { login: 'acme' };
      const deleted = JSON.stringify({ action: 'deleted', repository: REPOSITORY, organization, sender });
      const ids = [...(await store([deleted], 'repository')), ...(await store([pushText()], 'push'))];

      await decide(ids, atOnce(REPOSITORY_RULES, owners));

      expect(await stores.inbox.undecidedEvents(9)).toEqual([await eventOf(ids[0]), await eventOf(ids[1])]);
    });
  });

  describe('an event that may show an effect of ours', () => {
    const labelled = issueText(1, 'reopened', 1).replace('"title"', '"labels":[{"id":1,"name":"Bug"}],"title"');

    async function hasSent(org: string): Promise<void> {
      const repository = { kind: 'repository', id: '7', owner: 'acme', name: 'app' } as const;
      const action = actions.get('label.ensure');
      if (!action) throw new Error('no such action');
      const effectKey = effectKeyOf('main', action, repository, { name: 'Bug' });
      const intent = anIntent({ org, effectKey, orderKey: 'l' });
      await stores.journal.recordDecision({}, [{ run: aRun({ org }), intents: [intent] }]);
      const claim = await claimOne(stores.journal, intent.id, 'worker', 60_000);
      await stores.journal.markSent(intent.id, claim?.epoch ?? 0, {
        id: newId(),
        operation: 'createLabel',
        requestHash: '',
      });
    }

    it('is looked at first, where such an effect was sent', async () => {
      await hasSent('acme');
      const ids = await store([labelled]);

      await decide(ids);

      expect(await stores.inbox.undecidedEvents(9)).toEqual([await eventOf(ids[0])]);
    });

    it('is decided at once where none was, or by another organization alone', async () => {
      await hasSent('other');
      const ids = await store([labelled]);

      await decide(ids);

      expect(await stores.inbox.undecidedEvents(9)).toEqual([]);
    });

    it('is looked at first where the bot itself acted', async () => {
      const ids = await store([issueText(1, 'reopened', 1).replace('{"id":9,"login":"ben"}', JSON.stringify(BOT))]);

      await decide(ids);

      expect(await stores.inbox.undecidedEvents(9)).toHaveLength(1);
    });
  });
}
