import { describe, expect, it } from '@jest/globals';
import { EffectRig } from '../../test/builders/effect-rig.js';
import { sentenceOf } from '../../test/builders/reasons.js';
import { ForgeError } from '../core/errors.js';

const BOT = { id: '2', login: 'bot' };
const ANN = { id: '3', login: 'ann' };
const SHA = 'a'.repeat(40);
const PLAN = { number: '3', sha: SHA, approvals: 0, by: 'forge' };

/** Pull request 3 of a base that requires these checks (null = it asks for none), at a forge that keeps one plan for it. */
function given({ pull = {}, checks = ['ci'] }: { pull?: object; checks?: readonly string[] | null } = {}): {
  rig: EffectRig;
  add: (type: string, user: object) => void;
} {
  const rig = new EffectRig();
  const timeline: Array<{ id: string; type: string; user: object }> = [];
  const add = (type: string, user: object): void => void timeline.push({ id: String(timeline.length + 1), type, user });
  const isPlanned = (): boolean => timeline.at(-1)?.type === 'pull_scheduled_merge';
  rig.forge.answer('getPull', async () => {
    const ends = { head: { sha: SHA, ref: 'topic' }, base: { ref: 'main' } };
    return { number: '3', state: 'open', merged: false, user: ANN, ...ends, ...pull };
  });
  rig.forge.answer('listReviews', async () => []);
  rig.forge.answer('listTimeline', async () => timeline);
  const protection = { enable_status_check: checks !== null, status_check_contexts: checks };
  rig.forge.answer('getBranch', async () => ({ name: 'main', ...protection }));
  rig.forge.answer('mergePull', async ({ body }) => {
    expect(body).toEqual({ do: 'merge', head_commit_id: SHA, merge_when_checks_succeed: true });
    add('pull_scheduled_merge', BOT);
  });
  rig.forge.answer('cancelPlannedMerge', async () => {
    if (!isPlanned()) throw refusal('cancelPlannedMerge', 404);
    add('pull_cancel_scheduled_merge', BOT);
  });
  return { rig, add };
}

const refusal = (operation: 'cancelPlannedMerge' | 'mergePull', status: number): ForgeError =>
  new ForgeError('refused', `${operation}: refused`, { operation, status });

describe('actions/pull-request-unqueue, and the plans that it takes back', () => {
  it('a merge by the forge is planned once, taken back once, and may be planned again then', async () => {
    const { rig } = given();
    const said: string[] = [];
    for (const action of ['merge', 'merge', 'unqueue', 'unqueue', 'merge']) {
      const wish = action === 'merge' ? PLAN : { number: '3' };
      const { state, reason } = await rig.want(`pull_request.${action}`, wish);
      said.push(`${state}: ${sentenceOf(reason)}`);
    }

    expect(said).toEqual([
      `done: the forge merges pull request #3 (merge) once its checks succeed; its head is ${SHA.slice(0, 10)}`,
      'unchanged: the forge merges #3 once its checks succeed: that was planned already',
      'done: the planned merge of #3 taken away',
      'unchanged: the planned merge of #3 is not there',
      expect.stringMatching(/^done: /) as never,
    ]);
    expect(rig.written).toEqual(['mergePull', 'cancelPlannedMerge', 'mergePull']);
  });

  it('no rule plans again what a person took back', async () => {
    const { rig, add } = given();
    await rig.want('pull_request.merge', PLAN);
    add('pull_cancel_scheduled_merge', ANN);

    const again = await rig.want('pull_request.merge', PLAN);

    expect([again.state, sentenceOf(again.reason)]).toEqual([
      'suppressed',
      expect.stringContaining('somebody took back the planned merge of #3'),
    ]);
    expect((await rig.want('pull_request.merge', PLAN, { asked: true })).state).toBe('done');
  });

  it.each([
    ['asks for no checks', null],
    ['asks for checks and names none', []],
  ])('nothing is planned onto a base that %s, unless the rule says so', async (_, checks) => {
    const { rig } = given({ checks });

    const first = await rig.want('pull_request.merge', PLAN);
    const second = await rig.want('pull_request.merge', { ...PLAN, checks: false });

    expect([first.state, sentenceOf(first.reason), second.state]).toEqual([
      'refused',
      'main requires no checks, so the forge would merge #3 without waiting for any; to let it, write checks: false',
      'done',
    ]);
  });

  it('a plan that the forge has and the timeline does not show yet stays', async () => {
    const { rig } = given();
    rig.forge.answer('mergePull', async () => {
      throw refusal('mergePull', 409);
    });

    expect((await rig.want('pull_request.merge', PLAN)).state).toBe('unchanged');
  });

  it('a merge that waits here is cancelled by it, and by no merge that is wanted once more', async () => {
    const { rig } = given({ pull: { draft: true } });
    const merge = { number: '3', sha: SHA, approvals: 0 };
    const id = await rig.plan('pull_request.merge', merge);
    expect((await rig.work(id)).state).toBe('planned');
    expect((await rig.want('pull_request.unqueue', { number: '3' })).state).toBe('unchanged');
    rig.clock.advance(600_000);

    const { state, reason } = await rig.work(id);

    expect([state, reason?.code]).toEqual(['cancelled', 'intent.overtaken']);
    expect(rig.written).toEqual([]);
  });

  it('leaves what is merged', async () => {
    const { rig } = given({ pull: { state: 'closed', merged: true } });

    const { state, reason } = await rig.want('pull_request.unqueue', { number: '3' });

    expect([state, sentenceOf(reason)]).toEqual(['refused', 'pull request #3 is merged']);
  });
});
