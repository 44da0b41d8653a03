import { afterEach, describe, expect, it } from '@jest/globals';
import { APP, TrackerRig } from './support/tracker-rig.js';
import { saying, sentenceOf } from '../builders/reasons.js';

const open: TrackerRig[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((rig) => rig.close()));
});

type MergeWord = 'merge' | 'squash' | 'rebase';

/** A repository with the tag v1.3.0, and a way to merge pull requests. */
async function start(
  profile: 'gitea' | 'forgejo',
): Promise<{ rig: TrackerRig; merge: (title: string, labels?: string[], how?: MergeWord) => Promise<void> }> {
  const rig = await TrackerRig.start(profile);
  open.push(rig);
  for (const name of ['kind/bug', 'kind/feature', 'no-notes'])
    await rig.stage.createLabel({ ...APP, body: { name, color: '#00aa00' } });
  let made = 0;
  const merge = async (title: string, labels: string[] = [], how: MergeWord = 'merge') => {
    made += 1;
    await rig.stage.createBranch({ ...APP, body: { new_branch_name: `topic-${made}` } });
    const content = Buffer.from(title).toString('base64');
    await rig.stage.createFile({
      ...APP,
      filepath: `file-${made}.txt`,
      body: { branch: `topic-${made}`, content, message: `work ${made}` },
    });
    const { number } = await rig.stage.createPull({ ...APP, body: { base: 'main', head: `topic-${made}`, title } });
    if (labels.length > 0) await rig.stage.addIssueLabels({ ...APP, index: String(number), body: { labels } });
    await rig.stage.mergePull({ ...APP, index: String(number), body: { do: how } });
  };
  await merge('Told before', ['kind/bug']);
  await rig.stage.createTag({ ...APP, body: { tag_name: 'v1.3.0' } });
  return { rig, merge };
}

const bodyOf = async (rig: TrackerRig, tag = 'v1.4.0'): Promise<string> =>
  (await rig.stage.getReleaseByTag({ ...APP, tag })).body ?? '';

describe.each(['gitea', 'forgejo'] as const)('integration/release-notes (%s)', (profile) => {
  it('lists what was merged since the last tag, by label, and leaves what people wrote', async () => {
    const { rig, merge } = await start(profile);
    await merge('Crash on start, fixes #1 for @ann', ['kind/bug']);
    await merge('Dark theme', ['kind/feature'], 'squash');
    await merge('Never told', ['no-notes'], 'rebase');
    await merge('Tidy up', [], 'rebase');
    await rig.stage.createRelease({ ...APP, body: { tag_name: 'v1.4.0', name: '1.4', body: 'A fine release.' } });

    const first = await rig.want('release_notes.ensure', { tag: 'v1.4.0', skip: ['no-notes'] });
    const second = await rig.want('release_notes.ensure', { tag: 'v1.4.0', skip: ['no-notes'] });

    expect([first.state, second.state, sentenceOf(first.reason)]).toEqual([
      'done',
      'unchanged',
      'notes of v1.4.0: 4 changes since v1.3.0',
    ]);
    expect(rig.written).toEqual(['updateRelease']);
    const lines = (await bodyOf(rig)).split('\n').filter((line) => line !== '');
    expect(lines.map((line) => line.replace(/\u200b|\\/g, ''))).toEqual([
      'A fine release.',
      '<!-- forgehand:notes -->',
      '## Changes since v1.3.0',
      '### Features',
      expect.stringMatching(/^- Dark theme \(#3, /),
      '### Fixes',
      expect.stringMatching(/^- Crash on start, fixes #1 for @ann \(#2, /),
      '### Other changes',
      expect.stringMatching(/^- Tidy up \(#5, /),
      '<!-- /forgehand:notes -->',
    ]);
    expect(await bodyOf(rig)).not.toMatch(/@ann|fixes #1/);
  });

  it('follows what is merged into a draft, between its markers alone, and makes the draft where it may', async () => {
    const { rig, merge } = await start(profile);
    await merge('One');
    const none = await rig.want('release_notes.ensure', { tag: 'v1.4.0' });
    const made = await rig.want('release_notes.ensure', { tag: 'v1.4.0', create: true });
    const draft = await rig.stage.getReleaseByTag({ ...APP, tag: 'v1.4.0' });
    await rig.stage.updateRelease({
      ...APP,
      id: draft.id ?? '',
      body: { body: `Before.\n\n${draft.body ?? ''}\n\nBehind.` },
    });
    await merge('Two');

    const followed = await rig.want('release_notes.ensure', { tag: 'v1.4.0', create: true });

    expect([none.state, made.state, followed.state]).toEqual(['refused', 'done', 'done']);
    expect(draft.draft).toBe(true);
    const body = await bodyOf(rig);
    expect([
      body.startsWith('Before.\n\n<!-- '),
      body.endsWith(' -->\n\nBehind.'),
      body.includes('- One (#2'),
      body.includes('- Two (#3'),
    ]).toEqual([true, true, true, true]);
    expect(body).not.toContain('Told before');
  });

  it('leaves markers that somebody broke, and says so', async () => {
    const { rig, merge } = await start(profile);
    await merge('One');
    await rig.stage.createRelease({
      ...APP,
      body: { tag_name: 'v1.4.0', name: '1.4', body: '<!-- forgehand:notes --> and no end' },
    });

    expect(await rig.want('release_notes.ensure', { tag: 'v1.4.0' })).toMatchObject({
      state: 'conflict',
      reason: saying(expect.stringContaining('do not belong together')),
    });
    expect(rig.written).toEqual([]);
  });

  it.each([true, false])(
    'finds out what became of a lost answer, and writes once (a release is there: %s)',
    async (isThere) => {
      const { rig, merge } = await start(profile);
      await merge('One');
      if (isThere) await rig.stage.createRelease({ ...APP, body: { tag_name: 'v1.4.0', name: '1.4', body: 'Hello.' } });
      rig.loseNextAnswer();

      const { id, state } = await rig.want('release_notes.ensure', { tag: 'v1.4.0', create: true });
      expect(state).toBe('unknown');
      const end = await rig.rig.recover(id);

      expect(end.state).toBe('done');
      expect(rig.written).toEqual([isThere ? 'updateRelease' : 'createRelease']);
      expect(await bodyOf(rig)).toContain('- One (#2');
    },
  );

  it('begins after the tag that is named, and refuses one that is not there', async () => {
    const { rig, merge } = await start(profile);
    await merge('One');
    await rig.stage.createTag({ ...APP, body: { tag_name: 'v1.3.1' } });
    await merge('Two');
    await rig.stage.createRelease({ ...APP, body: { tag_name: 'v1.4.0', name: '1.4' } });

    const nowhere = await rig.want('release_notes.ensure', { tag: 'v1.4.0', since: 'v9' });
    await rig.want('release_notes.ensure', { tag: 'v1.4.0' });
    const since = await bodyOf(rig);
    await rig.want('release_notes.ensure', {
      tag: 'v1.4.0',
      since: 'v1.3.0',
      other: 'All',
      groups: [{ title: 'None', labels: 'nobody' }],
    });
    const all = await bodyOf(rig);

    expect(nowhere.state).toBe('refused');
    expect([
      since.includes('One'),
      since.includes('Two'),
      all.includes('- One'),
      all.includes('- Two'),
      all.includes('### All'),
    ]).toEqual([false, true, true, true, true]);
  });
});
