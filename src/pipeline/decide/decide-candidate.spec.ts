import { beforeEach, describe, expect, it } from '@jest/globals';
import { anEvent } from '../../../test/builders/arrivals.js';
import { honestActs } from '../../../test/fakes/honest-acts.js';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import { everyRepositoryIsOurs } from '../../../test/fakes/repository-owners.js';
import { actions } from '../../actions/index.js';
import { callingAs, currentCaller, type Caller } from '../../core/caller.js';
import { ForgeError } from '../../core/errors.js';
import { because } from '../../../test/builders/reasons.js';
import type { ForgeEvent } from '../../core/event.js';
import type { EventKind } from '../../core/event-kinds.js';
import { defineReasons } from '../../core/reason.js';
import type { Ownership } from '../../core/repository-owner.js';
import { Secret } from '../../core/secret.js';
import { silentSecurityLog } from '../../core/security-log.js';
import type { Evaluation } from '../../rules/language/revision.js';
import type { ActProof } from './act-proof.js';
import { aCandidateDecider, type CandidateParts } from '../../../test/builders/deciding.js';
import type { Subject } from './decide-candidate.js';
import type { Candidate, DecisionFacts, RuleEngine } from '../rule-engine.port.js';
import type { LookupScope } from '../../actions/lookups/lookup-reader.port.js';
import type { ActiveRevision } from '../../rules/revisions/active-revisions.port.js';
import { Encryptor } from '../../core/encryptor.js';
import { saying } from '../../../test/builders/reasons.js';
import { textOf } from '../../core/reason.js';

const REVISION: ActiveRevision = {
  id: 'rev-1',
  revision: { org: 'acme', hash: 'h', rules: [], policies: [] },
  loadedAt: new Date(0),
};
const RULE: Candidate = { id: 'r', kind: 'rule', mode: 'live' };
const AT = new Date('2026-11-20T11:00:00Z');
const decided = (
  verdict: 'fired' | 'not-fired',
  action = 'label.ensure',
  params: object = { name: 'bug', color: '#000000' },
): Evaluation => ({
  kind: 'decided',
  report: { rule: 'r', verdict, reason: because('so it is'), trace: null },
  steps:
    verdict === 'fired'
      ? [{ stepId: 's', stepNo: 0, action, items: [{ itemKey: 'bug', params: params as never }] }]
      : [],
});
type Decided = Extract<Evaluation, { kind: 'decided' }>;
const ASKS: Evaluation = {
  kind: 'needs-lookup',
  request: { as: 'l', use: 'branch.get', params: {}, onMissing: 'none' },
};

describe('pipeline/decide/decide-candidate', () => {
  let evaluate: (facts: DecisionFacts, answers: object) => Evaluation;
  let windowOf: () => ReturnType<RuleEngine['windowOf']>;
  let scopes: LookupScope[];
  let fired: number;
  let told: unknown[];
  let deps: CandidateParts;
  let clock: ManualClock;

  beforeEach(() => {
    evaluate = () => decided('fired');
    windowOf = () => null;
    scopes = [];
    fired = 0;
    told = [];
    clock = new ManualClock();
    const logger = {
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: (...all: unknown[]) => void told.push(all),
    };
    deps = {
      rules: {
        candidates: () => [],
        find: () => null,
        subjects: () => [],
        windowOf: () => windowOf(),
        isCheap: () => true,
        ledToBy: () => new Set(),
        evaluate: (_revision, _candidate, facts, answers) => evaluate(facts, answers),
      },
      lookups: { read: async (_request, scope) => (scopes.push(scope), { value: 1 }) },
      acts: honestActs,
      security: silentSecurityLog,
      accounts: { self: () => ({ id: '5', login: 'forgehand' }) },
      journal: { firedInLastHour: async () => fired },
      owners: everyRepositoryIsOurs,
      tools: { actions, encryptor: new Encryptor(new Secret('ab'.repeat(32))), newId: () => 'id' },
      clock,
      logger,
    };
  });

  const event = anEvent({ id: 'e1' });
  const ofEvent = (over: Partial<Subject> = {}): Subject => ({
    forge: 'main',
    org: 'acme',
    cause: { kind: 'event', eventId: 'e1' },
    event,
    repo: event.repo,
    since: AT,
    now: null,
    ...over,
  });
  const ofTick = (over: Partial<Subject> = {}): Subject =>
    ofEvent({ cause: { kind: 'tick', tickId: 't1', subject: '7' }, event: null, now: AT, ...over });
  const decide = (
    asked: Partial<Candidate> = {},
    subject = ofEvent(),
    manner = {},
    more: Partial<CandidateParts> = {},
  ) => aCandidateDecider({ ...deps, ...more }).decide(REVISION, { ...RULE, ...asked }, subject, manner);

  describe('makes its calls', () => {
    let callers: Array<Caller | null>;

    beforeEach(() => {
      callers = [];
      evaluate = () => (callers.push(currentCaller()), decided('fired'));
    });

    it('for those who wait for an event, and for nobody when a schedule or a plan is the cause', async () => {
      await decide();
      await decide({}, ofTick());
      await decide({}, ofTick({ cause: { kind: 'apply', by: 'olga', plan: 'p', subject: '7' } }));

      expect(callers).toEqual([
        { priority: 'webhook', org: 'acme' },
        { priority: 'housekeeping', org: 'acme' },
        { priority: 'housekeeping', org: 'acme' },
      ]);
    });

    it('for whoever asked for it by hand', async () => {
      await callingAs({ priority: 'interactive', org: null }, () => decide({}, ofTick()));

      expect(callers).toEqual([{ priority: 'interactive', org: null }]);
    });
  });

  describe('confirms what a delivery says before anything is asked with it', () => {
    const asked: unknown[] = [];
    let shown: ActProof;
    const acts: CandidateParts['acts'] = { prove: async () => shown };
    const lookups: CandidateParts['lookups'] = {
      read: async ({ params }) => (asked.push(params), { value: params['branch'] === 'forged' }),
    };
    const told = (branch: string): ForgeEvent => ({ ...event, data: { branch } });
    const decideOn = (branch: string) => decide({}, ofEvent({ event: told(branch) }), {}, { acts, lookups });
    const rests = { on: 'actor', reads: ['branch'] } as const;

    beforeEach(() => {
      asked.length = 0;
      shown = { proven: true, by: 'spec', actor: event.actor, event: told('true'), newer: ['branch'], acts: [] };
      deps.rules.candidates = () => [RULE];
      // It does something only where the branch that the event names has what is asked of it.
      evaluate = ({ event: of }, answers) => {
        const answer = (answers as { l?: { value: boolean } }).l;
        const params = { branch: of?.data['branch'] ?? null };
        return answer
          ? { ...(decided(answer.value ? 'fired' : 'not-fired') as Decided), rests }
          : { kind: 'needs-lookup', request: { as: 'l', use: 'branch.get', params, onMissing: 'none' }, rests };
      };
    });

    it('so that a forged value reaches no lookup', async () => {
      const { run } = await decideOn('forged');

      expect(asked).toEqual([{ branch: 'true' }]);
      expect([run.state, run.trace]).toEqual(['not-fired', expect.objectContaining({ refused: expect.anything() })]);
    });

    it('so that nothing is asked where the forge confirms nothing', async () => {
      shown = { proven: false, code: 'act.not_found', reason: 'there is no such act' };
      const { run } = await decideOn('forged');

      expect(asked).toEqual([]);
      expect([run.state, run.trace]).toEqual([
        'not-fired',
        { refused: { code: 'act.not_found', reason: 'there is no such act' } },
      ]);
    });

    it('and acts upon what is true', async () => {
      shown = { proven: true, by: 'spec', actor: event.actor, event: told('forged'), newer: [], acts: [] };

      expect((await decideOn('forged')).intents).toHaveLength(1);
    });
  });

  describe('asks whose the repository is', () => {
    let asked: number;
    let ownership: () => Promise<Ownership>;
    const owners = { ...everyRepositoryIsOurs, of: () => ((asked += 1), ownership()) };
    const wants = (action: string, verdict: 'fired' | 'not-fired' = 'fired'): void => {
      evaluate = () =>
        decided(
          verdict,
          action,
          action.startsWith('org_') ? { name: 'X', value: 'y' } : { name: 'bug', color: '#d73a4a' },
        );
    };

    beforeEach(() => {
      asked = 0;
      ownership = async () => ({ is: 'ours', repository: { id: '7', owner: 'acme', name: 'of-now', private: true } });
    });

    it('only where a step acts on it', async () => {
      for (const [action, verdict] of [
        ['org_variable.set', 'fired'],
        ['label.ensure', 'not-fired'],
      ] as const) {
        wants(action, verdict);
        await decide({}, ofEvent(), {}, { owners });
      }
      wants('label.ensure');
      await decide({}, ofEvent(), { shadow: true }, { owners });

      expect(asked).toBe(0);
    });

    it('pins the name of now', async () => {
      wants('label.ensure');

      const { intents } = await decide({}, ofEvent(), {}, { owners });

      expect(intents[0]?.target).toEqual({ kind: 'repository', id: '7', owner: 'acme', name: 'of-now', private: true });
    });

    it.each(['repository_elsewhere', 'repository_gone', 'repository_unconfirmed'] as const)(
      'keeps the run, and refuses its repository: %s',
      async (code) => {
        ownership = async () => ({ is: 'refused', code });
        wants('label.ensure');

        const { run, intents } = await decide({}, ofEvent(), {}, { owners });

        expect(run.state).toBe('open');
        expect(intents).toMatchObject([{ target: { refused: code, owner: 'acme' }, orderKey: 'main/refused/acme' }]);
      },
    );

    it('waits while the forge cannot be asked, for a day; then the repository is refused', async () => {
      ownership = () => Promise.reject(new ForgeError('not-sent', 'away', { operation: 'getRepoById' }));
      wants('label.ensure');
      const since = clock.now();

      await expect(decide({}, ofEvent({ since }), {}, { owners })).rejects.toMatchObject({ kind: 'not-sent' });
      clock.advance(24 * 3_600_000);

      expect((await decide({}, ofEvent({ since }), {}, { owners })).intents).toMatchObject([
        { target: { refused: 'repository_unconfirmed' } },
      ]);
    });
  });

  it('sees a tick at its own time, and an event at the moment', async () => {
    const times: Date[] = [];
    evaluate = ({ now }) => (times.push(now), decided('fired'));

    await decide();
    await decide({}, ofTick());

    expect(times).toEqual([clock.now(), AT]);
  });

  it.each<[EventKind, boolean]>([
    ['push', false],
    ['issue.opened', true],
    ['issue.labeled', false],
  ])('counts what a %s caused for who did it only where anybody may: %s', async (kind, counted) => {
    const caused = anEvent({ kind, actor: { id: '3', login: 'ann' } });

    const { intents } = await decide({}, ofEvent({ event: caused }));

    expect(intents[0]?.countsFor).toEqual({
      rule: true,
      actor: counted ? { id: '3', login: 'ann' } : null,
      ...(counted ? { claim: caused.id } : {}),
    });
  });

  it.each<[EventKind, true | undefined]>([
    ['comment.created', true],
    ['comment.edited', undefined],
    ['issue.opened', undefined],
  ])('says of what a %s caused whether somebody asked for it: %s', async (kind, asked) => {
    const { intents } = await decide({}, ofEvent({ event: anEvent({ kind }) }));

    expect(intents[0]?.countsFor?.asked).toBe(asked);
  });

  describe('where it rests on what a delivery says', () => {
    const rests = (on: 'actor' | 'act'): Evaluation =>
      ({ ...decided('fired'), rests: { on, reads: [] } }) as Evaluation;
    const whatForgeSays = (proof: ActProof): Partial<CandidateParts> => ({ acts: { prove: async () => proof } });

    it('refuses, with a code, what the forge does not confirm, and tells the security log', async () => {
      const recorded: object[] = [];
      evaluate = () => rests('actor');

      const { run, intents } = await decide(
        {},
        ofEvent(),
        {},
        {
          ...whatForgeSays({ proven: false, code: 'act.other_author', reason: 'the forge names eve' }),
          security: { record: (told) => void recorded.push(told) },
        },
      );

      expect(intents).toEqual([]);
      expect(run).toMatchObject({
        state: 'not-fired',
        reason: saying('refused (act.other_author): the forge names eve'),
        trace: { refused: { code: 'act.other_author' } },
      });
      expect(run.lookups).toMatchObject({ '@act': { value: { proven: false, code: 'act.other_author' } } });
      expect(recorded).toMatchObject([
        { class: 'power_refused', org: 'acme', code: 'act.other_author', rule: 'r', event: 'e1', claimed: 'ann' },
      ]);
    });

    it('writes nothing into the security log about what was deleted before the forge was asked', async () => {
      const recorded: object[] = [];
      evaluate = () => rests('actor');
      const { run } = await decide(
        {},
        ofEvent(),
        {},
        {
          ...whatForgeSays({ proven: false, code: 'act.gone', reason: 'the forge holds no comment 11 on #4' }),
          security: { record: (told) => void recorded.push(told) },
        },
      );

      expect(run).toMatchObject({ state: 'not-fired', trace: { refused: { code: 'act.gone' } } });
      expect(recorded).toEqual([]);
    });

    it('lets a merge rest on an act that nobody is named for, and nothing that rests on who did it', async () => {
      const proof = whatForgeSays({ proven: true, by: 'task', actor: null, event: anEvent(), newer: [], acts: [] });

      evaluate = () => rests('act');
      expect((await decide({}, ofEvent(), {}, proof)).run.state).toBe('open');
      evaluate = () => rests('actor');
      expect((await decide({}, ofEvent(), {}, proof)).run).toMatchObject({
        state: 'not-fired',
        trace: { refused: { code: 'act.unreadable' } },
      });
    });

    it('plans with the entries of the forge that show the act', async () => {
      evaluate = () => rests('actor');
      const proof = whatForgeSays({
        ...({ proven: true, by: 'comment', actor: event.actor, event, newer: [] } as const),
        acts: ['comment 11'],
      });

      expect(await decide({}, ofEvent(), {}, proof)).toMatchObject({ acts: ['comment 11'] });
      evaluate = () => decided('not-fired');
      expect((await decide({}, ofEvent(), {}, proof)).acts).toBeUndefined();
    });

    it.each<[ForgeEvent['source'], number]>([
      ['webhook', 1],
      ['feed', 0],
    ])('refuses an act that another event told, and tells the security log of a %s: %d', async (source, lines) => {
      const recorded: object[] = [];
      evaluate = () => rests('actor');
      const { run } = await decide(
        {},
        ofEvent({ event: { ...event, source } }),
        {},
        {
          ...whatForgeSays({ proven: false, code: 'act.told_before', reason: 'event e0 told this act already' }),
          security: { record: (line) => void recorded.push(line) },
        },
      );

      expect(run.reason).toEqual(saying('refused (act.told_before): event e0 told this act already'));
      expect(recorded).toHaveLength(lines);
    });

    it('decides by what the forge shows where it does not fire by what the bot remembers, and is silent otherwise', async () => {
      const recorded: object[] = [];
      const security = { record: (line: object): void => void recorded.push(line) };
      const labeled = (labels_added: string[]): ForgeEvent => ({ ...event, data: { derived: { labels_added } } });
      const isAdded = (of: ForgeEvent | null): boolean =>
        ((of?.data['derived'] as { labels_added: string[] }).labels_added ?? []).includes('bug');
      evaluate = ({ event: of }) => ({
        ...(decided(isAdded(of) ? 'fired' : 'not-fired') as Decided),
        rests: { on: 'actor', reads: ['derived.labels_added'] },
      });
      deps.rules.candidates = () => [RULE];
      const shown = whatForgeSays({
        ...({ proven: true, by: 'timeline', actor: event.actor, acts: ['history labeled 1'] } as const),
        event: labeled(['bug']),
        newer: ['derived.labels_added'],
      });
      const subject = ofEvent({ event: labeled([]) });

      expect((await decide({}, subject, {}, { ...shown, security })).intents).toHaveLength(1);
      const refused = whatForgeSays({ proven: false, code: 'act.not_found', reason: 'no' });
      expect((await decide({}, subject, {}, { ...refused, security })).run).toMatchObject({
        state: 'not-fired',
        reason: saying(expect.not.stringContaining('refused')),
      });
      expect(recorded).toEqual([]);
    });

    it('gathers only what the forge confirms, so that a lie takes nobody’s place', async () => {
      windowOf = () => ({ key: 'k', windowMs: 60_000 });
      evaluate = () => rests('actor');
      const lie = whatForgeSays({ proven: false, code: 'act.not_found', reason: 'no such act' });
      expect((await decide({ gathers: true }, ofEvent(), {}, lie)).run).toMatchObject({
        state: 'not-fired',
        reason: saying('refused (act.not_found): no such act'),
      });

      const truth = whatForgeSays({
        ...({ proven: true, by: 'comment', actor: event.actor, event, newer: [] } as const),
        acts: ['comment 11'],
      });
      expect(await decide({ gathers: true }, ofEvent(), {}, truth)).toMatchObject({
        run: { state: 'gathering' },
        acts: ['comment 11'],
      });
    });

    it('waits while the forge cannot be asked, for a day', async () => {
      const away = {
        acts: {
          prove: async () => Promise.reject(new ForgeError('not-sent', 'nobody answers', { operation: 'getComment' })),
        },
      };
      evaluate = () => rests('actor');

      await expect(decide({}, ofEvent({ since: clock.now() }), {}, away)).rejects.toThrow('nobody answers');
      clock.advance(25 * 3_600_000);
      const late = ofEvent({ since: new Date(clock.now().getTime() - 25 * 3_600_000) });
      expect((await decide({}, late, {}, away)).run).toMatchObject({
        state: 'not-fired',
        trace: { refused: { code: 'act.unreadable' } },
      });
    });

    it('counts what the forge confirmed as no claim', async () => {
      evaluate = () => rests('actor');
      const opened = anEvent({ id: 'e1', kind: 'issue.opened', actor: { id: '3', login: 'ann' } });

      const { intents } = await decide({}, ofEvent({ event: opened }));

      expect(intents[0]?.countsFor).toEqual({ rule: true, actor: { id: '3', login: 'ann' } });
    });

    it('counts it as a claim still where the forge names nobody', async () => {
      evaluate = () => rests('act');
      const finished = anEvent({ id: 'e1', kind: 'workflow.finished', actor: { id: '3', login: 'ann' } });

      const { intents } = await decide(
        {},
        ofEvent({ event: finished }),
        {},
        whatForgeSays({ proven: true, by: 'task', actor: null, event: anEvent(), newer: [], acts: [] }),
      );

      expect(intents[0]?.countsFor).toMatchObject({ claim: 'e1' });
    });
  });

  it('wants nothing where no rule may answer, and asks none', async () => {
    evaluate = () => {
      throw new Error('nobody asked');
    };

    const plan = await decide({}, ofEvent({ holdReason: because('an echo of an echo') }));

    expect(plan).toMatchObject({
      run: { state: 'error', reason: saying('an echo of an echo'), trace: null, lookups: {} },
      intents: [],
    });
    expect(told).toEqual([]);
  });

  describe('of a rule whose needs are not met', () => {
    const lacks = defineReasons({ 'test.no-labels': ({ org }: { org: string }) => `${org} has no labels` });
    const held = { heldFor: (org: string, id: string) => (id === 'r' ? lacks('test.no-labels', { org }) : null) };

    it('is an error with the reason, and nothing of it', async () => {
      expect(await decide({}, undefined, {}, held)).toMatchObject({
        run: { rule: 'r', state: 'error', reason: saying('held back: acme has no labels') },
        intents: [],
      });
    });

    it('is made all the same where it writes nothing, or of another rule', async () => {
      expect((await decide({ mode: 'dry-run' }, undefined, {}, held)).run.state).toBe('open');
      expect((await decide({ mode: 'shadow' }, undefined, {}, held)).run.state).toBe('open');
      expect((await decide({}, undefined, { shadow: true }, held)).run.state).toBe('done');
      expect((await decide({ id: 'other' }, undefined, {}, held)).run.state).toBe('open');
    });
  });

  describe('of a rule with a limit', () => {
    it.each([
      [1, 2, 'open'],
      [2, 2, 'error'],
      [3, 2, 'error'],
      [3, null, 'open'],
    ])('after %i runs of %s is %s', async (runs, runsPerHour, state) => {
      fired = runs;
      evaluate = (_, answers) => ('l' in answers ? decided('fired') : ASKS);

      const { run } = await decide({ runsPerHour });

      expect(run.state).toBe(state);
      expect(scopes).toHaveLength(state === 'error' ? 0 : 1);
      if (state === 'error')
        expect(textOf(run.reason)).toBe(`held: ${runs} runs in the last hour, the limit is 2 (limits.runs_per_hour)`);
    });

    it('asks the journal only where there is one', async () => {
      const journal = { firedInLastHour: () => Promise.reject(new Error('nobody asked')) };

      expect((await decide({}, undefined, {}, { journal })).run.state).toBe('open');
      expect((await decide({ runsPerHour: null }, undefined, {}, { journal })).run.state).toBe('open');
    });
  });

  describe('of a rule that gathers', () => {
    const window = { key: 'k', windowMs: 60_000 };

    it('waits for its window when it holds, or when a read must tell', async () => {
      windowOf = () => window;
      for (const early of [decided('fired'), ASKS]) {
        evaluate = () => early;
        expect(await decide({ gathers: true })).toMatchObject({
          run: { state: 'gathering' },
          intents: [],
          gathering: window,
        });
      }
      expect(scopes).toEqual([]);
    });

    it('is made at once when it does not hold, when it has no window, and when it is asked for', async () => {
      windowOf = () => window;
      evaluate = () => decided('not-fired');
      expect(await decide({ gathers: true })).toMatchObject({
        run: { state: 'not-fired', reason: saying('so it is') },
      });

      evaluate = () => decided('fired');
      expect((await decide({ gathers: true }, undefined, { atOnce: true })).run.state).toBe('open');
      expect((await decide()).run.state).toBe('open');
      windowOf = () => null;
      expect((await decide({ gathers: true })).run.state).toBe('open');
    });

    it('is an error when its key cannot be told', async () => {
      windowOf = () => ({ problem: 'coalesce.key: no such field' });

      expect(await decide({ gathers: true })).toMatchObject({
        run: { state: 'error', reason: saying('coalesce.key: no such field') },
        intents: [],
      });
    });
  });

  it('reads as one pass for all subjects of a tick, and for each event or order anew', async () => {
    evaluate = (_, answers) => ('l' in answers ? decided('fired') : ASKS);
    const where = { forge: 'main', org: 'acme', repo: event.repo };

    await decide();
    await decide({}, ofTick());
    await decide({}, ofTick({ cause: { kind: 'apply', by: 'olga', plan: 'p', subject: '7' } }));

    expect(scopes).toEqual([where, { ...where, pass: 't1' }, where]);
    expect(scopes.map((scope) => 'pass' in scope)).toEqual([false, true, false]);
  });

  it('is about the account that the bot has on the forge', async () => {
    evaluate = () => decided('fired', 'user_variable.create', { name: 'v', value: 'x' });

    // What it may have read stays known: private text does not go where others read it.
    const readFrom = { id: '7', owner: 'acme', name: 'app' };

    expect((await decide()).intents[0]?.target).toEqual({ kind: 'account', login: 'forgehand', readFrom });
    expect((await decide({}, undefined, {}, { accounts: { self: () => null } })).intents[0]?.target).toEqual({
      kind: 'account',
      login: '',
      readFrom,
    });
  });

  it('ends a fault of our own as an error of the rule, and tells it', async () => {
    const fault = new TypeError('canary');
    evaluate = () => {
      throw fault;
    };

    expect(await decide()).toMatchObject({
      run: { state: 'error', reason: saying('internal fault (TypeError)'), trace: null },
      intents: [],
    });
    expect(told).toEqual([[{ rule: 'r', error: fault }, 'rule.failed']]);
  });

  describe('of a rule that is tried', () => {
    const rollout = { resolve: async () => ({ mode: 'shadow' as const, note: 'canary 10%: only recorded' }) };

    it('is in the mode of its stage, and says why', async () => {
      expect(await decide({}, undefined, {}, { rollout })).toMatchObject({
        run: { mode: 'dry-run', reason: saying('so it is; canary 10%: only recorded') },
        intents: [{ mode: 'dry-run' }],
      });
    });

    it('is by the file alone where nothing is to be said, and in a shadow revision', async () => {
      const silent = { resolve: async () => ({ mode: 'live' as const, note: null }) };

      expect((await decide({}, undefined, {}, { rollout: silent })).run).toMatchObject({
        mode: 'live',
        reason: saying('so it is'),
      });
      expect((await decide({}, undefined, { shadow: true }, { rollout })).run).toMatchObject({
        rule: 'shadow/r',
        mode: 'dry-run',
        reason: saying('so it is'),
      });
    });
  });
});
