import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Act, ActFolder, RecordedDelivery } from '../recordings-tool/act-file.js';
import { readActFolders } from '../recordings-tool/act-file.js';
import { playFolder } from '../recordings-tool/play-folder.js';
import { given } from '../builders/given.js';

const SELECTION = resolve('test/recordings');
const FULL_SET = process.env.FORGEHAND_RECORDINGS ?? resolve('../shared/recordings');
const LONG_MS = 300_000;

const folders = (path: string): Array<[string, ActFolder]> => readActFolders(path).map((folder) => [folder.folder, folder]);
const actOf = (folder: ActFolder, title: string): Act => given(folder.acts.find((act) => act.title === title));
const withDelivery = (act: Act, change: (delivery: RecordedDelivery) => RecordedDelivery): Act => ({ ...act, deliveries: act.deliveries.map(change) });

describe('integration/recordings: the selection', () => {
  it.each(folders(SELECTION))(
    '%s gives one event per fact',
    async (_name, folder) => {
      const result = await playFolder(folder);

      expect(result.problems).toEqual([]);
      expect(result.events).toBe(result.facts);
      expect(result.kinds['hook.tested']).toBe(1);
    },
    LONG_MS,
  );

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
        /unrecognized/,
      ],
      [
        "a body under another event's name",
        withDelivery(opened, (delivery) => ({
          ...delivery,
          event_type: 'push',
          headers: delivery.headers.map(([name, value]) => [name, /Event(-Type)?$/.test(name) ? 'push' : value]),
        })),
        /answered 400 misfit/,
      ],
      ['another organization', { ...opened, org: 'globex' }, /answered 403 other_organization/],
    ])(
      '%s => a problem',
      async (_title, act, problem) => {
        const { problems } = await playFolder({ folder: 'made', acts: [act] });

        expect(problems.length).toBeGreaterThan(0);
        expect(problems[0]).toMatch(problem);
      },
      LONG_MS,
    );
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
    LONG_MS,
  );
});
