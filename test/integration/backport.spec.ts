import { afterEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../src/core/json.js';
import { isEnded } from '../../src/core/states.js';
import { sentenceOf } from '../builders/reasons.js';
import { APP, TrackerRig } from './support/tracker-rig.js';

const open: TrackerRig[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((rig) => rig.close()));
});

const LINES = 'a\nb\nc\nd\ne\nf\ng\nh\n';
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const WISH = { number: '1', to: 'release/1', assign: 'author', labels: 'copy', failed: 'conflict' };
const BRANCH = 'backport/1-to-release/1';

function write(rig: TrackerRig, filepath: string, content: string, where: JsonObject): Promise<unknown> {
  return rig.stage.createFile({
    ...APP,
    filepath,
    body: { content: base64(content), message: `add ${filepath}`, ...where },
  });
}

async function change(rig: TrackerRig, filepath: string, content: string, where: JsonObject): Promise<unknown> {
  const { sha } = (await rig.stage.getContents({ ...APP, filepath, ref: String(where['branch']) })) as { sha: string };
  const body = { content: base64(content), sha, message: `change ${filepath}`, ...where };
  return rig.stage.updateFile({ ...APP, filepath, body });
}

/** Two release lines, and pull request 1, which mends line e, open or merged. */
async function start(
  profile: 'gitea' | 'gitea@1.26' | 'forgejo',
  { merge = 'squash', conflicts = false }: { merge?: 'merge' | 'squash' | 'rebase' | null; conflicts?: boolean } = {},
): Promise<TrackerRig> {
  const rig = await TrackerRig.start(profile);
  open.push(rig);
  await write(rig, 'a.txt', LINES, { branch: 'main' });
  for (const to of ['release/1', 'release/0'])
    await rig.stage.createBranch({ ...APP, body: { new_branch_name: to, old_ref_name: 'main' } });
  if (conflicts) await change(rig, 'a.txt', LINES.replace('e', 'X'), { branch: 'release/1' });
  await change(rig, 'a.txt', LINES.replace('e', 'E'), { branch: 'main', new_branch: 'fix' });
  await rig.stage.createLabel({ ...APP, body: { name: 'conflict', color: '#ff0000' } });
  const bug = await rig.stage.createLabel({ ...APP, body: { name: 'bug', color: '#00ff00' } });
  await rig.stage.createPull({
    ...APP,
    body: { title: 'fix e', head: 'fix', base: 'main', labels: [BigInt(bug.id ?? 0)] },
  });
  if (merge) await rig.stage.mergePull({ ...APP, index: '1', body: { do: merge } });
  return rig;
}

function plan(rig: TrackerRig, wish: JsonObject = WISH, asked = false): Promise<string[]> {
  const items = [{ itemKey: `${String(wish['number'])} ${String(wish['to'])}`, params: wish }];
  return rig.rig.planItems('backport', items, { repo: rig.repo, asked });
}

/** Every step of a backport, to its end. @returns state and reason of each */
async function port(rig: TrackerRig, wish: JsonObject = WISH, asked = false): Promise<string[]> {
  return workOn(rig, await plan(rig, wish, asked));
}

async function workOn(rig: TrackerRig, ids: readonly string[]): Promise<string[]> {
  const said: string[] = [];
  for (const id of ids) {
    // A conflict is believed at the second call.
    for (let tries = 0; tries < 4; tries += 1) {
      const { state } = await rig.rig.work(id);
      if (isEnded(state)) break;
      await rig.rig.recover(id);
    }
    const intent = await rig.rig.journal.intent(id);
    said.push(`${intent?.state ?? ''}: ${intent?.reason ? sentenceOf(intent.reason) : ''}`);
  }
  return said;
}

const textOn = async (rig: TrackerRig, ref: string): Promise<string> => {
  const { content } = (await rig.stage.getContents({ ...APP, filepath: 'a.txt', ref })) as { content: string };
  return Buffer.from(content, 'base64').toString();
};
const commentsOn = async (rig: TrackerRig): Promise<string[]> =>
  (await rig.stage.listComments({ ...APP, index: '1' })).map(({ body }) => body ?? '');
const pulls = (rig: TrackerRig) => rig.stage.listPulls({ ...APP, state: 'all' });

describe.each(['gitea', 'gitea@1.26', 'forgejo'] as const)('integration/backport (%s)', (profile) => {
  it.each(['merge', 'squash', 'rebase'] as const)(
    'brings the changes of a %s to another branch, once',
    async (merge) => {
      const rig = await start(profile, { merge });
      // A comparison with an old release is too large to be read.
      rig.refuseNext('compareCommits', 504, 'too slow');

      const [first, again] = [await port(rig), await port(rig)];

      expect(first).toEqual([
        `done: branch ${BRANCH} made of release/1, with the changes of #1`,
        'done: #2 opened: it brings #1 to release/1',
        'unchanged: the changes of #1 met no conflict in release/1',
      ]);
      expect(again.slice(0, 2)).toEqual([
        'unchanged: #2 brings #1 to release/1',
        'unchanged: #2 brings #1 to release/1',
      ]);
      expect(rig.written).toEqual(['applyPatch', 'createPull']);
      expect(await textOn(rig, BRANCH)).toBe(LINES.replace('e', 'E'));
      const [newest] = await pulls(rig);
      expect(newest).toMatchObject({
        number: 2,
        title: '[release/1] fix e',
        base: { ref: 'release/1' },
        head: { ref: BRANCH },
        labels: [{ name: 'bug' }],
      });
    },
  );

  it('makes nothing twice where the answers of all its steps are lost', async () => {
    const rig = await start(profile);
    const ids = await rig.rig.planItems('backport', [{ itemKey: '1', params: WISH }], { repo: rig.repo });
    for (const id of ids.slice(0, 2)) {
      rig.loseNextAnswer();
      await rig.rig.work(id);
      expect((await rig.rig.recover(id)).state).toBe('done');
    }

    expect(rig.written).toEqual(['applyPatch', 'createPull']);
    expect(await pulls(rig)).toHaveLength(2);
  });

  it('answers a conflict with one comment and the label, and merges nothing', async () => {
    const rig = await start(profile, { conflicts: true });

    const said = await port(rig);
    await port(rig);

    expect(said).toEqual([
      'unchanged: #1 does not come to release/1 by itself: the forge did not apply its changes twice (they conflict, or it turned the push away); a comment says so',
      'done: commented on #1 (backport to release/1)',
      'done: +conflict on #1',
    ]);
    expect(rig.written).toEqual(['createComment', 'addIssueLabels']);
    const comments = await rig.stage.listComments({ ...APP, index: '1' });
    const { merge_commit_sha: sha } = await rig.stage.getPull({ ...APP, index: '1' });
    expect(comments).toHaveLength(1);
    expect(comments[0]?.body).toContain('it may also have turned the push away');
    expect(comments[0]?.body).toContain(
      `git switch -c ${BRANCH} origin/release/1\n    git cherry-pick -x ${sha ?? ''}\n`,
    );
    expect(await rig.stage.listBranches(APP)).toHaveLength(4);
  });

  it('puts the label of a conflict on once, and leaves it off where a person took it off', async () => {
    const rig = await start(profile, { conflicts: true });
    await port(rig);
    const [label] = await rig.stage
      .listIssueLabels({ ...APP, index: '1' })
      .then((all) => all.filter(({ name }) => name === 'conflict'));
    await rig.stage.removeIssueLabel({ ...APP, index: '1', id: String(label?.id) });

    expect((await port(rig)).slice(1)).toEqual([
      'unchanged: #1 has the comment backport to release/1',
      expect.stringMatching(/^suppressed: somebody took conflict off #1: not made again/),
    ]);
    expect((await port(rig, WISH, true))[2]).toBe('done: +conflict on #1');
  });

  it('makes no further one where a person closed it, until a person wants it', async () => {
    const rig = await start(profile);
    await port(rig);
    await rig.stage.updatePull({ ...APP, index: '2', body: { state: 'closed' } });
    await rig.stage.deleteBranch({ ...APP, branch: BRANCH });

    const ids = await plan(rig);
    expect((await rig.rig.work(ids[0] ?? '')).state).toBe('suppressed');
    const { reason } = (await rig.rig.journal.intent(ids[0] ?? '')) ?? {};
    expect(reason && sentenceOf(reason)).toBe(
      `somebody closed #2 while it was wanted open: not made again (\`forgehand retry ${ids[0] ?? ''}\` makes it)`,
    );
    expect(rig.written).toEqual(['applyPatch', 'createPull']);

    await rig.rig.journal.retry(ids[0] ?? '', 'ann');
    expect((await workOn(rig, ids)).slice(0, 2)).toEqual([
      `done: branch ${BRANCH} made of release/1, with the changes of #1`,
      'done: #3 opened: it brings #1 to release/1',
    ]);
    expect((await port(rig))[0]).toBe('unchanged: #3 brings #1 to release/1');
  });

  it('makes one more where a comment asks for it, once, whatever is lost', async () => {
    const rig = await start(profile);
    await port(rig);
    await rig.stage.updatePull({ ...APP, index: '2', body: { state: 'closed' } });
    const ids = await plan(rig, WISH, true);
    await rig.rig.work(ids[0] ?? '');
    rig.loseNextAnswer();
    await rig.rig.work(ids[1] ?? '');
    // Closed before the bot looks.
    if (profile === 'forgejo') await rig.stage.updatePull({ ...APP, index: '3', body: { state: 'closed' } });

    expect((await rig.rig.recover(ids[1] ?? '')).state).toBe('done');
    expect(rig.written).toEqual(['applyPatch', 'createPull', 'createPull']);
    expect(await pulls(rig)).toHaveLength(3);
  });

  it('waits for the merge, and never does it without', async () => {
    const rig = await start(profile, { merge: null });
    const [id = ''] = await rig.rig.planItems('backport', [{ itemKey: '1', params: WISH }], { repo: rig.repo });

    expect((await rig.rig.work(id)).state).toBe('planned');
    await rig.stage.updatePull({ ...APP, index: '1', body: { state: 'closed' } });
    expect((await port(rig))[0]).toBe('refused: pull request #1 is closed without a merge');
    expect(rig.written).toEqual([]);
  });

  it('a backport of a backport is one of the first pull request', async () => {
    const rig = await start(profile);
    await port(rig);
    await port(rig, { ...WISH, to: 'release/0' });
    await rig.stage.mergePull({ ...APP, index: '2', body: { do: 'merge' } });

    expect((await port(rig, { ...WISH, number: '2', to: 'release/0' }))[0]).toBe(
      'unchanged: #3 brings #2 to release/0',
    );
    expect((await port(rig, { ...WISH, number: '2', to: 'release/1' }))[0]).toBe(
      'unchanged: release/1 has the changes of #2',
    );
    expect(rig.written).toEqual(['applyPatch', 'createPull', 'applyPatch', 'createPull']);
  });

  it('opens nothing where the branch has the changes', async () => {
    const rig = await start(profile);
    await change(rig, 'a.txt', LINES.replace('e', 'E'), { branch: 'release/1' });
    await rig.stage.createBranch({ ...APP, body: { new_branch_name: 'release/2', old_ref_name: 'main' } });

    expect((await port(rig))[1]).toBe('unchanged: release/1 has the changes of #1');
    expect((await port(rig, { ...WISH, to: 'release/2' })).slice(0, 2)).toEqual([
      'unchanged: release/2 has the changes of #1',
      'unchanged: release/2 has the changes of #1',
    ]);
    expect(rig.written).toEqual(['applyPatch']);
  });

  it('leaves a branch of its name alone that somebody else made, and says so', async () => {
    const rig = await start(profile);
    await rig.stage.createBranch({ ...APP, body: { new_branch_name: BRANCH, old_ref_name: 'release/1' } });

    expect((await port(rig))[0]).toMatch(/^unchanged: .* a branch of the name of the backport is there/);
    expect(rig.written).toEqual(['createComment', 'addIssueLabels']);
    expect((await commentsOn(rig)).join('')).toContain('`backport/1-to-release/1`, which is there already');
  });

  it('says that a branch is not there, and what it meets once that is made', async () => {
    const rig = await start(profile);
    const missing = { ...WISH, to: 'release/9' };

    expect((await port(rig, missing))[0]).toMatch(/^unchanged: .* that branch is not there; a comment says so$/);
    await port(rig, missing);
    expect(await commentsOn(rig)).toEqual([expect.stringContaining('the branch release/9, which is not there')]);
    await rig.stage.createBranch({ ...APP, body: { new_branch_name: 'release/9', old_ref_name: 'release/1' } });
    await change(rig, 'a.txt', LINES.replace('e', 'X'), { branch: 'release/9' });
    await port(rig, missing);
    expect(await commentsOn(rig)).toEqual([expect.anything(), expect.stringContaining('did not apply the changes')]);
  });

  it('says what the forge says of a branch that it does not take', async () => {
    const rig = await start(profile);
    rig.refuseNext('applyPatch', 422, 'no more branches here');

    expect((await port(rig))[0]).toBe(`conflict: branch ${BRANCH} cannot be made: no more branches here`);
  });

  it('takes the labels along that ask for nothing', async () => {
    const rig = await start(profile);
    const asking = await rig.stage.createLabel({ ...APP, body: { name: 'backport/release/0', color: '#0000ff' } });
    await rig.stage.addIssueLabels({ ...APP, index: '1', body: { labels: [BigInt(asking.id ?? 0)] } });

    await port(rig);

    expect((await pulls(rig))[0]?.labels?.map(({ name }) => name)).toEqual(['bug']);
  });

  it('shows all its steps in a dry run', async () => {
    const rig = await start(profile);
    const ids = await rig.rig.planItems('backport', [{ itemKey: '1', params: WISH }], {
      repo: rig.repo,
      mode: 'dry-run',
    });
    const states = [];
    for (const id of ids) states.push((await rig.rig.work(id)).state);
    const last = await rig.rig.journal.intent(ids[2] ?? '');

    expect(states).toEqual(['suppressed', 'suppressed', 'unchanged']);
    expect(last?.reason && sentenceOf(last.reason)).toBe(
      'it was not tried whether the changes of #1 apply to release/1',
    );
    expect(rig.written).toEqual([]);
  });
});
