import { beforeEach, describe, expect, it } from '@jest/globals';
import { anEvent } from '../../../test/builders/arrivals.js';
import { aRun, anIntent, claimOne } from '../../../test/builders/journal.js';
import { because } from '../../../test/builders/reasons.js';
import { honestActs } from '../../../test/fakes/honest-acts.js';
import { InMemoryJournalStore } from '../../../test/fakes/in-memory-journal-store.js';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import { actions } from '../../actions/index.js';
import { ANSWER_RULE } from '../../core/own-rules.js';
import { Encryptor } from '../../core/encryptor.js';
import type { ForgeEvent } from '../../core/event.js';
import { textOf } from '../../core/reason.js';
import { intentReason, runReason } from '../../core/run-reasons.js';
import { say } from '../../actions/reasons.js';
import { Secret } from '../../core/secret.js';
import type { RecordedRun } from '../journal-store.port.js';
import type { ActiveRevision } from '../../rules/revisions/active-revisions.port.js';
import { answerReason } from './answer-reasons.js';
import { aConfig } from '../../../test/builders/a-config.js';
import type { ActProver } from '../decide/act-proof.js';
import { Answers } from './answers.js';
import { OwnRuns } from './own-runs.js';

const COMMAND: Partial<ForgeEvent> = {
  id: 'event-1',
  kind: 'comment.created',
  data: { number: 12, comment: { id: '345', body: '/merge now' }, issue: { id: '5' } },
};
const refusedRun = (over = {}): RecordedRun => ({
  run: aRun({ state: 'not-fired', reason: runReason('run.not-fired', { because: because('x') }), ...over }),
  intents: [],
});

describe('pipeline/answer/answers', () => {
  let clock: ManualClock;
  let journal: InMemoryJournalStore;
  let answers: Answers;
  /** Rule r1 takes commands, rule r2 does not. */
  const active = {
    id: 'rev-1',
    loadedAt: new Date(0),
    revision: {
      rules: [
        { id: 'r1', mode: 'live', disabled: null, program: { steps: [], where: { command: [{ literal: null }] } } },
        { id: 'r2', mode: 'live', disabled: null, program: { where: { command: null } } },
      ],
    },
  } as unknown as ActiveRevision;

  beforeEach(() => {
    clock = new ManualClock();
    journal = new InMemoryJournalStore(clock);
    answers = answersOf();
  });

  function answersOf({ enabled = true, acts = honestActs }: { enabled?: boolean; acts?: ActProver } = {}): Answers {
    let n = 0;
    const tools = { actions, encryptor: new Encryptor(new Secret('ab'.repeat(32))), newId: () => `answer-${(n += 1)}` };
    return new Answers(
      aConfig({ orgs: [{ name: 'acme', forge: 'main', answers: { enabled, bots: ['renovate'] } }] }),
      { get: () => ({ client: {} as never, offers: () => true }) },
      { self: () => ({ id: '5', login: 'forgehand' }) },
      acts,
      { read: async () => ({ missing: true }) },
      journal,
      new OwnRuns(tools, clock),
      clock,
    );
  }

  const anAct = (over: Partial<ForgeEvent> = {}): ForgeEvent => anEvent({ ...COMMAND, storedAt: clock.now(), ...over });

  /** Records what was decided with its answer, as the flow does. */
  async function record(event: ForgeEvent, decided: RecordedRun): Promise<void> {
    await journal.recordDecision({ eventId: event.id }, [decided, ...answers.planned(active, event, [decided])]);
  }

  /** What is due of the answers is decided. @returns the comments that they want */
  async function look(event: ForgeEvent): Promise<string[]> {
    clock.advance(2_000);
    const comments: string[] = [];
    for (const id of await journal.dueRuns(9)) {
      const run = await journal.run(id);
      const plan = run && (await answers.decide(run, event, active));
      if (!plan) continue;
      await journal.decideGathered(plan);
      comments.push(
        ...plan.intents.flatMap(({ params }) => (typeof params['body'] === 'string' ? [params['body']] : [])),
      );
    }
    return comments;
  }

  it('tells whoever gave a command that was refused, in a comment and a reaction to the command', async () => {
    const event = anAct();
    await record(event, refusedRun());

    const [comment = ''] = await look(event);

    expect(comment).toBe(
      `@ann \`/merge\`: ${textOf(answerReason('answer.condition', { on: 'issue' }))}\n\n<sub>For admins: \`forgehand runs run-1\`</sub>`,
    );
    const [run] = await journal.runs({ rule: ANSWER_RULE, limit: 9 });
    const intents = await journal.intentsOfRun(run?.id ?? '');
    expect(run).toMatchObject({ state: 'open', mode: 'live', cause: { kind: 'event', eventId: 'event-1' } });
    expect(intents).toMatchObject([
      {
        action: 'issue.comment',
        params: { number: '12', key: 'answer 345' },
        countsFor: { rule: true, actor: { id: '3' } },
      },
      { action: 'issue.react', params: { number: '12', comment: '345', reaction: 'confused' } },
    ]);
    expect(await look(event)).toEqual([]);
  });

  it.each([
    [{ kind: 'comment.created', data: { is_pull: true } }, 'this pull request does not meet'],
    [{ kind: 'comment.created', data: { is_pull: false } }, 'this issue does not meet'],
  ] as const)('names what the command stands on: %j', async ({ kind, data }, told) => {
    const event = anAct({ kind, data: { ...COMMAND.data, ...data } });
    await record(event, refusedRun());

    expect(await look(event)).toEqual([expect.stringContaining(told)]);
  });

  it('answers one act once, however often it is decided', async () => {
    const event = anAct();
    await record(event, refusedRun());
    await record(event, refusedRun({ id: 'again', runKey: 'key-run-1' }));

    expect(await look(event)).toHaveLength(1);
    expect(await journal.runs({ rule: ANSWER_RULE, limit: 9 })).toHaveLength(1);
  });

  it('answers /help where rules take commands and none takes this one', async () => {
    const event = anAct({ data: { number: 12, comment: { id: '345', body: '/help' }, issue: { id: '5' } } });
    const nothing = { ...active, revision: { ...active.revision, rules: [] } };
    expect(answers.planned(nothing, event, [])).toEqual([]);
    await journal.recordDecision({ eventId: event.id }, answers.planned(active, event, []));

    // None of these rules has a name of a command that somebody could give.
    expect(await look(event)).toEqual([`@ann: ${textOf(answerReason('answer.help', { commands: [] }))}`]);
    expect(textOf(answerReason('answer.help', { commands: ['label', 'merge'] }))).toContain('`/label`, `/merge`');
    expect(answers.planned(active, event, [refusedRun()])[0]?.run.trace).toMatchObject({ answer: { rules: ['r1'] } });
  });

  it('says nothing where all was done', async () => {
    const event = anAct();
    await record(event, { run: aRun({ state: 'done' }), intents: [] });

    expect(await look(event)).toEqual([]);
    expect(await journal.runs({ rule: ANSWER_RULE, limit: 9 })).toMatchObject([
      { state: 'not-fired', reason: { code: 'run.answer.none' } },
    ]);
  });

  it('waits for what is at work, tells that it is held, and then once how it ended', async () => {
    const event = anAct();
    await record(event, { run: aRun(), intents: [anIntent({ id: 'i1' })] });
    expect(await look(event)).toEqual([]);

    const claim = await claimOne(journal, 'i1', 'me', 60_000);
    const move = { intentId: 'i1', epoch: claim?.epoch ?? 0, from: ['claimed'] as const };
    const reason = intentReason('intent.waits', {
      because: say('cannot.merge.rejected', { number: '12', people: ['SECRET-TEAM'] }),
    });
    await journal.move({ ...move, to: 'planned', reason, dueAt: clock.now(), waits: true });
    const held = await look(event);
    expect(held).toEqual([expect.stringContaining('#12')]);
    expect((await journal.runs({ rule: ANSWER_RULE, state: 'open', limit: 1 }))[0]?.reason.params).toMatchObject({
      because: { code: 'answer.held.waits' },
    });
    expect(held.join()).not.toContain('SECRET-TEAM');
    clock.advance(60_000);
    expect(await look(event)).toEqual([]);

    const again = await claimOne(journal, 'i1', 'me', 60_000);
    await journal.move({ ...move, epoch: again?.epoch ?? 0, to: 'refused', reason: because('gone') });
    clock.advance(300_000);
    expect(await look(event)).toHaveLength(1);
    expect((await journal.runs({ rule: ANSWER_RULE, limit: 1 }))[0]?.reason.params).toMatchObject({
      because: { code: 'answer.refused' },
    });
    clock.advance(300_000);
    expect(await look(event)).toEqual([]);
  });

  describe('names what is wrong where it is a word of the command', () => {
    async function told(body: string, name: string): Promise<string> {
      const event = anAct({ data: { number: 12, comment: { id: '345', body }, issue: { id: '5' } } });
      await record(event, { run: aRun(), intents: [anIntent({ id: 'i1' })] });
      const claim = await claimOne(journal, 'i1', 'me', 60_000);
      await journal.move({
        ...{ intentId: 'i1', epoch: claim?.epoch ?? 0, from: ['claimed'] as const },
        ...{ to: 'refused', reason: say('cannot.missing', { what: 'label', name, create: 'label.ensure' }) },
      });
      return String((await look(event))[0]).split('\n')[0] ?? '';
    }

    it.each([
      ['/label nosuch', 'nosuch', 'label nosuch.'],
      ['/label Nosuch', 'nosuch', 'label Nosuch.'],
      ['/label needs docs', 'needs docs', 'label needs docs.'],
      ['/label "needs docs" bug', 'needs docs, bug', 'label needs docs, bug.'],
      ['/label nosuch', 'nosuch, secret/plan, other/plan', 'label nosuch, ….'],
      ['/label nosuch', 'secret/plan', 'label ….'],
      ['/label secret', 'secret/plan', 'label ….'],
    ])('%s, and %s is wrong', async (body, name, text) => {
      expect(await told(body, name)).toContain(text);
    });

    it.each([
      '`x`',
      '@acme/owners',
      '\uff20ann',
      '[a](https://evil)',
      '![a](https://evil/p.png)',
      'https://evil/x',
      'www.evil.org',
      '<img/src=x>',
      '<!--',
      '</sub>',
      'acme/web#1',
      '#1',
      'GH-1',
      '**x**',
      '|a|',
      '&lt;b&gt;',
      'javascript:x',
      '\u202ex',
      'a\u2028b',
      'x'.repeat(500),
    ])('does nothing with %s', async (word) => {
      const line = await told(`/label ${word}`, word);
      const shown = /there is no label (.*)\./.exec(line)?.[1] ?? '';

      expect(shown).not.toBe('');
      expect(shown).not.toMatch(
        /(?<!\\)[`*[\]()|~$]|[<>\n\r\u2028\u202e]|:\/\/|www\.e|@[\w]|\uff20\w|[#-]\d|&(?!amp;|lt;|gt;)|javascript:/,
      );
      expect(shown.length).toBeLessThan(200);
    });

    it('takes no second line for a word', async () => {
      expect(await told('/label a\nsecret/plan', 'secret/plan')).toContain('label ….');
    });
  });

  it.each([
    ['the bot itself', { actor: { id: '5', login: 'forgehand' } }],
    ['a bot by its name', { actor: { id: '9', login: 'stale-bot' } }],
    ['a bot that the config names', { actor: { id: '9', login: 'Renovate' } }],
    ['an account of the forge', { actor: { id: '-2', login: 'gitea-actions' } }],
    ['nobody', { actor: null }],
    ['who only talks', { data: { number: 12, comment: { id: '1', body: 'merge this' } } }],
  ])('does not answer %s', async (_, over) => {
    const event = anAct(over as Partial<ForgeEvent>);
    const wanted = 'data' in over ? refusedRun({ rule: 'r2' }) : refusedRun();

    expect(answers.planned(active, event, [wanted])).toEqual([]);
  });

  it('does not answer where it is off', () => {
    answers = answersOf({ enabled: false });

    expect(answers.planned(active, anAct(), [refusedRun()])).toEqual([]);
  });

  it('does not speak to somebody whom a delivery alone names', async () => {
    const prove = async () => ({ proven: false, code: 'act.other_author', reason: 'it was eve' }) as const;
    answers = answersOf({ acts: { prove } });
    const event = anAct();
    await record(event, refusedRun());

    expect(await look(event)).toEqual([]);
  });

  it('answers a dry run as a dry run', () => {
    const [plan] = answers.planned(active, anAct(), [refusedRun({ mode: 'dry-run' })]);

    expect(plan?.run.mode).toBe('dry-run');
  });

  it('takes a label as asked for where a rule wanted something of it', async () => {
    const event = anAct({ kind: 'pull_request.labeled', data: { number: 12 } });
    const wanted = { run: aRun({ rule: 'r2', state: 'open' }), intents: [anIntent({ id: 'i1', rule: 'r2' })] };

    expect(answers.planned(active, event, [refusedRun({ rule: 'r2' })])).toEqual([]);
    await record(event, wanted);
    const claim = await claimOne(journal, 'i1', 'me', 60_000);
    await journal.move({ intentId: 'i1', epoch: claim?.epoch ?? 0, from: ['claimed'], to: 'refused', reason: null });

    expect(await look(event)).toEqual([expect.stringMatching(/^@ann: /)]);
    const [run] = await journal.runs({ rule: ANSWER_RULE, limit: 1 });
    expect(await journal.intentsOfRun(run?.id ?? '')).toMatchObject([
      { action: 'issue.comment' },
      { action: 'issue.react', params: { number: '12', reaction: 'confused' } },
    ]);
  });
});
