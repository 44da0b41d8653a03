import { afterEach, describe, expect, it } from '@jest/globals';
import { sentenceOf } from '../builders/reasons.js';
import type { JsonObject } from '../../src/core/json.js';
import { APP, TrackerRig } from './support/tracker-rig.js';

const open: TrackerRig[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((rig) => rig.close()));
});

const WISH = { key: 'red-main', open: true, title: 'main is red', body: 'Run 5 failed.' };

async function start(profile: 'gitea' | 'gitea@1.26' | 'forgejo'): Promise<TrackerRig> {
  const rig = await TrackerRig.start(profile);
  open.push(rig);
  await rig.stage.createLabel({ ...APP, body: { name: 'ci', color: '#112233' } });
  return rig;
}

async function said(rig: TrackerRig, over: JsonObject = {}): Promise<string> {
  const { state, reason } = await rig.want('issue.ensure', { ...WISH, ...over });
  return `${state}: ${sentenceOf(reason)}`;
}

const issues = async (rig: TrackerRig): Promise<Array<[number: number, state: string, labels: string[]]>> =>
  (await rig.stage.listIssues({ ...APP, state: 'all', type: 'issues' }))
    .map(({ number, state, labels }): [number, string, string[]] => [
      Number(number),
      state ?? '',
      (labels ?? []).map(({ name }) => name ?? ''),
    ])
    .sort(([a], [b]) => a - b);

describe.each(['gitea', 'gitea@1.26', 'forgejo'] as const)('integration/issue-ensure (%s)', (profile) => {
  it('one issue of a key is opened with labels, kept, closed and opened again', async () => {
    const rig = await start(profile);

    expect(await said(rig, { labels: ['ci'] })).toBe('done: #1 opened (red-main)');
    expect(await said(rig, { labels: ['ci'] })).toBe('unchanged: #1 is as wanted');
    expect(await said(rig, { body: 'Run 6 failed.', title: 'main is still red' })).toBe(
      'done: title, text of #1 changed (red-main)',
    );
    expect(await said(rig, { open: false })).toBe('done: #1 is closed');
    expect(await issues(rig)).toEqual([[1, 'closed', ['ci']]]);
    expect(await said(rig)).toBe('done: state, title, text of #1 changed (red-main)');
    expect(await issues(rig)).toEqual([[1, 'open', ['ci']]]);
    expect(rig.written).toEqual(['createIssue', 'updateIssue', 'updateIssue', 'updateIssue']);
  });

  it('keeps what people write, respects who closes it, and takes no copy of its mark for its own', async () => {
    const rig = await start(profile);
    await said(rig);
    const { body } = await rig.stage.getIssue({ ...APP, index: '1' });
    const ann = rig.as('ann');
    await ann.createIssue({ ...APP, body: { title: 'copy', body: body ?? '' } });
    await rig.stage.updateIssue({ ...APP, index: '1', body: { body: `By ann.\n\n${body ?? ''}\n\nBy ben.` } });

    expect(await said(rig, { body: 'Run 6 failed.' })).toBe('done: text of #1 changed (red-main)');
    expect((await rig.stage.getIssue({ ...APP, index: '1' })).body).toBe(
      `By ann.\n\n${(body ?? '').replace('Run 5', 'Run 6')}\n\nBy ben.`,
    );
    await rig.stage.updateIssue({ ...APP, index: '1', body: { state: 'closed' } });
    expect(await said(rig)).toMatch(/^suppressed: somebody closed #1/);
    expect(await said(rig, { open: false })).toBe('unchanged: #1 is closed');
    expect(await said(rig)).toBe('done: state, text of #1 changed (red-main)');
    expect(await issues(rig)).toEqual([
      [1, 'open', []],
      [2, 'open', []],
    ]);
  });

  it.each([
    [{}, 'createIssue'],
    [{ open: false }, 'updateIssue'],
  ] as const)('comes out of a lost answer by a look: %j', async (over, operation) => {
    const rig = await start(profile);
    if (operation === 'updateIssue') await said(rig);
    const calls = rig.written.length;
    const id = await rig.rig.plan('issue.ensure', { ...WISH, ...over }, { repo: rig.repo });
    rig.loseNextAnswer();
    await rig.rig.work(id);
    await rig.rig.recover(id);

    expect((await rig.rig.journal.intent(id))?.state).toBe('done');
    expect(rig.written.slice(calls)).toEqual([operation]);
    expect(await issues(rig)).toHaveLength(1);
  });

  it('says before any call what cannot work', async () => {
    const rig = await start(profile);

    expect(await said(rig, { labels: ['nope'] })).toBe('refused: there is no label nope (label.ensure makes one)');
    expect(await said(rig, { title: 'x'.repeat(256) })).toBe('refused: title: must not be longer than 255 characters');
    await rig.stage.updateRepo({ ...APP, body: { has_issues: false } });
    expect(await said(rig)).toBe('refused: acme/app has no issues: they are switched off there');
    await rig.stage.updateRepo({ ...APP, body: { has_issues: true, archived: true } });
    expect(await said(rig)).toBe('refused: acme/app is archived: nothing can be written in it');
    expect(rig.written).toEqual([]);
  });
});
