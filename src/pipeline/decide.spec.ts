import { beforeEach, describe, expect, it } from '@jest/globals';
import { actions } from '../actions/index.js';
import { currentCaller } from '../core/caller.js';
import { CHECK_RULE } from '../core/own-rules.js';
import { ForgeError } from '../core/errors.js';
import { traceOf } from '../core/trace.js';
import type { EventRepository, ForgeEvent } from '../core/event.js';
import { silentLogger } from '../core/logger.js';
import { Secret } from '../core/secret.js';
import type { Evaluation, LookupAnswers } from '../rules/language/revision.js';
import { anEvent } from '../../test/builders/arrivals.js';
import { aRun, anIntent, claimOne, dueOf } from '../../test/builders/journal.js';
import { intentReason, verdictReason } from '../core/run-reasons.js';
import { InMemoryJournalStore } from '../../test/fakes/in-memory-journal-store.js';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import { everyRepositoryIsOurs } from '../../test/fakes/repository-owners.js';
import { DecidingSide, type DecidingParts } from '../../test/builders/deciding.js';
import { RecentlyProcessed } from './decide/recently-processed.js';
import { scheduledId } from './decide/decide-due.js';
import type { Candidate, DecisionFacts, RuleEngine } from './rule-engine.port.js';
import type { Tick } from './tick-store.port.js';
import type { LookupAnswer } from '../actions/lookups/lookup-reader.port.js';
import type { ActiveRevision } from '../rules/revisions/active-revisions.port.js';
import type { Window } from '../rules/language/propose/coalesce-key.js';
import { hasSealedReads, openReads } from './decide/answer-lookups.js';
import { Encryptor } from '../core/encryptor.js';
import { honestActs } from '../../test/fakes/honest-acts.js';
import { silentSecurityLog } from '../core/security-log.js';
import { because, saying } from '../../test/builders/reasons.js';
import { textOf } from '../core/reason.js';
import type { Spreadable } from '../../test/fakes/spreadable.js';

const FIRED = (name = 'bug'): Evaluation => ({
  kind: 'decided',
  report: { rule: 'r', verdict: 'fired', reason: because('held'), trace: null },
  steps: [
    { stepId: 's', stepNo: 0, action: 'label.ensure', items: [{ itemKey: name, params: { name, color: '#000000' } }] },
  ],
});
const NOT_FIRED: Evaluation = {
  kind: 'decided',
  report: { rule: 'r', verdict: 'not-fired', reason: because('condition "x" is false'), trace: [] },
  steps: [],
};
const FAILED: Evaluation = {
  kind: 'decided',
  report: { rule: 'r', verdict: 'error', reason: because('labels.list failed: status 403'), trace: [] },
  steps: [],
};
const TICK: Tick = {
  id: 't1',
  forge: 'main',
  org: 'acme',
  schedule: 'r1',
  occurrence: new Date('2026-11-20T11:00:00Z'),
  state: 'due',
};
const away = new ForgeError('not-sent', 'connection refused', { operation: 'getBranch' });

const SEALER = new Encryptor(new Secret('ab'.repeat(32)));

describe('pipeline/decide', () => {
  let clock: ManualClock;
  let journal: InMemoryJournalStore;
  let event: ForgeEvent;
  let candidates: Candidate[];
  let verdicts: Record<string, (answers: LookupAnswers, facts: DecisionFacts) => Evaluation>;
  let lookup: () => Promise<LookupAnswer>;
  let rung: string[];
  let alerts: string[];
  let window: Window | null;
  let active: ActiveRevision | null;
  let deciding: DecidingSide;
  let deps: DecidingParts;
  const engine = (): Spreadable<RuleEngine> => deps.rules;
  let inventory: () => Promise<EventRepository[]>;

  beforeEach(() => {
    clock = new ManualClock();
    journal = new InMemoryJournalStore(clock);
    event = anEvent({ id: 'e1' });
    candidates = [{ id: 'r1', kind: 'rule', mode: 'live' }];
    verdicts = { r1: () => FIRED() };
    lookup = async () => ({ missing: true });
    rung = [];
    alerts = [];
    window = null;
    active = { id: 'rev-1', revision: { org: 'acme', hash: 'h', rules: [], policies: [] }, loadedAt: clock.now() };
    inventory = async () => [
      event.repo as EventRepository,
      { id: '8', owner: 'acme', name: 'lib', full_name: 'acme/lib' },
    ];
    const rules: RuleEngine = {
      candidates: () => candidates,
      find: (_, id) => candidates.find((candidate) => candidate.id === id) ?? null,
      subjects: (_, __, repositories) => [...repositories],
      windowOf: () => window,
      isCheap: () => true,
      ledToBy: (revision, id) =>
        new Set([...revision.rules.map((rule) => rule.id), id, ...candidates.map((one) => one.id)]),
      evaluate: (_, { id }, facts, answers) => (verdicts[id] ?? (() => NOT_FIRED))(answers, facts),
    };
    deps = {
      rules,
      journal,
      clock,
      logger: silentLogger,
      inbox: { event: async (id) => (id === event.id ? event : id.startsWith('e') ? { ...event, id } : null) },
      revisions: { active: async () => active },
      lookups: { read: () => lookup() },
      owners: everyRepositoryIsOurs,
      acts: honestActs,
      security: silentSecurityLog,
      inventory: { list: () => inventory() },
      accounts: { self: () => ({ id: '5', login: 'forgehand' }) },
      alerts: { raise: (key) => void alerts.push(key), resolve: (key) => void alerts.push(`${key} over`) },
      queue: { ring: (topic, org) => void rung.push(`${topic} of ${org}`) },
      tools: {
        actions,
        encryptor: SEALER,
        newId: (() => {
          let n = 0;
          return () => `id-${(n += 1)}`;
        })(),
      },
    };
    deciding = new DecidingSide(deps);
  });

  /** The event of this id, once more or another one. */
  const decideEvent = (id: string): Promise<number | null> => deciding.flow.decideEvent({ ...event, id });
  const decidingWith = (more: Partial<DecidingParts>): DecidingSide => new DecidingSide({ ...deps, ...more });

  const runs = async () => (await journal.runs({ limit: 99 })).reverse();

  it('tells the rules whose effect an event is, also when it is replayed', async () => {
    const seen: unknown[] = [];
    deciding = decidingWith({
      rules: { ...engine(), candidates: (_, { byRule }) => (seen.push(byRule), candidates) },
      echoes: {
        look: async () => ({ depth: 1, holdReason: null, rule: 'fix' }),
        effectsToldBy: () => null,
        openBreaker: async () => undefined,
      },
    });

    await decideEvent('e1');
    await deciding.flow.replayEvent('e1');

    expect(seen).toEqual(['fix', 'fix']);
  });

  it('writes down the check of proposed rules with the event, once, also while no rules are active', async () => {
    const decided: string[] = [];
    const begun: string[] = [];
    let planned = 0;
    deciding = decidingWith({
      checks: {
        planned: async (revision) => {
          planned += 1;
          const cause = { kind: 'event', eventId: 'e1' } as const;
          const run = aRun({
            id: 'check',
            rule: CHECK_RULE,
            cause,
            state: 'gathering',
            revisionId: revision?.id ?? '',
          });
          return [{ run, intents: [], gathering: { key: 'k', windowMs: 1_000 } }];
        },
        begin: ({ id }, work) => {
          begun.push(id);
          void work();
        },
        decide: async (run, { id }) => {
          decided.push(id);
          return { run: { ...run, state: 'done' }, intents: [] };
        },
      },
    });
    const revision = active;
    active = null;
    await decideEvent('e1');
    await decideEvent('e1');
    expect(planned).toBe(1);
    expect(await runs()).toMatchObject([{ id: 'check', state: 'gathering', revisionId: '' }]);

    // Nothing of it needs rules, and no turn is held up.
    await deciding.due.decideRun('check');
    expect(begun).toEqual(['check']);
    while ((await runs())[0]?.state !== 'done') await new Promise(setImmediate);
    expect(decided).toEqual(['e1']);

    active = revision;
    await decideEvent('e1');
    expect((await runs()).map(({ rule, state }) => [rule, state])).toEqual([
      [CHECK_RULE, 'done'],
      ['r1', 'open'],
    ]);
  });

  it('has what waits in a repository looked at again after an event that may end the wait, wanted by a rule or not', async () => {
    candidates = [];
    await journal.recordDecision({}, [
      {
        run: aRun({ id: 'run-1' }),
        intents: [
          anIntent({ id: 'i1', runId: 'run-1', orderKey: `${event.forge}/repository/${event.repo?.id ?? ''}` }),
        ],
      },
    ]);
    await claimOne(journal, 'i1', 'me', 1000);
    const reason = intentReason('intent.waits', { because: because('the statuses are pending') });
    const dueAt = new Date(clock.now().getTime() + 600_000);
    await journal.move({ intentId: 'i1', epoch: null, from: ['claimed'], to: 'planned', reason, dueAt, waits: true });

    event = { ...event, kind: 'issue.opened' };
    await decideEvent('e1');
    expect(rung).toEqual([]);

    event = { ...event, kind: 'status.set' };
    await decideEvent('e2');
    expect(rung).toEqual(['intents of acme']);
    expect(await dueOf(journal, 9)).toEqual(['i1']);
  });

  it('makes its calls for those who wait for an event, and for nobody at a tick', async () => {
    const callers: unknown[] = [];
    deciding = decidingWith({
      inventory: { list: async () => (callers.push(currentCaller()), [event.repo as EventRepository]) },
      echoes: {
        look: async () => (callers.push(currentCaller()), { depth: 0, holdReason: null }),
        effectsToldBy: () => null,
        openBreaker: async () => undefined,
      },
    });

    await decideEvent('e1');
    await deciding.due.decideTick(TICK);

    expect(callers).toEqual([
      { priority: 'webhook', org: 'acme' },
      { priority: 'housekeeping', org: 'acme' },
    ]);
  });

  it('hands on what expectations found, before it is written, and nothing where there are none', async () => {
    const told: unknown[] = [];
    const report = {
      rule: 'r1',
      verdict: 'not-fired' as const,
      reason: because(''),
      trace: null,
      findings: { failing: [], looked: ['dead'] },
    };
    verdicts['r1'] = () => ({ kind: 'decided', report, steps: [] });
    candidates.push({ id: 'r2', kind: 'rule', mode: 'live' });
    deciding = decidingWith({
      found: async ({ run, findings: found }) => void told.push([run.rule, found?.looked, (await runs()).length]),
    });

    await decideEvent('e1');
    await new DecidingSide(deps).flow.decideEvent(anEvent({ ...event, id: 'e2' }));

    expect(told).toEqual([['r1', ['dead'], 0]]);
    expect(await runs()).toHaveLength(4);
  });

  describe('a rehearsal of a schedule', () => {
    it('says for each subject what would be decided, and writes nothing', async () => {
      verdicts['r1'] = (_answers, { repo }) => (repo?.name === 'lib' ? NOT_FIRED : FIRED());
      window = { key: 'k', windowMs: 60_000 } as never;

      expect(await deciding.due.rehearseTick(TICK)).toEqual([
        expect.objectContaining({
          repo: 'acme/app',
          state: 'open',
          mode: 'live',
          effects: [{ action: 'label.ensure', itemKey: 'bug', waits: false }],
        }),
        expect.objectContaining({ repo: 'acme/lib', state: 'not-fired', effects: [] }),
      ]);
      expect(await runs()).toEqual([]);
      expect(rung).toEqual([]);
    });

    it('goes past a subject about which the forge cannot be asked, and names it', async () => {
      verdicts['r1'] = (answers, { repo }) =>
        repo?.id === '7' || answers['l']
          ? FIRED()
          : { kind: 'needs-lookup', request: { as: 'l', use: 'branch.get', params: {}, onMissing: 'none' } };
      lookup = async () => Promise.reject(away);

      expect(await deciding.due.rehearseTick(TICK)).toEqual([
        expect.objectContaining({ repo: 'acme/app', state: 'open' }),
        expect.objectContaining({ repo: 'acme/lib', state: 'error', reason: expect.any(String), effects: [] }),
      ]);
    });

    it('is made for nobody who waits', async () => {
      const callers: unknown[] = [];
      deciding = decidingWith({
        inventory: { list: async () => (callers.push(currentCaller()), []) },
      });

      expect(await deciding.due.rehearseTick(TICK)).toEqual([]);
      expect(callers).toEqual([{ priority: 'housekeeping', org: 'acme' }]);
    });

    it('says nothing without rules, or of one that is gone', async () => {
      expect(await deciding.due.rehearseTick({ ...TICK, schedule: 'gone' })).toEqual([]);
      active = null;
      expect(await deciding.due.rehearseTick(TICK)).toEqual([]);
    });

    it('sends whoever asks for a policy to its plan, and fails with the forge', async () => {
      candidates = [{ id: 'r1', kind: 'policy', mode: 'live' }];
      await expect(deciding.due.rehearseTick(TICK)).rejects.toMatchObject({
        code: 'NO_DRY_RUN',
        message: 'r1 is a policy: forgehand plan --policy r1 shows what it would change',
      });

      candidates = [{ id: 'r1', kind: 'rule', mode: 'live' }];
      inventory = async () => Promise.reject(away);
      await expect(deciding.due.rehearseTick(TICK)).rejects.toBe(away);
    });
  });

  it('rings for nobody where nothing is due', async () => {
    const calls: unknown[] = [];
    verdicts['r1'] = () => NOT_FIRED;
    deciding = decidingWith({ queue: { ring: (...all) => void calls.push(all) } });

    await decideEvent('e1');

    expect(calls).toEqual([]);
  });

  describe('tells', () => {
    let lines: Array<[string, unknown, string]>;
    let raised: unknown[];

    beforeEach(() => {
      lines = [];
      raised = [];
      const to = (level: string) => (facts: unknown, message: string) => void lines.push([level, facts, message]);
      deciding = decidingWith({
        logger: { debug: to('debug'), info: to('info'), warn: to('warn'), error: to('error') },
        alerts: {
          raise: (key, alert, facts) => void raised.push([key, textOf(alert), facts]),
          resolve: () => undefined,
        },
      });
    });

    const asks = (): Evaluation => ({
      kind: 'needs-lookup',
      request: { as: 'l', use: 'branch.get', params: {}, onMissing: 'none' },
    });

    it('each decision with its run', async () => {
      await decideEvent('e1');

      const run = {
        runId: 'id-1',
        org: 'acme',
        rule: 'r1',
        cause: 'event',
        state: 'open',
        reason: 'held',
        code: 'run.fired',
        intents: 1,
        waiting: 0,
        ...traceOf('e1', 'id-1', 'e1'),
      };
      expect(lines).toEqual([['info', run, 'run.decided']]);
      expect(raised).toEqual([]);
    });

    it('what waits for an approval, and how to give it', async () => {
      const fired = FIRED() as Extract<Evaluation, { kind: 'decided' }>;
      verdicts['r1'] = () => ({ ...fired, steps: fired.steps.map((step) => ({ ...step, approval: true as const })) });

      await decideEvent('e1');

      expect(raised).toEqual([
        [
          'rule.approval/acme/r1',
          'rule r1 in acme waits for an approval: forgehand approve id-1',
          { runId: 'id-1', waiting: 1 },
        ],
      ]);
    });

    it('which rule its limit holds', async () => {
      candidates = [{ id: 'r1', kind: 'rule', mode: 'live', runsPerHour: 1 }];
      await deciding.due.decideTick(TICK);

      const reason = 'held: 1 run in the last hour, the limit is 1 (limits.runs_per_hour)';
      expect(raised).toEqual([['rule.held/acme/r1', `rule r1 in acme fires too often: ${reason}`, { runId: 'id-3' }]]);
    });

    it('what waits for the forge: an event, a tick, and a run that gathered', async () => {
      candidates = [{ id: 'r1', kind: 'rule', mode: 'live', gathers: true }];
      window = { key: 'k', windowMs: 1_000 };
      await decideEvent('e9');
      window = null;
      candidates = [{ id: 'r1', kind: 'rule', mode: 'live' }];
      lines = [];
      verdicts['r1'] = asks;
      lookup = async () => Promise.reject(away);
      clock.advance(1_000);

      await decideEvent('e1');
      await deciding.due.decideTick(TICK);
      await deciding.due.decideRun('id-1');

      const waits = { org: 'acme', error: away, againInMs: 2_000 };
      expect(lines).toEqual([
        ['warn', { eventId: 'e1', ...waits, ...traceOf('e1', 'e1') }, 'event.waits-for-forge'],
        ['warn', { tickId: 't1', ...waits }, 'tick.waits-for-forge'],
        ['warn', { runId: 'id-1', ...waits }, 'run.waits-for-forge'],
      ]);
    });
  });

  describe('beside a revision that is tried', () => {
    let shadows: Array<string | null>;

    beforeEach(() => {
      shadows = [];
      deciding = decidingWith({
        revisions: {
          active: async () => active,
          shadow: async (org) => (shadows.push(org), { ...(active as ActiveRevision), id: 'shadow-1' }),
        },
      });
    });

    const all = async () =>
      [...(await runs()), ...(await journal.runs({ shadow: true, limit: 99 }))].map(({ rule, revisionId }) => [
        rule,
        revisionId,
      ]);

    it('an event is decided by both', async () => {
      await decideEvent('e1');

      expect(await all()).toEqual(
        expect.arrayContaining([
          ['r1', 'rev-1'],
          ['shadow/r1', 'shadow-1'],
        ]),
      );
      expect(shadows).toEqual(['acme']);
    });

    it('an event that is held, or waits for the forge, is not shown to it', async () => {
      verdicts['r1'] = () => ({
        kind: 'needs-lookup',
        request: { as: 'l', use: 'branch.get', params: {}, onMissing: 'none' },
      });
      lookup = async () => Promise.reject(away);
      await decideEvent('e1');
      const echoes = {
        look: async () => ({ depth: 4, holdReason: because('an echo') }),
        effectsToldBy: () => null,
        openBreaker: async () => undefined,
      };
      await new DecidingSide({
        ...deps,
        echoes,
        revisions: { active: async () => active, shadow: async (org) => (shadows.push(org), active) },
      }).flow.decideEvent(anEvent({ ...event, id: 'e2' }));

      expect(shadows).toEqual([]);
    });

    it('leaves out what the forge could not be asked about, says so, and holds up nothing', async () => {
      const lines: unknown[] = [];
      let asked = 0;
      verdicts['r1'] = (answers) =>
        answers['l']
          ? FIRED()
          : { kind: 'needs-lookup', request: { as: 'l', use: 'branch.get', params: {}, onMissing: 'none' } };
      // The live revision is answered, the one beside it is not.
      lookup = async () => ((asked += 1) === 1 ? { missing: true } : Promise.reject(away));
      deciding = new DecidingSide({
        ...deps,
        logger: { ...silentLogger, info: (...line) => void lines.push(line) },
        revisions: { active: async () => active, shadow: async () => active },
      });

      await decideEvent('e1');

      expect(await all()).toEqual([['r1', 'rev-1']]);
      expect([...journal.decidedEvents]).toEqual(['e1']);
      expect(lines).toContainEqual([{ org: 'acme', error: away }, 'shadow.left-out']);
    });

    it('says nothing of what was not left out', async () => {
      const messages: string[] = [];
      deciding = new DecidingSide({
        ...deps,
        logger: { ...silentLogger, info: (_, message) => void messages.push(message) },
        revisions: { active: async () => active, shadow: async () => active },
      });

      await decideEvent('e1');

      expect(new Set(messages)).toEqual(new Set(['run.decided']));
    });
  });

  it('makes runs and intents of an event in one decision, and wakes what is due', async () => {
    candidates.push({ id: 'r2', kind: 'rule', mode: 'live' });

    await decideEvent('e1');

    expect((await runs()).map(({ rule, state, reason }) => [rule, state, textOf(reason)])).toEqual([
      ['r1', 'open', 'held'],
      ['r2', 'not-fired', 'condition "x" is false'],
    ]);
    expect(rung).toEqual(['intents of acme']);
    expect([...journal.decidedEvents]).toEqual(['e1']);
  });

  it('decides once however often it is woken', async () => {
    await decideEvent('e1');
    await decideEvent('e1');

    expect(await runs()).toHaveLength(1);
    expect(rung).toEqual(['intents of acme']);
  });

  it('marks an event decided that nothing is about', async () => {
    candidates = [];

    await decideEvent('e1');

    expect([...journal.decidedEvents]).toEqual(['e1']);
    expect(await runs()).toEqual([]);
  });

  it('leaves an event undecided while there are no rules, and an unknown one alone', async () => {
    active = null;

    await decideEvent('e1');
    await decideEvent('nope');

    expect([...journal.decidedEvents]).toEqual([]);
  });

  it('shows the event, its repository, the bot and the time to rules', async () => {
    let seen: DecisionFacts | null = null;
    verdicts['r1'] = (_, facts) => ((seen = facts), NOT_FIRED);

    await decideEvent('e1');

    expect(seen).toEqual({
      org: 'acme',
      awaits: true,
      event,
      repo: event.repo,
      bot: { id: '5', login: 'forgehand' },
      now: clock.now(),
    });
  });

  it.each<[string, boolean | undefined, boolean]>([
    ['private', true, true],
    ['public', false, false],
    ['of unknown visibility', undefined, true],
  ])('stores what was read of a repository that is %s sealed or as it is', async (_what, isPrivate, isSealed) => {
    const of: typeof everyRepositoryIsOurs.of = async ({ org, id, name }) => ({
      is: 'ours',
      repository: { id, owner: org, name, ...(isPrivate === undefined ? {} : { private: isPrivate }) },
    });
    deciding = decidingWith({ owners: { ...everyRepositoryIsOurs, of } });
    lookup = async () => ({ value: 'words' });
    verdicts['r1'] = (answers) =>
      answers['l']
        ? FIRED('other')
        : { kind: 'needs-lookup', request: { as: 'l', use: 'branch.get', params: {}, onMissing: 'none' } };

    await decideEvent('e1');

    const [run] = await runs();
    expect(run && hasSealedReads(run)).toBe(isSealed);
    expect(JSON.stringify(run)?.includes('words')).toBe(!isSealed);
  });

  it('waits for the forge with what needs it, decides the rest, and asks less and less often', async () => {
    candidates.push({ id: 'r2', kind: 'rule', mode: 'live' });
    const told: unknown[] = [];
    deciding = decidingWith({
      waiting: {
        putOff: async (kind, id, org, reason) => void told.push([kind, id, org, textOf(reason)]),
        goOn: async (kind, id) => void told.push([kind, id]),
      },
    });
    let asked = 0;
    lookup = async () => {
      asked += 1;
      throw away;
    };
    verdicts['r2'] = (answers) =>
      answers['l']
        ? FIRED('other')
        : { kind: 'needs-lookup', request: { as: 'l', use: 'branch.get', params: {}, onMissing: 'none' } };

    await decideEvent('e1');
    await decideEvent('e1');

    expect(asked).toBe(1);
    expect((await runs()).map(({ rule }) => rule)).toEqual(['r1']);
    expect([...journal.decidedEvents]).toEqual([]);

    clock.advance(2_000);
    lookup = async () => ({ value: 1 });
    await decideEvent('e1');

    expect((await runs()).map(({ rule, lookups }) => [rule, openReads({ lookups }, SEALER).lookups])).toEqual([
      ['r1', {}],
      ['r2', { l: { value: 1, asked: expect.any(String) } }],
    ]);
    expect([...journal.decidedEvents]).toEqual(['e1']);
    expect(told).toEqual([
      ['event', 'e1', 'acme', away.message],
      ['event', 'e1'],
    ]);
  });

  it('ends a rule that makes us stumble as an error, and decides the others', async () => {
    candidates.unshift({ id: 'bad', kind: 'rule', mode: 'live' });
    verdicts['bad'] = () => {
      throw new TypeError('canary');
    };

    await decideEvent('e1');

    expect((await runs()).map(({ rule, state, reason }) => [rule, state, textOf(reason)])).toEqual([
      ['bad', 'error', 'internal fault (TypeError)'],
      ['r1', 'open', 'held'],
    ]);
  });

  it('holds a rule that fires more often than its limit', async () => {
    candidates = [{ id: 'r1', kind: 'rule', mode: 'live', runsPerHour: 2 }];
    for (const id of ['e1', 'e2', 'e3']) {
      event = anEvent({ id });
      await decideEvent(id);
    }
    clock.advance(3_600_000);
    event = anEvent({ id: 'e4' });
    await decideEvent('e4');

    expect((await runs()).map(({ state }) => state)).toEqual(['open', 'open', 'error', 'open']);
    expect((await runs())[2]?.reason).toEqual(saying(expect.stringContaining('runs_per_hour')));
    expect(alerts.filter((alert) => alert === 'rule.held/acme/r1')).toHaveLength(1);
    expect(alerts.at(-1)).toBe('rule.held/acme/r1 over');
  });

  it('holds what one tick wants beyond the limit', async () => {
    candidates = [{ id: 'r1', kind: 'rule', mode: 'live', runsPerHour: 1 }];

    await deciding.due.decideTick(TICK);

    expect((await runs()).map(({ state }) => state)).toEqual(['open', 'error']);
    expect(alerts).toContain('rule.held/acme/r1');
  });

  it('plans what wants an approval into waiting, and asks for it', async () => {
    const fired = FIRED() as Extract<Evaluation, { kind: 'decided' }>;
    verdicts['r1'] = () => ({ ...fired, steps: fired.steps.map((step) => ({ ...step, approval: true as const })) });

    await decideEvent('e1');

    expect(await journal.waitingForApproval(9)).toMatchObject([{ state: 'waiting', approval: 'wanted' }]);
    expect(rung).toEqual([]);
    expect(alerts).toEqual(['rule.approval/acme/r1']);
  });

  describe('an event that the witness holds', () => {
    let opened: unknown[];

    beforeEach(() => {
      opened = [];
      deciding = decidingWith({
        echoes: {
          look: async ({ id }) => ({
            depth: 0,
            holdReason: id === 'e1' ? because('an echo of an echo of an echo') : null,
          }),
          effectsToldBy: () => null,
          openBreaker: async ({ id }, ids) => void opened.push([id, ids]),
        },
      });
    });

    it('is answered by no rule, and the breaker of those that would have is opened', async () => {
      candidates.push({ id: 'r2', kind: 'rule', mode: 'live' });

      await decideEvent('e1');

      expect((await runs()).map(({ rule, state, reason }) => [rule, state, textOf(reason)])).toEqual([
        ['r1', 'error', 'an echo of an echo of an echo'],
        ['r2', 'error', 'an echo of an echo of an echo'],
      ]);
      expect(opened).toEqual([['e1', ['r1', 'r2']]]);
      expect([...journal.decidedEvents]).toEqual(['e1']);
    });

    it('stops what may lead back to it, answers it by no rule, and lets a policy go on that leads nowhere there', async () => {
      candidates = ['r1', 'r2', 'r3'].map((id) => ({ id, kind: 'rule', mode: 'live' }));
      for (const id of ['in', 'beside']) candidates.push({ id, kind: 'policy', mode: 'live' });
      candidates.push({ id: 'dry', kind: 'rule', mode: 'dry-run' });
      const led: Record<string, string[]> = { r2: ['r9', 'starter'], in: ['r1'], dry: ['r1'] };
      for (const { id } of candidates) verdicts[id] = () => FIRED();
      deciding = decidingWith({
        rules: { ...engine(), ledToBy: (_, id) => new Set(led[id]) },
        echoes: {
          look: async () => ({ depth: 3, holdReason: because('an echo'), chain: ['starter', 'r1', 'r9', 'r1'] }),
          effectsToldBy: () => null,
          openBreaker: async ({ id }, ids) => void opened.push([id, ids]),
        },
      });

      await decideEvent('e1');

      expect(opened).toEqual([['e1', ['r1', 'r2', 'in']]]);
      expect(Object.fromEntries((await runs()).map(({ rule, state }) => [rule, state]))).toEqual({
        r1: 'error',
        r2: 'error',
        r3: 'error',
        dry: 'error',
        in: 'error',
        beside: 'open',
      });
    });

    it('opens no breaker where no rule is about it', async () => {
      candidates = [];

      await decideEvent('e1');

      expect(opened).toEqual([]);
    });

    it('is told apart from others', async () => {
      await decideEvent('e2');

      expect((await runs()).map(({ state }) => state)).toEqual(['open']);
      expect(opened).toEqual([]);
    });
  });

  describe('policies', () => {
    let passes: Array<Parameters<NonNullable<DecidingParts['gate']>['review']>[0]>;
    const policyTick: Tick = { ...TICK, schedule: 'policy:base@rev-1' };

    beforeEach(() => {
      passes = [];
      candidates = [{ id: 'base', kind: 'policy', mode: 'live' }];
      verdicts['base'] = () => FIRED();
      deciding = decidingWith({
        gate: {
          review: async (pass) => {
            passes.push(pass);
            const runs = pass.runs.map((plan) => ({
              ...plan,
              run: { ...plan.run, state: 'done' as const, reason: because('over its cap') },
              intents: [],
            }));
            return { runs, failure: null };
          },
        },
      });
    });

    it('of a tick are reviewed together, with how many subjects there are', async () => {
      expect(await deciding.due.decideTick(policyTick)).toMatchObject({ runs: 2 });

      expect(passes).toMatchObject([
        { forge: 'main', org: 'acme', active, candidate: { id: 'base' }, subjects: 2, now: policyTick.occurrence },
      ]);
      expect(passes[0]?.runs).toHaveLength(2);
      expect((await runs()).map(({ reason }) => textOf(reason))).toEqual(['over its cap', 'over its cap']);
      expect(rung).toEqual([]);
    });

    it('that an event woke are reviewed by themselves', async () => {
      await decideEvent('e1');

      expect(passes).toMatchObject([
        { forge: 'main', org: 'acme', active, candidate: { id: 'base' }, subjects: null, now: clock.now() },
      ]);
      expect((await runs()).map(({ reason }) => textOf(reason))).toEqual(['over its cap']);
    });

    it('are decided as they are where the gate lets them pass', async () => {
      await new DecidingSide(deps).flow.decideEvent(event);

      expect((await runs()).map(({ state }) => state)).toEqual(['open']);
    });

    it('have a gate that rules do not pass', async () => {
      candidates = [{ id: 'r1', kind: 'rule', mode: 'live' }];
      await decideEvent('e1');
      await deciding.due.decideTick(TICK);

      expect(passes).toEqual([]);
    });
  });

  it('tells of each decision whose it is and how it ended', async () => {
    const counted: unknown[] = [];
    deciding = decidingWith({ counted: (what) => void counted.push(what) });
    candidates.push(
      { id: 'r2', kind: 'rule', mode: 'live' },
      { id: 'bad', kind: 'rule', mode: 'live' },
      { id: 'later', kind: 'rule', mode: 'live', gathers: true },
    );
    window = { key: 'k', windowMs: 1_000 };
    verdicts['bad'] = () => {
      throw new TypeError('canary');
    };
    verdicts['later'] = () => FIRED();

    await decideEvent('e1');

    expect(counted).toEqual([
      { org: 'acme', rule: 'r1', verdict: 'fired' },
      { org: 'acme', rule: 'r2', verdict: 'not-fired' },
      { org: 'acme', rule: 'bad', verdict: 'error' },
    ]);
  });

  it('lets through what is no failure of the forge', async () => {
    verdicts['r1'] = () => ({
      kind: 'needs-lookup',
      request: { as: 'l', use: 'branch.get', params: {}, onMissing: 'none' },
    });
    lookup = async () => Promise.reject(new TypeError('our own fault'));

    await expect(decideEvent('e1')).rejects.toThrow('our own fault');
    expect([...journal.decidedEvents]).toEqual([]);
  });

  describe('a rule that needs what an event does not know', () => {
    const FIELD = 'event.files.added';
    const needs = (): Evaluation => ({
      kind: 'decided',
      report: {
        rule: 'r1',
        verdict: 'error',
        reason: verdictReason('verdict.unknown', { fields: [FIELD], at: null }),
        trace: null,
        unknown: [FIELD],
      },
      steps: [],
    });
    /** What rules see: null = may it become known, else what the event was learned to have. */
    let seen: Array<'open' | 'closed' | 'known'>;
    let reads: string[];
    let isReadable: boolean;
    let waitsMs: number;

    beforeEach(() => {
      event = anEvent({ id: 'e1', source: 'feed' });
      [seen, reads, isReadable, waitsMs] = [[], [], false, 60_000];
      verdicts['r1'] = (_, facts) => {
        const isKnown = facts.event?.data['known'] === true;
        seen.push(isKnown ? 'known' : facts.awaits ? 'open' : 'closed');
        return isKnown ? FIRED() : needs();
      };
      deciding = decidingWith({
        clock,
        awaitMs: () => waitsMs,
        fields: {
          read: async (of, paths) => {
            reads.push(...paths);
            return isReadable ? { ...of, data: { ...of.data, known: true } } : null;
          },
        },
      });
      clock.advance(event.storedAt.getTime() - clock.now().getTime());
    });

    it('reads it, and is decided once, with what was read', async () => {
      isReadable = true;
      await decideEvent('e1');

      expect([seen, reads]).toEqual([['open', 'known'], [FIELD]]);
      expect(await runs()).toMatchObject([{ state: 'open' }]);
    });

    it('waits for the delivery, says for what and how long, and is decided when it came', async () => {
      await decideEvent('e1');

      expect(await runs()).toMatchObject([
        {
          state: 'gathering',
          reason: { code: 'run.unknown', params: { fields: [FIELD], source: 'feed', seconds: 60 } },
        },
      ]);
      expect(textOf((await runs())[0]!.reason)).toBe(
        'waits up to 60 s for a delivery: feed reported the event without event.files.added',
      );
      expect([...journal.decidedEvents]).toEqual(['e1']);
      expect([await journal.dueRuns(9), alerts, rung]).toEqual([[], [], []]);

      event = { ...event, data: { ...event.data, known: true } };
      await journal.hastenRuns(['e1']);
      const [due] = await journal.dueRuns(9);
      await deciding.due.decideRun(due ?? '');

      expect(await runs()).toMatchObject([{ id: due, state: 'open' }]);
      expect(await journal.intentsOfRun(due ?? '')).toHaveLength(1);
    });

    it('waits on where it is woken too early', async () => {
      await decideEvent('e1');
      await journal.hastenRuns(['e1']);
      const [due] = await journal.dueRuns(9);
      await deciding.due.decideRun(due ?? '');

      expect(await runs()).toMatchObject([{ id: due, state: 'gathering' }]);
      expect(await journal.dueRuns(9)).toEqual([]);
    });

    it('ends as an error that names it, with an alert, when nothing told it in time', async () => {
      await decideEvent('e1');
      clock.advance(60_000);
      const [due] = await journal.dueRuns(9);
      await deciding.due.decideRun(due ?? '');

      expect(seen.slice(-2)).toEqual(['open', 'closed']);
      const [run] = await runs();
      expect(run).toMatchObject({ state: 'error', reason: { code: 'run.error' } });
      expect(textOf(run!.reason)).toContain(FIELD);
      expect(alerts).toEqual(['rule.unknown/acme/r1']);

      verdicts['r1'] = () => FIRED();
      await decideEvent('e2');
      expect(alerts).toEqual(['rule.unknown/acme/r1', 'rule.unknown/acme/r1 over']);
    });

    it('asks whether it is there as soon as nothing tells it any more', async () => {
      waitsMs = 0;
      verdicts['r1'] = (_, facts) => (facts.awaits ? needs() : NOT_FIRED);
      await decideEvent('e1');

      expect(await runs()).toMatchObject([{ state: 'not-fired' }]);
      expect(alerts).toEqual([]);
    });

    it('waits with the key of its window, and for nothing when it is replayed by hand', async () => {
      candidates = [{ id: 'r1', kind: 'rule', mode: 'live', gathers: true }];
      window = { problem: 'coalesce.key: not known', unknown: [FIELD] };
      await decideEvent('e1');
      expect(await runs()).toMatchObject([{ state: 'gathering', reason: { code: 'run.unknown' } }]);

      candidates = [{ id: 'r2', kind: 'rule', mode: 'live' }];
      verdicts['r2'] = verdicts['r1']!;
      expect(await deciding.flow.replayEvent('e1')).toMatchObject([{ rule: 'r2', verdict: 'error' }]);
    });

    it('does not hold up the others', async () => {
      candidates = [
        { id: 'r1', kind: 'rule', mode: 'live' },
        { id: 'r2', kind: 'rule', mode: 'live' },
      ];
      verdicts['r2'] = () => FIRED();
      await decideEvent('e1');

      expect((await runs()).map(({ rule, state }) => [rule, state])).toEqual([
        ['r1', 'gathering'],
        ['r2', 'open'],
      ]);
    });
  });

  describe('a rule that gathers', () => {
    beforeEach(() => {
      candidates = [{ id: 'r1', kind: 'rule', mode: 'live', gathers: true }];
      window = { key: 'acme/web', windowMs: 120_000 };
    });

    it('is decided once for all events of its window, by the last of them', async () => {
      const seen: Array<string | undefined> = [];
      for (const id of ['e1', 'e2', 'e3']) await decideEvent(id);

      expect((await runs()).map(({ state }) => state)).toEqual(['coalesced', 'coalesced', 'gathering']);
      expect([...journal.decidedEvents]).toEqual(['e1', 'e2', 'e3']);
      expect(await journal.dueRuns(9)).toEqual([]);

      clock.advance(120_000);
      verdicts['r1'] = (_, facts) => (seen.push(facts.event?.id), FIRED());
      const [due] = await journal.dueRuns(9);
      await deciding.due.decideRun(due ?? '');
      await deciding.due.decideRun(due ?? '');

      expect(seen).toEqual(['e3']);
      expect((await runs()).map(({ state, coalescedInto }) => [state, coalescedInto])).toEqual([
        ['coalesced', due],
        ['coalesced', due],
        ['open', undefined],
      ]);
      expect(await journal.intentsOfRun(due ?? '')).toHaveLength(1);
      expect(rung).toHaveLength(1);
    });

    it('decides what is false without a read at once, so that it takes nobody’s place', async () => {
      await decideEvent('e1');
      verdicts['r1'] = () => NOT_FIRED;
      await decideEvent('e2');

      expect((await runs()).map(({ state }) => state)).toEqual(['gathering', 'not-fired']);
    });

    it('shows a tick’s repository and time to the decision', async () => {
      await deciding.due.decideTick(TICK);
      const seen: unknown[] = [];
      verdicts['r1'] = (_, { repo, now, event: none }) => (seen.push([repo?.id, now, none]), FIRED());
      clock.advance(120_000);
      for (const id of await journal.dueRuns(9)) await deciding.due.decideRun(id);

      expect(seen).toEqual([['8', TICK.occurrence, null]]);
    });

    it('tells of it and wakes its steps by their topic when it is decided', async () => {
      const counted: unknown[] = [];
      deciding = decidingWith({ counted: (what) => void counted.push(what) });
      await deciding.due.decideTick(TICK);
      await decideEvent('e1');
      expect([counted, rung]).toEqual([[], []]);
      clock.advance(120_000);
      for (const id of await journal.dueRuns(9)) await deciding.due.decideRun(id);

      // One key: the newest cause decides for all, and that is the tick.
      expect(counted).toEqual([{ org: 'acme', rule: 'r1', verdict: 'fired' }]);
      expect(rung).toEqual(['background of acme']);
    });

    it('is left to the process that decided it first', async () => {
      const counted: unknown[] = [];
      deciding = decidingWith({
        journal: Object.assign(journal, { decideGathered: async () => null }),
        counted: (what) => void counted.push(what),
      });
      await decideEvent('e1');
      clock.advance(120_000);
      await deciding.due.decideRun('id-1');

      expect([counted, rung]).toEqual([[], []]);
    });

    it('has patience with the forge from the end of its window on', async () => {
      await decideEvent('e1');
      clock.advance(120_000 + 23 * 3_600_000);
      verdicts['r1'] = (answers) =>
        answers['l']
          ? NOT_FIRED
          : { kind: 'needs-lookup', request: { as: 'l', use: 'branch.get', params: {}, onMissing: 'none' } };
      lookup = async () => Promise.reject(away);
      await deciding.due.decideRun('id-1');
      expect(await journal.dueRuns(9)).toEqual(['id-1']);
      clock.advance(3_600_000 - 1);
      await deciding.due.decideRun('id-1');
      expect(await journal.dueRuns(9)).toEqual(['id-1']);

      clock.advance(10_000);
      await deciding.due.decideRun('id-1');

      expect(await journal.run('id-1')).toMatchObject({ state: 'not-fired' });
    });

    it('waits on while the forge cannot be asked', async () => {
      await decideEvent('e1');
      clock.advance(120_000);
      verdicts['r1'] = () => ({
        kind: 'needs-lookup',
        request: { as: 'l', use: 'branch.get', params: {}, onMissing: 'none' },
      });
      lookup = async () => Promise.reject(away);
      await deciding.due.decideRun('id-1');

      expect(await journal.dueRuns(9)).toEqual(['id-1']);
    });

    it('ends when its rule is gone, and as an error when its key cannot be told', async () => {
      await decideEvent('e1');
      window = { problem: 'coalesce.key: no such field' };
      await decideEvent('e2');
      clock.advance(120_000);
      candidates = [];
      await deciding.due.decideRun('id-1');

      expect((await runs()).map(({ state, reason }) => [state, textOf(reason)])).toEqual([
        ['cancelled', 'the rule no longer exists'],
        ['error', 'coalesce.key: no such field'],
      ]);
    });

    it('asks less and less often, and lets through what is no failure of the forge', async () => {
      await decideEvent('e1');
      clock.advance(120_000);
      let asked = 0;
      verdicts['r1'] = () => ({
        kind: 'needs-lookup',
        request: { as: 'l', use: 'branch.get', params: {}, onMissing: 'none' },
      });
      lookup = async () => ((asked += 1), Promise.reject(away));
      await deciding.due.decideRun('id-1');
      await deciding.due.decideRun('id-1');
      expect(asked).toBe(1);

      clock.advance(2_000);
      lookup = async () => Promise.reject(new TypeError('our own fault'));
      await expect(deciding.due.decideRun('id-1')).rejects.toThrow('our own fault');
    });

    it('ends when the store no longer has its cause', async () => {
      await decideEvent('e1');
      clock.advance(120_000);
      deciding = decidingWith({ inbox: { event: async () => null } });

      await deciding.due.decideRun('id-1');

      expect(await journal.run('id-1')).toMatchObject({
        state: 'cancelled',
        reason: saying('the store no longer has its cause'),
        decidedAt: clock.now(),
      });
    });

    it('waits while there are no rules', async () => {
      await decideEvent('e1');
      clock.advance(120_000);
      active = null;

      await deciding.due.decideRun('id-1');

      expect(await journal.dueRuns(9)).toEqual(['id-1']);
    });

    it('is not decided before it exists, nor twice', async () => {
      await deciding.due.decideRun('no such run');
      await decideEvent('e1');
      clock.advance(120_000);
      await deciding.due.decideRun('id-1');
      const before = rung.length;
      let asked = 0;
      verdicts['r1'] = () => ((asked += 1), FIRED());
      await deciding.due.decideRun('id-1');

      expect([asked, rung.length]).toEqual([0, before]);
    });

    it('is decided at once by hand', async () => {
      verdicts['r1'] = () => NOT_FIRED;
      await decideEvent('e1');
      verdicts['r1'] = () => FIRED();

      expect(await deciding.flow.replayEvent('e1')).toMatchObject([{ verdict: 'fired', reason: 'held', intents: 1 }]);
    });
  });

  describe('replay', () => {
    it('leaves a rule alone that wanted something of this event', async () => {
      await decideEvent('e1');

      expect(await deciding.flow.replayEvent('e1')).toMatchObject([{ rule: 'r1', verdict: 'kept', intents: 0 }]);
      expect(await runs()).toHaveLength(1);
    });

    it('lets a rule want something now that did not then, once', async () => {
      verdicts['r1'] = () => NOT_FIRED;
      await decideEvent('e1');
      await deciding.flow.replayEvent('e1');
      verdicts['r1'] = () => FIRED();

      const fired = await deciding.flow.replayEvent('e1');
      const again = await deciding.flow.replayEvent('e1');

      expect([fired[0]?.verdict, fired[0]?.intents, again[0]?.verdict]).toEqual(['fired', 1, 'kept']);
      expect((await runs()).map(({ state }) => state)).toEqual(['not-fired', 'not-fired', 'open']);
      expect(rung).toHaveLength(1);
    });

    it('of an event that is not there wants nothing', async () => {
      expect(await deciding.flow.replayEvent('nope')).toEqual([]);
    });

    it('tells which run of the event is kept, and what became of it', async () => {
      await decideEvent('e1');

      expect(await deciding.flow.replayEvent('e1')).toMatchObject([{ reason: 'run id-1 of this event is open' }]);
    });

    it('tries a rule again that ended as an error', async () => {
      verdicts['r1'] = () => {
        throw new TypeError('canary');
      };
      await decideEvent('e1');
      expect(await deciding.flow.replayEvent('e1')).toEqual([
        { rule: 'r1', verdict: 'error', reason: 'internal fault (TypeError)', code: 'run.error', intents: 0 },
      ]);
      verdicts['r1'] = () => FIRED();

      expect(await deciding.flow.replayEvent('e1')).toMatchObject([{ verdict: 'fired', reason: 'held', intents: 1 }]);
    });

    it('knows rules that came later', async () => {
      await decideEvent('e1');
      candidates.push({ id: 'r2', kind: 'rule', mode: 'live' });
      verdicts['r2'] = () => FIRED('late');

      expect((await deciding.flow.replayEvent('e1')).map(({ verdict }) => verdict)).toEqual(['kept', 'fired']);
    });
  });

  describe('a tick', () => {
    it('is decided for each subject, at its own time', async () => {
      const times: Date[] = [];
      verdicts['r1'] = (_, { now }) => (times.push(now), FIRED());

      expect(await deciding.due.decideTick(TICK)).toMatchObject({ runs: 2 });

      expect((await runs()).map(({ cause }) => cause)).toEqual([
        { kind: 'tick', tickId: 't1', subject: '7', repo: 'acme/app', at: '2026-11-20T11:00:00.000Z' },
        { kind: 'tick', tickId: 't1', subject: '8', repo: 'acme/lib', at: '2026-11-20T11:00:00.000Z' },
      ]);
      expect(times).toEqual([TICK.occurrence, TICK.occurrence]);
      expect([...journal.decidedTicks]).toEqual(['t1']);
      expect(rung).toEqual(['background of acme']);
    });

    it('that is about the organization has no subject', async () => {
      deciding = decidingWith({ rules: { ...engine(), subjects: () => [null] } });

      await deciding.due.decideTick(TICK);

      expect((await runs()).map(({ cause }) => cause)).toEqual([
        { kind: 'tick', tickId: 't1', subject: '', at: '2026-11-20T11:00:00.000Z' },
      ]);
    });

    it('is decided once, whoever decides it', async () => {
      await deciding.due.decideTick(TICK);
      await deciding.due.decideTick(TICK);

      expect(await runs()).toHaveLength(2);
    });

    it('is decided with nothing when its rule is gone', async () => {
      expect(await deciding.due.decideTick({ ...TICK, schedule: 'gone' })).toMatchObject({ runs: 0 });
      expect([...journal.decidedTicks]).toEqual(['t1']);
    });

    it('names each subject of which the decision failed, and does not count it', async () => {
      verdicts['r1'] = (_, { repo }) => (repo?.id === '7' ? FIRED() : FAILED);

      expect(await deciding.due.decideTick(TICK)).toEqual({
        runs: 1,
        undecided: [expect.stringMatching(/^acme\/lib: .*status 403/)],
      });
    });

    it('stays due while there are no rules', async () => {
      active = null;

      expect(await deciding.due.decideTick(TICK)).toMatchObject({ runs: 0 });
      expect([...journal.decidedTicks]).toEqual([]);
    });

    it('is decided for those that the forge can be asked about, and stays due for the others', async () => {
      verdicts['r1'] = (answers, { repo }) =>
        repo?.id === '7' || answers['l']
          ? FIRED()
          : { kind: 'needs-lookup', request: { as: 'l', use: 'branch.get', params: {}, onMissing: 'none' } };
      lookup = async () => Promise.reject(away);

      expect(await deciding.due.decideTick(TICK)).toEqual({ runs: 1, undecided: [`acme/lib: ${away.message}`] });
      expect([...journal.decidedTicks]).toEqual([]);
      clock.advance(2_000);
      lookup = async () => ({ missing: true });
      await deciding.due.decideTick(TICK);

      expect((await runs()).map(({ cause }) => (cause.kind === 'tick' ? cause.subject : ''))).toEqual(['7', '8']);
      expect([...journal.decidedTicks]).toEqual(['t1']);
    });

    it('lets through what is no failure of the forge', async () => {
      inventory = async () => Promise.reject(new TypeError('our own fault'));

      await expect(deciding.due.decideTick(TICK)).rejects.toThrow('our own fault');
      expect([...journal.decidedTicks]).toEqual([]);
    });

    it('stays due while the forge cannot be asked', async () => {
      inventory = async () => Promise.reject(away);
      await deciding.due.decideTick(TICK);
      expect([...journal.decidedTicks]).toEqual([]);

      inventory = async () => [event.repo as EventRepository];
      await deciding.due.decideTick(TICK);
      expect(await runs()).toEqual([]);
      clock.advance(2_000);
      await deciding.due.decideTick(TICK);

      expect(await runs()).toHaveLength(1);
      expect([...journal.decidedTicks]).toEqual(['t1']);
    });

    it.each([
      ['r1', 'r1'],
      ['policy:baseline@abc', 'baseline'],
      ['policy:a@b@abc', 'a@b'],
      ['policy:odd', 'policy:odd'],
      ['my policy:a@b', 'my policy:a@b'],
      ['policy:a@b@', 'policy:a@b@'],
    ])('of schedule %s is about %s', (schedule, id) => {
      expect(scheduledId(schedule)).toBe(id);
    });
  });
});

describe('pipeline/decide: what was processed lately', () => {
  it('knows what it was told, and nothing else', () => {
    const done = new RecentlyProcessed();
    done.add('a');

    expect([done.has('a'), done.has('b')]).toEqual([true, false]);
  });

  it('keeps the newest ten thousand', () => {
    const done = new RecentlyProcessed();
    for (let n = 1; n <= 10_000; n += 1) done.add(String(n));
    expect([done.has('1'), done.has('10000')]).toEqual([true, true]);

    done.add('10001');

    expect([done.has('1'), done.has('2'), done.has('10001')]).toEqual([false, true, true]);
  });
});
