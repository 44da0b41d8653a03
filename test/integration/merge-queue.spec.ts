import { afterEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../src/core/json.js';
import { isEnded } from '../../src/core/states.js';
import type { Intent } from '../../src/core/run.js';
import { sentenceOf } from '../builders/reasons.js';
import { APP, TrackerRig } from './support/tracker-rig.js';
import { untestedMerges } from './support/untested-merges.js';

const open: TrackerRig[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((rig) => rig.close()));
});

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const MINUTE_MS = 60_000;

/** A queue of so many pull requests, each of a branch `topic-N` with a file of its own. CI says of each head what `ci` says. */
class Queue {
  readonly ids: string[] = [];
  readonly pinned: string[] = [];
  /** Commit of main at which it began. */
  from = '';
  /** By number; `null` = it never reports. */
  ci: (number: number) => 'success' | 'failure' | 'pending' | null = () => 'success';

  private constructor(readonly rig: TrackerRig) {}

  static async start(
    profile: 'gitea' | 'gitea@1.26' | 'forgejo',
    count: number,
    wish: JsonObject = { approvals: 0 },
  ): Promise<Queue> {
    const rig = await TrackerRig.start(profile);
    open.push(rig);
    const queue = new Queue(rig);
    for (let n = 1; n <= count; n += 1)
      await queue.write(`file-${n}.txt`, { branch: 'main', new_branch: `topic-${n}` });
    for (let n = 1; n <= count; n += 1) {
      const pull = await rig.stage.createPull({
        ...APP,
        body: { title: `topic ${n}`, head: `topic-${n}`, base: 'main' },
      });
      queue.pinned.push(pull.head?.sha ?? '');
    }
    for (let n = 1; n <= count; n += 1) await queue.plan(n, wish);
    return queue;
  }

  async plan(number: number, wish: JsonObject = { approvals: 0 }): Promise<void> {
    const params = { number: String(number), sha: this.pinned[number - 1] ?? '', update: true, ...wish };
    this.ids.push(await this.rig.rig.plan('pull_request.merge', params, { repo: this.rig.repo }));
  }

  write(filepath: string, where: JsonObject): Promise<unknown> {
    const body = { content: base64(`${filepath}\n`), message: `add ${filepath}`, ...where };
    return this.rig.stage.createFile({ ...APP, filepath, body });
  }

  pull(number: number) {
    return this.rig.stage.getPull({ ...APP, index: String(number) });
  }

  /** CI reports, then every intent has a look. */
  async round(afterMs = MINUTE_MS / 2): Promise<void> {
    for (const { number, head } of await this.rig.stage.listPulls({ ...APP, state: 'open', limit: 50 })) {
      const state = this.ci(Number(number));
      if (state === null || !head?.sha) continue;
      const { statuses } = await this.rig.stage.getCombinedStatus({ ...APP, ref: head.sha });
      if (!statuses?.some((one) => one.context === 'ci' && one.status === state))
        await this.rig.stage.createStatus({ ...APP, sha: head.sha, body: { context: 'ci', state } });
    }
    this.rig.rig.clock.advance(afterMs);
    await this.rig.rig.journal.revisit('acme', `main/repository/${this.rig.repo.id}`);
    // What is looked at again at once stands before those behind it.
    for (let pass = 0; pass < 3; pass += 1)
      for (const id of this.ids) if (!isEnded((await this.intent(id)).state)) await this.rig.rig.work(id);
  }

  async rounds(most = 60): Promise<void> {
    for (let n = 0; n < most; n += 1) {
      if ((await this.states()).every(isEnded)) return;
      await this.round();
    }
  }

  get git() {
    return this.rig.sandbox.parts.world.repo(BigInt(this.rig.repo.id)).git;
  }

  begin(): void {
    this.from = this.git.branches.get('main') ?? '';
  }

  untested(told?: ReadonlySet<string>) {
    const { commits, branches } = this.git;
    const history = {
      commits: new Map(
        [...commits.values()].map(({ sha, parents, committer }) => [sha, { parents, at: committer.at }]),
      ),
      statuses: this.rig.sandbox.parts.world.statuses.map(({ createdAt, ...status }) => ({ ...status, at: createdAt })),
    };
    const { from } = this;
    return untestedMerges(history, { tip: branches.get('main') ?? '', from, ...(told ? { told } : {}) });
  }

  updates(): number {
    return this.rig.written.filter((name) => name === 'updatePullBranch').length;
  }

  async intent(id: string): Promise<Intent> {
    const intent = await this.rig.rig.journal.intent(id);
    if (!intent) throw new Error(`there is no intent ${id}`);
    return intent;
  }

  async states(): Promise<Intent['state'][]> {
    return Promise.all(this.ids.map(async (id) => (await this.intent(id)).state));
  }

  /** State and reason of each. */
  async said(): Promise<string[]> {
    const intents = await Promise.all(this.ids.map((id) => this.intent(id)));
    return intents.map(({ state, reason }) => `${state}: ${sentenceOf(reason)}`);
  }

  /** What its head shows of its place. */
  async place(number: number): Promise<string | undefined> {
    const { head } = await this.pull(number);
    const { statuses } = await this.rig.stage.getCombinedStatus({ ...APP, ref: head?.sha ?? '' });
    const shown = statuses?.find(({ context }) => context === 'forgehand/queue');
    return shown?.status === 'success' ? (shown.description ?? '') : undefined;
  }

  async comments(number: number): Promise<string[]> {
    const comments = await this.rig.stage.listComments({ ...APP, index: String(number) });
    return comments.map(({ body }) => (body ?? '').split('\n')[0] ?? '');
  }
}

describe.each(['gitea', 'gitea@1.26', 'forgejo'] as const)('integration/merge-queue (%s)', (profile) => {
  it('merges ten pull requests in their order, each tested on top of those before it, and leaves two red ones out', async () => {
    const queue = await Queue.start(profile, 10);
    // Green by themselves, and red on top of what the others bring.
    let isHeld = true;
    queue.ci = (number) => {
      if (isHeld && number === 1) return 'pending';
      return [3, 8].includes(number) && queue.updates() > 1 ? 'failure' : 'success';
    };
    await queue.write('main.txt', { branch: 'main' });
    queue.begin();
    for (let n = 0; n < 10; n += 1) await queue.round();
    isHeld = false;
    expect((await queue.said())[3]).toBe('planned: waits: 4th in the merge queue of main, behind #1, #2, #3');
    await queue.rounds();

    expect(queue.untested()).toEqual([]);
    const { commits, branches } = queue.git;
    const merged: string[] = [];
    for (let sha = branches.get('main') ?? ''; sha !== queue.from; sha = commits.get(sha)?.parents[0] ?? queue.from)
      merged.unshift(/\(#(\d+)\)/.exec(commits.get(sha)?.message ?? '')?.[1] ?? '');
    expect(merged).toEqual(['1', '2', '4', '5', '6', '7', '9', '10']);
    for (const number of [3, 8]) {
      expect((await queue.said())[number - 1]).toMatch(
        /^refused: taken out of the merge queue of main: the statuses of .* are failure/,
      );
      expect(await queue.comments(number)).toEqual([
        expect.stringMatching(/^Taken out of the merge queue of main: the statuses of .* are failure\.$/),
      ]);
    }
    expect(await queue.comments(1)).toEqual([]);
  });

  it('shows its place as a status that is no check', async () => {
    const queue = await Queue.start(profile, 2);
    queue.ci = () => null;
    await queue.write('main.txt', { branch: 'main' });
    for (let n = 0; n < 4; n += 1) await queue.round();
    const shown = async (number: number) => {
      const { head } = await queue.pull(number);
      const { statuses } = await queue.rig.stage.getCombinedStatus({ ...APP, ref: head?.sha ?? '' });
      return statuses?.map(({ context, status, description }) => [context, status, description]);
    };

    expect(await shown(1)).toEqual([
      [
        'forgehand/queue',
        'success',
        expect.stringMatching(/^1st in its merge queue, and the statuses of .* are not there/),
      ],
    ]);
    expect(await shown(2)).toEqual([['forgehand/queue', 'success', '2nd in the merge queue of main, behind #1']]);
    const before = queue.rig.written.length;
    await queue.round();
    expect(queue.rig.written.length).toBe(before);
  });

  it('tells of what came between its last look and the merge', async () => {
    const queue = await Queue.start(profile, 1);
    queue.begin();
    queue.rig.beforeNext('mergePull', () => queue.write('between.txt', { branch: 'main' }));
    await queue.rounds();

    expect(await queue.said()).toEqual([
      expect.stringMatching(/^done: pull request #1 merged, and .* came to main since it was tested/),
    ]);
    expect(queue.rig.rig.alerts).toEqual([expect.stringMatching(/^queue\.untested\/acme\/wish-1$/)]);
    expect(queue.untested()).toEqual([expect.objectContaining({ why: 'its head lacks commits of the target' })]);
    expect(queue.untested(new Set([queue.git.branches.get('main') ?? '']))).toEqual([]);
  });

  it('leaves with a comment when somebody else pushes', async () => {
    const queue = await Queue.start(profile, 2);
    queue.ci = (number) => (number === 1 ? 'pending' : 'success');
    await queue.write('main.txt', { branch: 'main' });
    await queue.round();
    expect((await queue.said())[0]).toMatch(/brought up to date/);
    await queue.write('more.txt', { branch: 'topic-1' });
    await queue.rounds();

    expect(await queue.said()).toEqual([
      expect.stringMatching(/^refused: taken out of the merge queue of main: the head of #1 moved to /),
      expect.stringMatching(/^done: pull request #2 merged/),
    ]);
    expect(await queue.comments(1)).toEqual([expect.stringMatching(/^Taken out of the merge queue of main: /)]);
  });

  it('leaves when its checks never report, counted from the update, when it is closed, and when its label goes', async () => {
    const queue = await Queue.start(profile, 4, { approvals: 0, checks_within: 10, label: 'ready' });
    const { id } = await queue.rig.stage.createLabel({ ...APP, body: { name: 'ready', color: '#00aa00' } });
    const labels = [BigInt(id ?? 0)];
    for (const index of ['1', '2', '3', '4']) await queue.rig.stage.addIssueLabels({ ...APP, index, body: { labels } });
    queue.ci = (number) => (number === 1 ? null : 'success');
    await queue.write('main.txt', { branch: 'main' });
    await queue.round();
    await queue.round();
    expect((await queue.said())[0]).toMatch(/^planned: waits: 1st in its merge queue, .* not there/);
    await queue.rig.stage.removeIssueLabel({ ...APP, index: '2', id: id ?? '' });
    await queue.rig.stage.updateIssue({ ...APP, index: '3', body: { state: 'closed' } });
    await queue.round();
    await queue.round(11 * MINUTE_MS);
    await queue.rounds();

    expect(await queue.said()).toEqual([
      expect.stringMatching(/^refused: .* are not there after 10 minutes \(checks_within\)$/),
      expect.stringMatching(/^refused: .* does not bear the label ready$/),
      expect.stringMatching(/^refused: .*#3 is closed$/),
      expect.stringMatching(/^done: pull request #4 merged/),
    ]);
    for (const number of [1, 2, 3]) expect(await queue.comments(number)).toHaveLength(1);
  });

  it('comes out of lost answers with one update, one merge and one comment', async () => {
    const queue = await Queue.start(profile, 2);
    await queue.write('main.txt', { branch: 'main' });
    let isFirstDone = false;
    queue.ci = (number) => (number === 1 ? 'success' : isFirstDone ? 'failure' : 'pending');
    for (let n = 0; n < 20 && !(await queue.states()).every(isEnded); n += 1) {
      queue.rig.loseNextAnswer();
      await queue.round();
      for (const id of queue.ids) await queue.rig.rig.recover(id);
      isFirstDone = isEnded((await queue.states())[0] ?? 'planned') && queue.updates() === 2;
    }

    const written = queue.rig.written.filter((name) => name !== 'createStatus');
    expect(written).toEqual(['updatePullBranch', 'mergePull', 'updatePullBranch', 'createComment']);
    expect(await queue.said()).toEqual([
      expect.stringMatching(/^done: /),
      expect.stringMatching(/^refused: taken out of the merge queue of main: the statuses of .* are failure/),
    ]);
  });

  it('leaves as soon as it is taken back, with one comment, and its place says so', async () => {
    const queue = await Queue.start(profile, 2);
    queue.ci = () => 'pending';
    await queue.write('main.txt', { branch: 'main' });
    for (let n = 0; n < 4; n += 1) await queue.round();
    expect(await queue.place(1)).toMatch(/^1st in its merge queue/);
    const { rig, repo } = queue.rig;
    await rig.plan('pull_request.unqueue', { number: '1' }, { repo, rule: 'dequeue' });

    // No time passes: all that is due is worked on.
    const due = (): Promise<string[]> => rig.journal.dueIntents(1, { org: 'acme', background: false });
    for (let [next] = await due(); next; [next] = await due()) await rig.attempt(next);

    const left = 'taken out of the merge queue of main: rule dequeue did pull_request.unqueue since then';
    expect((await queue.said())[0]).toBe(`refused: ${left}`);
    expect(await queue.place(1)).toBe(left);
    expect(await queue.comments(1)).toEqual([`${left.replace('t', 'T').replace('_', '\\_')}.`]);
    queue.ci = () => 'success';
    await queue.rounds();
    expect((await queue.said())[1]).toMatch(/^done: pull request #2 merged/);
    expect(await queue.comments(1)).toHaveLength(1);
  });

  it('leaves after three days, with one comment that says what to do', async () => {
    const queue = await Queue.start(profile, 2, { approvals: 0, label: 'ready' });
    const { id } = await queue.rig.stage.createLabel({ ...APP, body: { name: 'ready', color: '#00aa00' } });
    for (const index of ['1', '2'])
      await queue.rig.stage.addIssueLabels({ ...APP, index, body: { labels: [BigInt(id ?? 0)] } });
    await queue.write('main.txt', { branch: 'main' });
    queue.ci = (number) => (number === 1 ? 'pending' : 'success');
    await queue.round();
    await queue.rig.stage.updatePull({ ...APP, index: '1', body: { title: 'WIP: topic 1' } });
    await queue.round();
    expect((await queue.said())[0]).toBe('planned: waits: pull request #1 is a draft');
    await queue.round(3 * 24 * 60 * MINUTE_MS);
    await queue.rounds();

    const left =
      'taken out of the merge queue of main: after 3 days it still waits (pull request #1 is a draft); mend that, then ask for the merge again, by its label or command';
    expect((await queue.said())[0]).toBe(`refused: ${left}`);
    expect(await queue.place(1)).toBe(left);
    expect(await queue.comments(1)).toEqual([expect.stringMatching(/^Taken out of .* after 3 days it still waits/)]);
  });

  it('lets those behind pass what is paused, and keeps its place', async () => {
    const queue = await Queue.start(profile, 2);
    queue.ci = () => 'pending';
    await queue.write('main.txt', { branch: 'main' });
    for (let n = 0; n < 4; n += 1) await queue.round();
    expect((await queue.said())[1]).toBe('planned: waits: 2nd in the merge queue of main, behind #1');
    const { journal, clock } = queue.rig.rig;
    await journal.pause({ org: 'acme', rule: 'wish-1', by: 'ann', at: clock.now() });
    queue.ci = () => 'success';
    for (let n = 0; n < 8; n += 1) await queue.round();
    expect(await queue.said()).toEqual([
      expect.stringMatching(/^planned: /),
      expect.stringMatching(/^done: pull request #2 merged/),
    ]);
    await journal.resume('acme', 'wish-1');
    await queue.rounds();
    expect((await queue.said())[0]).toMatch(/^done: pull request #1 merged/);
  });

  it('approvals of the head that people saw stay good over the update, unless the forge dismisses them', async () => {
    const queue = await Queue.start(profile, 2, { approvals: 1, checks: false });
    await queue.write('main.txt', { branch: 'main' });
    await queue.rig.stage.addCollaborator({ ...APP, collaborator: 'ben', body: { permission: 'write' } });
    const ben = await queue.rig.user('ben');
    for (const index of ['1', '2'])
      await ben.createReview({ ...APP, index, body: { event: 'APPROVED', body: 'fine' } });
    for (let n = 0; n < 10 && queue.updates() < 2; n += 1) await queue.round();
    expect((await queue.said())[0]).toMatch(/^done: pull request #1 merged/);
    for (const review of queue.rig.sandbox.parts.world.reviews.values()) Object.assign(review, { isDismissed: true });
    await queue.round();

    expect((await queue.said())[1]).toMatch(/^planned: waits: #2 has 0 of 1 approvals/);
  });
});

describe('integration/support/untested-merges', () => {
  const commit = (...parents: string[]) => ({ parents, at: 10 });
  const commits = new Map([
    ['t0', commit()],
    ['t1', commit('t0')],
    ['h', commit('t0')],
    ['u', commit('h', 't1')],
    ['m', commit('t1', 'u')],
    ['w', commit('t1', 'h')],
  ]);
  const status = (state: string, at = 9, context = 'ci', sha = 'u') => ({ sha, context, state, at });
  const judge = (tip: string, ...statuses: Array<ReturnType<typeof status>>) =>
    untestedMerges({ commits, statuses }, { tip, from: 't0' }).map(({ why }) => why);

  it.each([
    ['a head on top of the target with a success', 'm', [status('success')], []],
    ['a head that lacks the target', 'w', [status('success', 9, 'ci', 'h')], ['its head lacks commits of the target']],
    ['a head without a status', 'm', [status('success', 9, 'forgehand/queue')], ['its head had no status']],
    ['a red check', 'm', [status('success'), status('failure', 9, 'lint')], ['its head was not green']],
    [
      'a check that turned green after the merge',
      'm',
      [status('pending'), status('success', 11)],
      ['its head was not green'],
    ],
    ['a check that was red before', 'm', [status('failure', 8), status('success')], []],
  ] as const)('%s', (_, tip, statuses, why) => {
    expect(judge(tip, ...statuses)).toEqual(why);
  });

  it('leaves out what the bot told of', () => {
    expect(untestedMerges({ commits, statuses: [] }, { tip: 'm', from: 't0', told: new Set(['m']) })).toEqual([]);
  });
});
