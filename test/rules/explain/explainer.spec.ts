import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ForgeEvent } from '../../../src/core/event.js';
import type {
  DecisionExplanation,
  EventExplanation,
  Explanation,
  RunExplanation,
} from '../../../src/insight/explanation.js';
import type { LookupAnswers } from '../../../src/rules/language/revision.js';
import { anEvent } from '../../builders/arrivals.js';
import { anIntent, aRun, claimOne } from '../../builders/journal.js';
import { HistoryRig } from './history-rig.js';
import { because } from '../../builders/reasons.js';
import { runReason } from '../../../src/core/run-reasons.js';
import type { Run } from '../../../src/core/run.js';

const RULES = `version: 1
org: acme
rules:
  - id: release-line
    on: tag.created
    where: {repo: acme/app, tag: ["v*.0", "w*"]}
    lookup:
      line: {use: branch.get, with: {branch: "release/\${{ minor(event.tag) }}"}, on_missing: none}
    if:
      by_ann: event.actor.login == "ann"
      absent: lookups.line == null || !lookups.line.protected
    do: {branch.create: {new_branch_name: "release/\${{ minor(event.tag) }}", old_ref_name: "\${{ event.tag }}"}}
  - id: two-away
    on: tag.created
    where: {tag: "x*"}
    if: event.actor.login == "bob"
    do: {milestone.ensure: {title: a}}
  - id: one-away
    on: tag.created
    if: event.actor.login == "bob"
    do: {milestone.ensure: {title: a}}
  - id: on-push
    on: push
    do: {milestone.ensure: {title: a}}
  - id: always
    on: tag.created
    do: {milestone.ensure: {title: "\${{ event.tag }}"}}
policies:
  - id: furniture
    subjects: {repos: ["*"]}
    milestones: [{title: backlog}]
`;

const EVENT: ForgeEvent = anEvent({
  kind: 'tag.created',
  data: { tag: 'v1.4.0', ref: 'refs/tags/v1.4.0' },
  repo: { id: '7', owner: 'acme', name: 'app', full_name: 'acme/app', private: false, archived: false },
});
const LATER = new Date(EVENT.storedAt.getTime() + 60_000);
const HOOK_TOKEN = 'canary-token';

let rig: HistoryRig;

async function decision(rule: string, revision?: string): Promise<DecisionExplanation> {
  return about('decision', await rig.explainer.explain({ id: EVENT.id, rule, revision }));
}

function about<About extends Explanation['about']>(
  kind: About,
  explanation: Explanation,
): Extract<Explanation, { about: About }> {
  if (explanation.about !== kind) throw new Error(`about ${explanation.about}`);
  return explanation as Extract<Explanation, { about: About }>;
}

async function aDecidedRun(
  rule: string,
  world: LookupAnswers = {},
): Promise<{ id: string; explained: RunExplanation }> {
  const { id, revision } = await rig.activate(RULES);
  const run = await rig.keepRun(id, EVENT, rig.decide(revision, EVENT, rule, world));
  return { id: run.id, explained: about('run', await rig.explainer.explain({ id: run.id })) };
}

describe('insight/explainer, acts of the bot', () => {
  it.each([
    ['starts', 'fired', []],
    ['other', 'rejected', ['forgehand (the bot, for other)']],
    [null, 'rejected', ['forgehand (the bot)']],
  ])(
    'tells of an act for the rule %s what a rule makes of it that takes those of starts',
    async (by, verdict, seen) => {
      const happened = anEvent({
        ...EVENT,
        id: 'made',
        kind: 'branch.created',
        actor: { id: '99', login: 'forgehand' },
        data: { branch: 'x' },
      });
      await rig.keepEvent(happened);
      await rig.activate(`version: 1
org: acme
rules:
  - {id: starts, on: tag.created, do: {branch.create: {new_branch_name: "\${{ event.tag }}"}}}
  - {id: follows, on: branch.created, where: {actor: ["bot:starts"]}, do: {milestone.ensure: {title: x}}}
`);
      if (by !== null) rig.behind.set('made', by);

      const told = about('decision', await rig.explainer.explain({ id: 'made', rule: 'follows' }));

      expect(told).toMatchObject({ verdict, filters: seen.map((one) => ({ filter: 'actor', seen: one })) });
      expect(told.filters).toHaveLength(seen.length);
    },
  );
});

beforeEach(async () => {
  rig = new HistoryRig();
  await rig.keepEvent(EVENT);
});

describe('insight/explainer, a run', () => {
  it('tells the event with its arrivals, the rule, each condition and what it saw, the reads, in short', async () => {
    const { explained } = await aDecidedRun('release-line', {
      line: { value: { name: 'release/1.4', protected: true, user_token: HOOK_TOKEN } },
    });

    expect(explained).toMatchObject({
      run: { rule: 'release-line', state: 'not-fired' },
      event: {
        kind: 'tag.created',
        repo: 'acme/app',
        actor: 'ann',
        source: 'webhook',
        arrivals: [{ source: 'webhook' }],
      },
      revision: { state: 'active' },
      place: { file: 'rules/a.yaml', line: 4 },
      look: { file: 'rules/a.yaml', line: 11, text: 'absent: lookups.line == null || !lookups.line.protected' },
      conditions: [
        { name: 'by_ann', state: 'true', seen: { 'event.actor.login': 'ann' } },
        {
          name: 'absent',
          state: 'false',
          seen: { 'lookups.line': '(map of 3)', 'lookups.line.protected': true },
          because: [
            { text: 'lookups.line == null', value: false, place: { line: 11, col: 15 } },
            { text: 'lookups.line.protected', value: true },
          ],
        },
      ],
      lookups: [
        { name: 'line', use: 'branch.get', answer: '{name: "release/1.4", protected: true, user_token: (hidden)}' },
      ],
    });
    expect(JSON.stringify(explained)).not.toContain(HOOK_TOKEN);
  });

  it('tells what came of each effect, in the words of the forge, for the run and for the effect', async () => {
    const { id } = await rig.activate(RULES);
    const run = aRun({ id: 'run-7', revisionId: id, rule: 'always', cause: { kind: 'event', eventId: EVENT.id } });
    await rig.journal.recordDecision({}, [
      { run, intents: [anIntent({ id: 'intent-7', runId: 'run-7', itemKey: 'v1.4.0', action: 'milestone.ensure' })] },
    ]);
    await claimOne(rig.journal, 'intent-7', 'me', 60_000);
    await rig.journal.markSent('intent-7', 1, { id: 'attempt-7', operation: 'createMilestone', requestHash: 'x' });
    await rig.journal.recordAnswer('attempt-7', {
      outcome: 'refused',
      status: 422,
      message: 'title is too long',
      objectId: null,
    });
    await rig.journal.move({
      intentId: 'intent-7',
      epoch: 1,
      from: ['sent'],
      to: 'refused',
      reason: because('the forge refused it'),
    });

    for (const asked of ['run-7', 'intent-7']) {
      expect(await rig.explainer.explain({ id: asked })).toMatchObject({
        about: 'run',
        intentId: asked === 'intent-7' ? 'intent-7' : null,
        look: null,
        intents: [
          {
            action: 'milestone.ensure',
            itemKey: 'v1.4.0',
            state: 'refused',
            reason: 'the forge refused it',
            attempts: [
              { n: 1, operation: 'createMilestone', outcome: 'refused', status: 422, message: 'title is too long' },
            ],
          },
        ],
      });
    }
  });

  it('is told also where its revision, its event or the trace are not there any more', async () => {
    const run = aRun({
      id: 'run-8',
      revisionId: 'gone',
      cause: { kind: 'event', eventId: 'gone' },
      trace: null,
      state: 'error',
      reason: because('held: 3 runs in the last hour'),
    });
    await rig.journal.recordDecision({}, [{ run, intents: [] }]);

    expect(await rig.explainer.explain({ id: 'run-8' })).toMatchObject({
      run: { reason: 'held: 3 runs in the last hour' },
      event: null,
      revision: { state: 'gone' },
      look: null,
      conditions: [],
      notes: ['its event gone is not kept any more'],
    });
  });

  it('tells what the conditions saw also where the run kept no trace: the rule of then is evaluated again', async () => {
    const { id, revision } = await rig.activate(RULES);
    const decided = rig.decide(revision, EVENT, 'one-away', {});
    const reason = runReason('run.not-fired', { because: decided.report.reason });
    const traced = await rig.keepRun(id, EVENT, decided, { reason });
    const untraced = await rig.keepRun(id, EVENT, decided, { reason, trace: null, runKey: 'other' });
    await rig.activate(RULES.replaceAll('"bob"', '"cy"'), LATER);

    const [expected, derived] = await Promise.all(
      [traced, untraced].map(async (run) => about('run', await rig.explainer.explain({ id: run.id }))),
    );

    expect(derived).toEqual({ ...expected, run: { ...expected?.run, id: untraced.id } });
    expect(derived?.conditions).toMatchObject([{ name: 'if', state: 'false', seen: { 'event.actor.login': 'ann' } }]);
    expect(derived?.look).toMatchObject({ text: 'if: event.actor.login == "bob"' });
  });

  it.each<[string, Partial<Run>]>([
    ['its revision is not kept any more', { revisionId: 'gone' }],
    ['its rule comes to another reason', { reason: runReason('run.not-fired', { because: because('another') }) }],
    ['its rule fires today', { rule: 'always' }],
  ])('says that its conditions cannot be shown where %s', async (_, over) => {
    const { id, revision } = await rig.activate(RULES);
    const decided = rig.decide(revision, EVENT, 'one-away', {});
    const reason = runReason('run.not-fired', { because: decided.report.reason });
    const run = await rig.keepRun(id, EVENT, decided, { trace: null, reason, ...over });

    const explained = about('run', await rig.explainer.explain({ id: run.id }));

    expect(explained).toMatchObject({ conditions: [], look: null, run: { state: 'not-fired' } });
    expect(explained.notes).toEqual([expect.stringContaining('cannot be shown')]);
  });

  it('is told on a tick, and as a policy with what it compared', async () => {
    const trace = { labels: { wanted: 2, missing: ['a'], drift: [] } };
    await rig.journal.recordDecision({}, [
      {
        run: aRun({ id: 'run-9', kind: 'policy', cause: { kind: 'tick', tickId: 't', subject: '7' }, trace }),
        intents: [],
      },
    ]);

    expect(await rig.explainer.explain({ id: 'run-9' })).toMatchObject({
      event: null,
      sections: trace,
      conditions: [],
      run: { cause: { kind: 'tick', tickId: 't' } },
    });
  });
});

describe('insight/explainer, a rule and an event', () => {
  it.each<[string, Partial<DecisionExplanation>]>([
    ['always', { verdict: 'fired', reason: 'no conditions; 1 effect planned', look: null }],
    ['on-push', { verdict: 'rejected', reason: 'on: tag.created is none of push' }],
    [
      'one-away',
      {
        verdict: 'not-fired',
        reason: 'condition "if": event.actor.login == "bob" is false (event.actor.login = "ann")',
      },
    ],
    ['two-away', { verdict: 'rejected', reason: 'where.tag: tag v1.4.0 is none of x*' }],
    ['release-line', { verdict: 'unknown', reason: 'condition "absent" is not known: the answer of lookup "line"' }],
    ['furniture', { verdict: 'rejected', reason: 'tag.created of acme/app is no cause for this policy' }],
    ['nothing', { verdict: 'absent', reason: 'there is no rule "nothing" in this revision' }],
  ])('%s', async (rule, expected) => {
    await rig.activate(RULES);

    expect(await decision(rule)).toMatchObject(expected);
  });

  it('names the filter, its patterns, what it saw and where it stands, and still looks at the conditions', async () => {
    await rig.activate(RULES);

    expect(await decision('two-away')).toMatchObject({
      look: { line: 15, col: 18, text: 'where: {tag: "x*"}' },
      filters: [{ filter: 'tag', wanted: ['x*'], seen: 'v1.4.0', place: { file: 'rules/a.yaml', line: 15 } }],
      conditions: [{ name: 'if', state: 'false', seen: { 'event.actor.login': 'ann' } }],
    });
  });

  it('goes by the answers, the time and the revision of its run', async () => {
    await aDecidedRun('release-line', { line: { missing: true } });
    await rig.activate(RULES.replace('"ann"', '"bob"'), LATER);

    expect(await decision('release-line')).toMatchObject({
      verdict: 'fired',
      revision: { state: 'replaced' },
      runs: [{ state: 'done' }],
      lookups: [{ name: 'line', answer: 'not there' }],
    });
    expect(await decision('release-line', 'active')).toMatchObject({
      verdict: 'not-fired',
      revision: { state: 'active' },
    });
  });

  it('goes by the rules of then where it has no run, and by those of now where it was not there then', async () => {
    const then = await rig.activate(RULES);
    await rig.activate(RULES.replace('"bob"', '"ann"').replace('id: one-away', 'id: renamed'), LATER);

    expect(await decision('two-away')).toMatchObject({
      revision: { id: then.id },
      notes: [expect.stringContaining('rules of then')],
    });
    expect(await decision('renamed')).toMatchObject({
      revision: { state: 'active' },
      notes: [expect.stringContaining('was not there')],
    });
    expect(await decision('one-away', then.id)).toMatchObject({ verdict: 'not-fired' });
    await expect(decision('one-away', 'nope')).rejects.toThrow('acme has no revision nope');
  });

  it('goes by the rules and the account that decided the event, whenever they were loaded', async () => {
    await rig.activate(RULES.replace('"bob"', '"eve"'));
    const decider = await rig.activate(RULES.replace('where: {tag: "x*"}', 'where: {actor: [bot]}'), LATER);
    const bot = { id: EVENT.actor?.id ?? '', login: EVENT.actor?.login ?? '' };
    await rig.journal.recordDecision({ eventId: EVENT.id, by: { revisionId: decider.id, bot } }, []);

    expect(await decision('two-away')).toMatchObject({
      revision: { id: decider.id },
      filters: [],
      conditions: [{ state: 'false' }],
      notes: [],
    });
    await rig.activate(RULES.replace('"bob"', '"ann"'), new Date(LATER.getTime() + 1));
    expect(await decision('two-away')).toMatchObject({
      revision: { id: decider.id },
      notes: [expect.stringContaining('rules of then, when the event was decided')],
    });
  });

  it('says so where no rules were loaded yet, or ever, or do not load any more', async () => {
    expect(await decision('always')).toMatchObject({
      verdict: 'unknown',
      reason: 'no good revision of the rules of acme was ever loaded',
    });

    await rig.activate(RULES, LATER);
    expect(await decision('always')).toMatchObject({
      verdict: 'fired',
      notes: [expect.stringContaining('no revision was loaded yet'), expect.stringContaining('no run of it is stored')],
    });

    await rig.revisions.save({
      id: 'old',
      org: 'acme',
      hash: 'old',
      files: [{ path: 'a.yaml', text: 'version: 7\n' }],
      state: 'active',
      problems: [],
      loadedAt: LATER,
    });
    expect(await decision('always')).toMatchObject({
      verdict: 'unknown',
      reason: expect.stringMatching(/^revision old does not load any more: a.yaml:1:/),
    });
  });

  it('does not hide that it cannot know an act of the bot by itself', async () => {
    rig = new HistoryRig(null);
    await rig.keepEvent(EVENT);
    await rig.activate(RULES);

    expect((await decision('always')).notes).toContainEqual(
      expect.stringContaining('who the bot is on main is not known here'),
    );
  });

  it('finds the event by an arrival that told it', async () => {
    await rig.activate(RULES);
    const [arrival] = await rig.inbox.arrivalsOfEvent(EVENT.id);

    expect(await rig.explainer.explain({ id: arrival?.id ?? '', rule: 'always' })).toMatchObject({
      about: 'decision',
      event: { id: EVENT.id },
    });
    await expect(rig.explainer.explain({ id: 'nope' })).rejects.toThrow(
      'there is no run, intent, event or arrival nope',
    );
    await expect(rig.explainer.explain({ id: 'nope', rule: 'x' })).rejects.toThrow('there is no event or arrival nope');
  });
});

describe('insight/explainer, an event', () => {
  it('lists every rule and policy, those first that took it, then the nearest miss', async () => {
    await rig.activate(RULES);

    const { rules, revision } = about(
      'event',
      await rig.explainer.explain({ id: EVENT.id }),
    ) satisfies EventExplanation;

    expect(rules.map(({ rule, verdict, away, unknown }) => [rule, verdict, away, unknown])).toEqual([
      ['always', 'fired', 0, 0],
      ['release-line', 'unknown', 0, 1],
      ['one-away', 'not-fired', 1, 0],
      ['two-away', 'rejected', 2, 0],
      ['on-push', 'rejected', 1, 0],
      ['furniture', 'rejected', 1, 0],
    ]);
    expect(rules[2]).toMatchObject({
      reason: 'condition "if": event.actor.login == "bob" is false (event.actor.login = "ann")',
      place: { line: 20 },
    });
    expect(revision?.state).toBe('active');
  });

  it('uses the answers that its runs kept', async () => {
    const { id } = await aDecidedRun('release-line', { line: { missing: true } });

    const { rules } = about('event', await rig.explainer.explain({ id: EVENT.id }));

    expect(rules.find(({ rule }) => rule === 'release-line')).toMatchObject({ verdict: 'fired', runId: id });
  });
});
