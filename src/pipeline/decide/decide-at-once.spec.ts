import { beforeEach, describe, expect, it } from '@jest/globals';
import { anEvent } from '../../../test/builders/arrivals.js';
import { honestActs } from '../../../test/fakes/honest-acts.js';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import { because } from '../../../test/builders/reasons.js';
import { given } from '../../../test/builders/given.js';
import { actions } from '../../actions/index.js';
import { Encryptor } from '../../core/encryptor.js';
import type { ForgeEvent } from '../../core/event.js';
import { silentLogger } from '../../core/logger.js';
import type { Ownership } from '../../core/repository-owner.js';
import { orderKeyOf } from '../../core/target.js';
import { Secret } from '../../core/secret.js';
import { silentSecurityLog } from '../../core/security-log.js';
import type { Evaluation } from '../../rules/language/revision.js';
import type { Candidate } from '../rule-engine.port.js';
import { DecidingSide, type DecidingParts } from '../../../test/builders/deciding.js';
import { lacksTrace, mayLeaveOutTrace } from './left-out-trace.js';
import type { ActiveRevisions } from '../../rules/revisions/active-revisions.port.js';
import type { RuleEngine } from '../rule-engine.port.js';
import type { Spreadable } from '../../../test/fakes/spreadable.js';

const ACTIVE = {
  id: 'rev-1',
  revision: { org: 'acme', hash: 'h', rules: [], policies: [] },
  loadedAt: new Date(0),
};
const OWNERSHIP: Ownership = { is: 'ours', repository: { id: '7', owner: 'acme', name: 'app' } };
const REPOSITORY = { id: '7', owner: 'acme', name: 'app', full_name: 'acme/app' };
const NOT_FIRED: Evaluation = {
  kind: 'decided',
  report: { rule: 'r', verdict: 'not-fired', reason: because('no'), trace: [] },
  steps: [],
};
const FIRED: Evaluation = {
  kind: 'decided',
  report: { rule: 'r', verdict: 'fired', reason: because('yes'), trace: [] },
  steps: [
    {
      stepId: 's',
      stepNo: 0,
      action: 'label.ensure',
      items: ['bug', 'help'].map((name) => ({ itemKey: name, params: { name, color: '#000000' } })),
    },
    {
      stepId: 't',
      stepNo: 1,
      action: 'label.ensure',
      items: [{ itemKey: 'later', params: { name: 'later', color: '#000000' } }],
    },
  ],
};
const ASKS: Evaluation = {
  kind: 'needs-lookup',
  request: { as: 'l', use: 'branch.get', params: {}, onMissing: 'none' },
};

describe('pipeline/decide: at once', () => {
  let candidates: Candidate[];
  let evaluate: () => Evaluation;
  let ownership: Ownership | null;
  let forgotten: string[];
  let rung: string[];
  let counted: string[];
  let deps: DecidingParts;
  const engine = (): Spreadable<RuleEngine> => deps.rules;
  const revisions = (): Spreadable<ActiveRevisions> => deps.revisions;
  let event: ForgeEvent;

  const unasked = async (): Promise<never> => {
    throw new Error('it must ask nobody');
  };

  beforeEach(() => {
    candidates = [{ id: 'r', kind: 'rule', mode: 'live' }];
    evaluate = () => NOT_FIRED;
    ownership = OWNERSHIP;
    [forgotten, rung, counted] = [[], [], []];
    event = anEvent({ id: 'e1' });
    let ids = 0;
    deps = {
      rules: {
        candidates: () => candidates,
        find: () => null,
        subjects: () => [],
        evaluate: () => evaluate(),
        isCheap: () => true,
        ledToBy: () => new Set(),
        windowOf: () => null,
      },
      revisions: { active: async () => ACTIVE },
      echoes: { look: unasked, openBreaker: unasked, effectsToldBy: () => ['effect-1'] },
      owners: {
        of: unasked,
        peek: () => ownership,
        forget: (forge, id) => void forgotten.push(`${forge} ${id}`),
      },
      lookups: { read: unasked },
      acts: honestActs,
      security: silentSecurityLog,
      accounts: { self: () => ({ id: '5', login: 'forgehand' }) },
      inbox: { event: unasked },
      inventory: { list: unasked },
      journal: new Proxy({}, { get: () => unasked }) as DecidingParts['journal'],
      queue: { ring: (topic, org) => void rung.push(`${topic} of ${org}`) },
      alerts: { raise: () => undefined, resolve: () => undefined },
      counted: ({ rule, verdict }) => void counted.push(`${rule} ${verdict}`),
      tools: { actions, encryptor: new Encryptor(new Secret('ab'.repeat(32))), newId: () => `id-${(ids += 1)}` },
      clock: new ManualClock(),
      logger: silentLogger,
    };
  });

  const decide = (more: Partial<DecidingParts> = {}) => new DecidingSide({ ...deps, ...more }).atHand.decide(event);

  it('decides what no rule wants, and keeps no trace of it', async () => {
    expect(given(await decide()).runs).toMatchObject([
      { run: { rule: 'r', state: 'not-fired', trace: null }, intents: [] },
    ]);
    candidates = [];
    expect(await decide()).toEqual({ by: { revisionId: 'rev-1', bot: { id: '5', login: 'forgehand' } }, runs: [] });
  });

  it('decides what a rule wants where the owner of the repository is known, and tells about it after the commit', async () => {
    evaluate = () => FIRED;
    const decided = given(await decide());

    expect(decided.runs[0]?.intents.map(({ itemKey }) => itemKey)).toEqual(['bug', 'help', 'later']);
    expect([rung, counted]).toEqual([[], []]);

    await new DecidingSide(deps).recorder.written([decided], []);
    expect(rung).toEqual(['intents of acme']);
    expect(counted).toEqual(['r fired']);
  });

  it('leaves what needs an answer of the forge to the longer way', async () => {
    evaluate = () => ASKS;
    expect(await decide()).toBeNull();

    evaluate = () => FIRED;
    ownership = null;
    expect(await decide()).toBeNull();
  });

  it.each<[string, Partial<Candidate>]>([
    ['a policy', { kind: 'policy' }],
    ['a rule with a limit', { runsPerHour: 3 }],
    ['a rule that gathers', { gathers: true }],
    ['a rule that is staged', { canary: {} } as never],
  ])('leaves %s to the longer way, and with it the whole event', async (_what, over) => {
    candidates = [
      { id: 'r', kind: 'rule', mode: 'live' },
      { id: 'other', kind: 'rule', mode: 'live', ...over },
    ];

    expect(await decide()).toBeNull();
  });

  it('leaves what may take long to the longer way', async () => {
    const rules = { ...engine(), isCheap: () => false };
    expect(await decide({ rules })).toBeNull();
    expect(await decide({ rules: { ...rules, isCheap: () => true } })).not.toBeNull();
  });

  it('decides nothing while no rules are active, while others are tried beside them, or where the event proposes rules', async () => {
    expect(await decide({ revisions: { active: async () => null } })).toBeNull();
    expect(await decide({ revisions: { ...revisions(), shadow: async () => ACTIVE } })).toBeNull();
    expect(await decide({ revisions: { ...revisions(), shadow: async () => null } })).not.toBeNull();
    expect(await decide({ proposals: { mayPropose: () => true } })).toBeNull();
    expect(await decide({ proposals: { mayPropose: () => false } })).not.toBeNull();
  });

  it('decides nothing where somebody is told what became of it', async () => {
    const planned = given(await decide()).runs;

    expect(await decide({ answers: { decide: unasked, planned: () => planned as never } })).toBeNull();
    expect(await decide({ answers: { decide: unasked, planned: () => [] } })).not.toBeNull();
  });

  it('does not swallow what is broken', async () => {
    const rules = {
      ...engine(),
      candidates: (): never => {
        throw new Error('broken');
      },
    };
    await expect(decide({ rules })).rejects.toThrow('broken');
    await expect(
      decide({
        answers: {
          decide: unasked,
          planned: () => {
            throw new Error('broken too');
          },
        },
      }),
    ).rejects.toThrow('broken too');
  });

  describe('what of ours an event may touch', () => {
    const touchedBy = (over: Partial<ForgeEvent>) => new DecidingSide(deps).atHand.touchedBy(anEvent(over));

    it('is what it may tell of effects, and the order key where something waits for its kind', () => {
      expect(touchedBy({ kind: 'issue.opened' })).toEqual({ effectKeys: ['effect-1'], orderKey: null });
      expect(touchedBy({ kind: 'pull_request.labeled' })).toEqual({
        effectKeys: ['effect-1'],
        orderKey: orderKeyOf('main', { kind: 'repository', ...REPOSITORY }),
      });
      expect(touchedBy({ kind: 'pull_request.labeled', repo: null })).toMatchObject({ orderKey: null });
      deps = { ...deps, echoes: { look: unasked, openBreaker: unasked, effectsToldBy: () => null } };
      expect(touchedBy({ kind: 'issue.opened' })).toBeNull();
    });

    it('is not known of an event that may give the repository another owner, which is asked for anew', () => {
      expect(touchedBy({ kind: 'repository.transferred' as never })).toBeNull();
      expect(forgotten).toEqual(['main 7']);
      expect(touchedBy({ kind: 'issue.opened' })).not.toBeNull();
      expect(forgotten).toEqual(['main 7']);
    });
  });
});

describe('pipeline/decide/left-out-trace', () => {
  const rule = { kind: 'rule', mode: 'live' } as const;
  const event = anEvent();

  it.each<[string, Parameters<typeof mayLeaveOutTrace>, boolean]>([
    ['a rule that does not want an event', [rule, event, { verdict: 'not-fired' }, {}], true],
    ['one that is paused', [{ ...rule, mode: 'shadow' }, event, { verdict: 'not-fired' }, {}], false],
    ['one that wants it', [rule, event, { verdict: 'fired' }, {}], false],
    ['a policy', [{ ...rule, kind: 'policy' }, event, { verdict: 'not-fired' }, {}], false],
    ['a schedule', [rule, null, { verdict: 'not-fired' }, {}], false],
    ['an effect of a known rule', [rule, { ...event, byRule: 'fix' }, { verdict: 'not-fired' }, {}], false],
    ['what was read', [rule, event, { verdict: 'not-fired' }, { l: null }], false],
  ])('of %s: %#', (_what, asked, expected) => {
    expect(mayLeaveOutTrace(...asked)).toBe(expected);
  });

  const run = { kind: 'rule', state: 'not-fired', trace: null, cause: { kind: 'event', eventId: 'e' } } as const;

  it.each<[string, Parameters<typeof lacksTrace>[0], boolean]>([
    ['a run without one', run, true],
    ['a run that has one', { ...run, trace: [] }, false],
    ['a run that fired', { ...run, state: 'done' }, false],
    ['a run of a policy', { ...run, kind: 'policy' }, false],
    ['a run of a schedule', { ...run, cause: { kind: 'tick', tickId: 't', subject: '', at: '' } }, false],
  ])('derives it for %s: %#', (_what, asked, expected) => {
    expect(lacksTrace(asked)).toBe(expected);
  });
});
