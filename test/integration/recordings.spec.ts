import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Act, ActFolder, RecordedDelivery } from '../recordings-tool/act-file.js';
import { readActFolders } from '../recordings-tool/act-file.js';
import { renderFeedPage } from '../recordings-tool/feed-doc.js';
import type { FeedResult } from '../recordings-tool/play-feed.js';
import { playFeed } from '../recordings-tool/play-feed.js';
import { playFolder } from '../recordings-tool/play-folder.js';
import { RULES_FILE, RunsOfEvents } from '../recordings-tool/runs-of-events.js';
import { given } from '../builders/given.js';

const SELECTION = resolve('test/recordings');
const FULL_SET = process.env.FORGEHAND_RECORDINGS ?? resolve('../shared/recordings');

const folders = (path: string): Array<[string, ActFolder]> =>
  readActFolders(path).map((folder) => [folder.folder, folder]);
const actOf = (folder: ActFolder, title: string): Act => given(folder.acts.find((act) => act.title === title));
const withDelivery = (act: Act, change: (delivery: RecordedDelivery) => RecordedDelivery): Act => ({
  ...act,
  deliveries: act.deliveries.map(change),
});

describe('integration/recordings: the selection', () => {
  it.each(folders(SELECTION))('%s gives one event per fact', async (_name, folder) => {
    const result = await playFolder(folder);

    expect(result.problems).toEqual([]);
    expect(result.events).toBe(result.facts);
    expect(result.kinds['hook.tested']).toBe(1);
  });

  it('counts acts: what is set and cleared five times within a second is two acts of each text, and what comes again unchanged is none', async () => {
    const newest = given(readActFolders(SELECTION).find(({ folder }) => folder.includes('gitea-1.27')));
    const [set, cleared] = ['milestone set', 'milestone cleared'].map((title) => actOf(newest, title)) as [Act, Act];
    let n = 0;
    const again = (act: Act): Act =>
      withDelivery({ ...act, n: (n += 1), deliveries: act.deliveries.slice(0, 1) }, (delivery) => ({
        ...delivery,
        headers: delivery.headers.map(([name, value]) => [name, /-Delivery$/.test(name) ? `id-${n}` : value]),
      }));
    const play = (acts: Act[]) => playFolder({ folder: 'made', acts });

    const often = await play(Array.from({ length: 5 }, () => [again(set), again(cleared)]).flat());
    expect(often).toMatchObject({ problems: [], deliveries: 10, facts: 4, events: 4, duplicates: 6 });
    expect(await play([again(set), again(set)])).toMatchObject({ problems: [], facts: 1, events: 1, duplicates: 1 });
  });

  describe('a tool that can fail', () => {
    const [newest] = readActFolders(SELECTION).filter(({ folder }) => folder.includes('gitea-1.27'));
    const opened = actOf(given(newest), 'issue opened');

    it.each<[string, Act, RegExp]>([
      [
        'a body that was changed',
        withDelivery(opened, (delivery) => ({ ...delivery, body: delivery.body.replace('Crash', 'Clash') })),
        /answered 401 not_authentic/,
      ],
      [
        'an event type nobody knows',
        withDelivery(opened, (delivery) => ({
          ...delivery,
          event_type: 'issues_2',
          headers: delivery.headers.map(([name, value]) => [name, /Event-Type$/.test(name) ? 'issues_2' : value]),
        })),
        /no event \(misfit/,
      ],
      [
        "a body under another event's name",
        withDelivery(opened, (delivery) => ({
          ...delivery,
          event_type: 'push',
          headers: delivery.headers.map(([name, value]) => [name, /Event(-Type)?$/.test(name) ? 'push' : value]),
        })),
        /no event \(misfit/,
      ],
      ['another organization', { ...opened, org: 'globex' }, /no event \(tenant_other_owner/],
    ])('%s => a problem', async (_title, act, problem) => {
      const { problems } = await playFolder({ folder: 'made', acts: [act] });

      expect(problems.length).toBeGreaterThan(0);
      expect(problems[0]).toMatch(problem);
    });
  });
});

describe('integration/recordings: rows of the selection', () => {
  const results: FeedResult[] = [];

  it.each(folders(SELECTION))(
    '%s: rows before, after and instead of the deliveries tell the same facts once and start the same runs',
    async (_name, folder) => {
      const result = await playFeed(folder, { inMemory: true });
      results.push(result);

      expect(result.problems).toEqual([]);
      expect(result.seen.both).toBeGreaterThan(20);
    },
  );

  it('has written docs/feed.md (npm run docs -- feed)', () => {
    const page = readFileSync('docs/feed.md', 'utf8');

    expect(renderFeedPage(page, results)).toBe(page);
  });

  describe('a tool that can fail', () => {
    const [newest] = readActFolders(SELECTION).filter(({ folder }) => folder.includes('gitea-1.27'));
    const opened = actOf(given(newest), 'issue opened');
    const [row] = opened.feed ?? [];
    const played = (act: Act, runs = new RunsOfEvents()) =>
      playFeed({ folder: 'made', acts: [act] }, { inMemory: true, runs });

    it.each<[string, Act, RegExp]>([
      ['a row nobody knows', { ...opened, feed: [{ ...given(row), op_type: 'fly' }] }, /nobody knows what it tells/],
      ['a row that cannot be read', { ...opened, feed: [{ ...given(row), repo: null }] }, /tells 0 events/],
      [
        'a row of another issue',
        { ...opened, feed: [{ ...given(row), content: '99|x' }] },
        /0 of 1 rows are one with their delivery/,
      ],
      [
        'a row of an hour later',
        { ...opened, feed: [{ ...given(row), created: '2026-11-20T23:59:59Z' }] },
        /0 of 1 rows are one with their delivery/,
      ],
    ])('%s => a problem', async (_title, act, problem) => {
      expect((await played(act)).problems.join('\n')).toMatch(problem);
    });

    it('a rule that asks for what rows do not tell => a problem', async () => {
      const asking = readFileSync(RULES_FILE, 'utf8').replace('event.number > 0', 'has(event.issue.body)');

      expect((await played(opened, new RunsOfEvents(asking))).problems.join('\n')).toMatch(
        /rules start .* from rows alone/,
      );
    });
  });
});

(existsSync(FULL_SET) ? describe : describe.skip)('integration/recordings: the full set', () => {
  it.each(existsSync(FULL_SET) ? folders(FULL_SET) : [['none', { folder: '', acts: [] }] as [string, ActFolder]])(
    '%s gives one event per fact',
    async (_name, folder) => {
      const result = await playFolder(folder);

      expect(result.problems).toEqual([]);
      expect(result.events).toBe(result.facts);
    },
  );
});
