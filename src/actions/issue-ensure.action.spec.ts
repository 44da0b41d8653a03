import { describe, expect, it } from '@jest/globals';
import { EffectRig, type WishOptions } from '../../test/builders/effect-rig.js';
import { sentenceOf } from '../../test/builders/reasons.js';
import type { JsonObject } from '../core/json.js';
import type { Intent } from '../core/run.js';

const WISH = { key: 'red-main', open: true, title: 'main is red', body: 'Run 5 failed.' };
const BOT = { id: '1', login: 'forgehand' };
const ANN = { id: '9', login: 'ann' };

interface FakeIssue {
  readonly number: number;
  readonly user: object;
  title: string;
  body: string;
  state: 'open' | 'closed';
  comments: number;
  labels: object[];
}

/** A repository with labels and issues. */
class Tracker {
  readonly rig = new EffectRig();
  readonly issues: FakeIssue[] = [];

  constructor(readonly repository: object = {}) {
    const { forge } = this.rig;
    forge.addRepository('app', {
      ...repository,
      labels: [
        { id: '31', name: 'ci' },
        { id: '32', name: 'prio/high', exclusive: true },
        { id: '33', name: 'prio/low', exclusive: true },
      ],
    });
    forge.answer('listIssues', async ({ page, created_by: login }) =>
      page === 1 ? this.issues.filter(({ user }) => (user as typeof BOT).login === login) : [],
    );
    forge.answer('createIssue', async ({ body }) => {
      const { title, body: text, labels } = body as { title: string; body: string; labels: bigint[] };
      return this.open({ title, body: text, labels: labels.map((id) => ({ id: String(id) })) });
    });
    forge.answer('updateIssue', async ({ index, body }) => Object.assign(this.issue(Number(index)), body as object));
  }

  open(over: Partial<FakeIssue> = {}): FakeIssue {
    const issue: FakeIssue = {
      number: this.issues.length + 5,
      user: BOT,
      title: 'x',
      body: '',
      state: 'open',
      comments: 0,
      labels: [],
      ...over,
    };
    this.issues.push({ ...issue, ...({ id: String(issue.number + 1000) } as object) });
    return issue;
  }

  issue(number = 5): FakeIssue {
    const issue = this.issues.find((one) => one.number === number);
    if (!issue) throw new Error(`no issue ${number}`);
    return issue;
  }

  want(over: Partial<typeof WISH> & JsonObject = {}, options: WishOptions = {}): Promise<Intent> {
    return this.rig.want('issue.ensure', { ...WISH, ...over }, options);
  }

  async said(over: Partial<typeof WISH> & JsonObject = {}, options: WishOptions = {}): Promise<string> {
    const { state, reason } = await this.want(over, options);
    return `${state}: ${sentenceOf(reason)}`;
  }
}

describe('actions/issue.ensure', () => {
  it('opens one issue of the key, and leaves it as it is the second time', async () => {
    const tracker = new Tracker();

    expect(await tracker.said({ labels: ['ci'] })).toBe('done: #5 opened (red-main)');
    expect(await tracker.said({ labels: ['ci'] })).toBe('unchanged: #5 is as wanted');
    expect(tracker.rig.written).toEqual(['createIssue']);
    expect(tracker.issue()).toMatchObject({ title: 'main is red', state: 'open', labels: [{ id: '31' }] });
    expect(tracker.issue().body).toMatch(
      /^<!-- forgehand:issue:[0-9a-f]{16} -->\n\nRun 5 failed\.\n\n<!-- \/forgehand:issue:[0-9a-f]{16} -->$/,
    );
  });

  it('keeps title and text, and what people wrote around it', async () => {
    const tracker = new Tracker();
    await tracker.want();
    tracker.issue().body = `Look at the cable first.\r\n\r\n${tracker.issue().body}\n\nDone on Monday.`;
    const before = tracker.issue().body;

    expect(await tracker.said()).toBe('unchanged: #5 is as wanted');
    expect(await tracker.said({ body: 'Run 6 failed.' })).toBe('done: text of #5 changed (red-main)');
    expect(tracker.issue().body).toBe(before.replaceAll('\r', '').replace('Run 5', 'Run 6'));
    expect(await tracker.said({ title: 'main is red again', body: 'Run 6 failed.' })).toBe(
      'done: title of #5 changed (red-main)',
    );
    expect(tracker.rig.written).toEqual(['createIssue', 'updateIssue', 'updateIssue']);
  });

  it('without body leaves the text alone', async () => {
    const tracker = new Tracker();
    await tracker.want();
    const { body } = tracker.issue();
    const { body: _, ...wish } = WISH;

    expect((await tracker.rig.want('issue.ensure', wish)).state).toBe('unchanged');
    expect(tracker.issue().body).toBe(body);
  });

  it('closes it when it is not wanted any more, and opens the same one again', async () => {
    const tracker = new Tracker();

    expect(await tracker.said({ open: false })).toBe('unchanged: issue red-main is not there');
    await tracker.want();
    expect(await tracker.said({ open: false, body: 'All is well.' })).toBe('done: #5 is closed');
    expect(tracker.issue().body).toContain('Run 5 failed.');
    expect(await tracker.said({ open: false })).toBe('unchanged: #5 is closed');
    expect(await tracker.said({ body: 'Run 9 failed.' })).toBe('done: state, text of #5 changed (red-main)');
    expect(tracker.issue()).toMatchObject({ state: 'open' });
    expect(tracker.issues).toHaveLength(1);
  });

  it('a person who closes it is respected, until it was to be closed in between', async () => {
    const tracker = new Tracker();
    await tracker.want();
    tracker.issue().state = 'closed';

    expect(await tracker.said()).toMatch(/^suppressed: somebody closed #5 while it was wanted open: not made again/);
    expect(await tracker.said({ body: 'Run 6 failed.' })).toMatch(/^suppressed: /);
    expect(await tracker.said({ open: false })).toBe('unchanged: #5 is closed');
    expect(await tracker.said()).toBe('done: #5 is open');
  });

  it.each<[string, WishOptions]>([
    ['a policy repairs', { kind: 'policy' }],
    ['a person asks for it by a comment', { asked: true }],
  ])('opens again what a person closed, where %s', async (_, options) => {
    const tracker = new Tracker();
    await tracker.want({}, options);
    tracker.issue().state = 'closed';

    expect(await tracker.said({}, options)).toBe('done: #5 is open');
  });

  it.each<[string, (tracker: Tracker) => void]>([
    ['what an administrator deleted', (tracker) => void (tracker.issues.length = 0)],
    ['one whose marks somebody took out', (tracker) => void (tracker.issue().body = 'By ann.')],
  ])('%s is not made again', async (_, change) => {
    const tracker = new Tracker();
    await tracker.want();
    change(tracker);

    expect(await tracker.said()).toMatch(/^suppressed: somebody deleted issue red-main: not made again/);
    expect(tracker.rig.written).toEqual(['createIssue']);
  });

  it('one that was deleted when it was not wanted open is made anew, as often as it is wanted', async () => {
    const tracker = new Tracker();
    await tracker.want();
    await tracker.want({ open: false });
    tracker.issues.length = 0;

    expect(await tracker.said({ open: false })).toBe('unchanged: issue red-main is not there');
    expect(await tracker.said()).toMatch(/^done: #\d+ opened \(red-main\)$/);
    tracker.issues.length = 0;
    expect(await tracker.said()).toMatch(/^suppressed: somebody deleted issue red-main/);
    expect(await tracker.said({ open: false })).toBe('unchanged: issue red-main is not there');
    expect(await tracker.said()).toMatch(/^done: #\d+ opened \(red-main\)$/);
  });

  it('a mark that a person copied counts for nothing, and neither does that of another key', async () => {
    const tracker = new Tracker();
    await tracker.want();
    const { body } = tracker.issue();
    tracker.issues.length = 0;
    tracker.open({ user: ANN, body });
    // A login that somebody else has now.
    tracker.open({ user: { id: '77', login: 'forgehand' }, body });

    expect(await tracker.said({}, { kind: 'policy' })).toBe('done: #7 opened (red-main)');
    expect(await tracker.said({ key: 'other' })).toBe('done: #8 opened (other)');
    expect(tracker.issues).toHaveLength(4);
  });

  it.each<[string, object, JsonObject, string]>([
    ['an archived repository', { archived: true }, {}, 'refused: acme/app is archived: nothing can be written in it'],
    ['issues switched off', { has_issues: false }, {}, 'refused: acme/app has no issues: they are switched off there'],
    [
      'issues kept elsewhere',
      { external_tracker: { external_tracker_url: 'https://x.example' } },
      {},
      'refused: acme/app has no issues: they are switched off there',
    ],
    ['an unknown label', {}, { labels: ['ci', 'nope'] }, 'refused: there is no label nope (label.ensure makes one)'],
    [
      'labels that exclude each other',
      {},
      { labels: ['prio/high', 'prio/low'] },
      'refused: prio/high and prio/low exclude each other',
    ],
    [
      'a title that is too long',
      {},
      { title: 'x'.repeat(256) },
      'refused: title: must not be longer than 255 characters',
    ],
    ['an empty title', {}, { title: ' ' }, 'refused: title: must not be empty'],
    [
      'marks in the text',
      {},
      { body: 'a <!-- forgehand:issue:1 -->' },
      'refused: body: must not hold marks of the bot',
    ],
  ])('says that of %s before any call', async (_, repository, wish, said) => {
    const tracker = new Tracker(repository);

    expect(await tracker.said(wish)).toBe(said);
    expect(tracker.rig.written).toEqual([]);
  });

  it('names labels that the forge did not take', async () => {
    const tracker = new Tracker();
    tracker.rig.forge.answer('createIssue', async () => ({ number: 5, labels: [] }));

    expect(await tracker.said({ labels: ['ci'] })).toBe(
      'done: #5 opened (red-main), without ci: the forge did not put it on',
    );
  });

  it('leaves marks that do not belong together to a person, and still closes', async () => {
    const tracker = new Tracker();
    await tracker.want();
    tracker.issue().body = tracker.issue().body.split('\n')[0] ?? '';

    expect(await tracker.said()).toMatch(/^conflict: the markers in the text of #5 do not belong together/);
    expect(await tracker.said({ open: false })).toBe('done: #5 is closed');
  });

  it('takes a title that the forge cut for the wanted one', async () => {
    const tracker = new Tracker();
    const title = '漢'.repeat(200);
    await tracker.want({ title });
    tracker.issue().title = `${title.slice(0, 120)}…`;

    expect((await tracker.want({ title })).state).toBe('unchanged');
  });

  it('says what the forge does not let be', async () => {
    const tracker = new Tracker();
    await tracker.want();
    tracker.rig.forge.failNext('updateIssue', 'refused', { status: 412 });

    expect(await tracker.said({ open: false })).toBe(
      'refused: the forge does not let #5 be closed (open dependencies, or its branch is gone)',
    );
  });

  describe('after a lost answer', () => {
    async function lose(tracker: Tracker, over: JsonObject, afterEffect: boolean): Promise<Intent> {
      const id = await tracker.rig.plan('issue.ensure', { ...WISH, ...over });
      const operation = tracker.issues.length === 0 ? 'createIssue' : 'updateIssue';
      tracker.rig.forge.failNext(operation, 'unknown', { afterEffect });
      await tracker.rig.work(id);
      return tracker.rig.recover(id);
    }

    it('finds the issue by its mark, and opens no second one', async () => {
      const tracker = new Tracker();

      expect((await lose(tracker, {}, true)).state).toBe('done');
      expect(tracker.rig.written).toEqual(['createIssue']);
    });

    it('opens it where the call had no effect', async () => {
      const tracker = new Tracker();
      const { id, state } = await lose(tracker, {}, false);

      expect(state).toBe('planned');
      tracker.rig.clock.advance(600_000);
      expect((await tracker.rig.work(id)).state).toBe('done');
      expect(tracker.issues).toHaveLength(1);
    });

    it.each([
      [{ open: false }, true, 'done'],
      [{ open: false }, false, 'planned'],
      [{ body: 'Run 6 failed.', title: 'still red' }, true, 'done'],
      [{ body: 'Run 6 failed.' }, false, 'planned'],
    ] as const)('an edit %j (had its effect: %s) is %s', async (over, afterEffect, state) => {
      const tracker = new Tracker();
      await tracker.want();

      expect((await lose(tracker, over, afterEffect)).state).toBe(state);
    });

    it('leaves what somebody changed meanwhile', async () => {
      const tracker = new Tracker();
      await tracker.want();
      const id = await tracker.rig.plan('issue.ensure', { ...WISH, title: 'still red' });
      tracker.rig.forge.failNext('updateIssue', 'unknown', { afterEffect: false });
      await tracker.rig.work(id);
      tracker.issue().title = 'ann’s title';

      const { state, reason } = await tracker.rig.recover(id);
      expect([state, sentenceOf(reason)]).toEqual([
        'conflict',
        'somebody else changed title of issue red-main meanwhile',
      ]);
    });

    it('closes the younger of two that came through, and leaves it where somebody spoke in it', async () => {
      for (const comments of [0, 1]) {
        const tracker = new Tracker();
        const id = await tracker.rig.plan('issue.ensure', WISH);
        tracker.rig.forge.failNext('createIssue', 'unknown', { afterEffect: true });
        await tracker.rig.work(id);
        const { title, body } = tracker.issue();
        tracker.open({ title, body, comments });
        await tracker.rig.recover(id);
        await tracker.rig.recover(id, 3_600_000);

        expect(tracker.issues.map(({ state }) => state)).toEqual(['open', comments === 0 ? 'closed' : 'open']);
      }
    });
  });
});
