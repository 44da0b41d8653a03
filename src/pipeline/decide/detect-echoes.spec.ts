import { beforeEach, describe, expect, it } from '@jest/globals';
import { EffectRig } from '../../../test/builders/effect-rig.js';
import { actions } from '../../actions/index.js';
import type { EventKind } from '../../core/event-kinds.js';
import type { ForgeEvent } from '../../core/event.js';
import type { JsonObject } from '../../core/json.js';
import { silentLogger } from '../../core/logger.js';
import { textOf } from '../../core/reason.js';
import { EffectEchoDetector } from './detect-echoes.js';
import { because, saying } from '../../../test/builders/reasons.js';
import { claimOne } from '../../../test/builders/journal.js';

const BOT = { id: '1', login: 'forgehand' };
const ANN = { id: '5', login: 'ann' };
const BRANCH = { new_branch_name: 'release/1', old_ref_name: 'main' };

describe('pipeline/decide/detect-echoes', () => {
  let rig: EffectRig;
  let echoes: EffectEchoDetector;
  let told: string[];
  let events: number;

  beforeEach(() => {
    start('gitea');
  });

  function start(profile: 'gitea' | 'core'): void {
    rig = new EffectRig({ profile });
    [told, events] = [[], 0];
    echoes = new EffectEchoDetector(
      rig.journal,
      rig.journal,
      { actions },
      { self: () => BOT },
      rig.clock,
      silentLogger,
      { raise: (key, raised) => void told.push(key, textOf(raised)), resolve: () => undefined },
    );
  }

  /** As far as it is sent: the delivery may come before the answer. */
  async function send(id: string): Promise<void> {
    const claim = await claimOne(rig.journal, id, 'worker', 60_000);
    await rig.journal.markSent(id, claim?.epoch ?? 0, { id: `call of ${id}`, operation: 'op', requestHash: 'h' });
  }

  function anEvent(kind: EventKind, data: JsonObject, actor = ANN): ForgeEvent {
    events += 1;
    const repo = { id: '7', owner: 'acme', name: 'app', full_name: 'acme/app' };
    const at = rig.clock.now();
    return {
      id: `seen-${events}`,
      forge: 'main',
      org: 'acme',
      kind,
      source: 'webhook',
      factKey: 'k',
      factAt: at,
      actor,
      repo,
      data,
      storedAt: at,
    };
  }

  /** An act at the forge a while after the newest call. */
  function later(kind: EventKind, data: JsonObject, actor = ANN): ForgeEvent {
    rig.clock.advance(1_000);
    return anEvent(kind, data, actor);
  }

  it.each<[string, string, JsonObject, EventKind, JsonObject]>([
    [
      'a label',
      'label.ensure',
      { name: 'bug', color: '#d73a4a' },
      'issue.labeled',
      { issue: { labels: [{ id: '3', name: 'bug' }] } },
    ],
    [
      'a milestone',
      'milestone.ensure',
      { title: '1.4' },
      'issue.milestoned',
      { issue: { milestone: { id: '3', title: '1.4' } } },
    ],
  ])('settles what waits for a person by an issue that bears %s', async (_, action, wish, kind, data) => {
    start('core');
    rig.forge.failNext(action === 'label.ensure' ? 'createLabel' : 'createMilestone', 'unknown', { afterEffect: true });
    const intent = await rig.want(action, wish);
    expect(intent.state).toBe('waiting');

    await echoes.look(later(kind, data));

    expect(await rig.journal.intent(intent.id)).toMatchObject({
      state: 'done',
      reason: saying(`shown by event seen-1 (${kind})`),
    });
    expect((await rig.want(action, wish)).state).toBe('unchanged');
  });

  it('settles by our own act alone where others make the same', async () => {
    rig.forge.failNext('createBranch', 'unknown', { afterEffect: true });
    rig.forge.failNext('getBranch', 'unknown', {});
    rig.forge.answer('getBranch', async () => Promise.reject(new Error('not asked')));
    const id = await rig.plan('branch.create', BRANCH);
    const claim = await claimOne(rig.journal, id, 'killed', 5_000);
    await rig.journal.markSent(id, claim?.epoch ?? 0, { id: 'a', operation: 'createBranch', requestHash: 'h' });
    rig.clock.advance(5_000);
    await rig.journal.reclaimExpired();

    await echoes.look(anEvent('branch.created', { branch: 'release/1' }));
    expect((await rig.journal.intent(id))?.state).toBe('unknown');
    await echoes.look(anEvent('branch.created', { branch: 'release/1' }, BOT));

    expect((await rig.journal.intent(id))?.state).toBe('done');
  });

  it('knows the echo of an effect, and how many effects stand behind it', async () => {
    const intent = await rig.want('branch.create', BRANCH);

    const first = later('branch.created', { branch: 'release/1' }, BOT);
    expect(await echoes.look(first)).toEqual({ depth: 1, holdReason: null, rule: intent.rule });
    expect(await rig.journal.echoOf(first.id)).toEqual({ eventId: first.id, intentId: intent.id, depth: 1 });

    expect(await echoes.look(later('branch.created', { branch: 'other' }, BOT))).toEqual({
      depth: 0,
      holdReason: null,
    });
    expect(await echoes.look(later('branch.created', { branch: 'release/1' }, ANN))).toEqual({
      depth: 0,
      holdReason: null,
    });
  });

  it.each<[string, string, JsonObject, EventKind, JsonObject]>([
    [
      'a label put on',
      'issue.label',
      { number: '5', add: ['bug'] },
      'issue.labeled',
      { number: 5, issue: { labels: [{ id: '3', name: 'bug' }] } },
    ],
    ['a closed issue', 'issue.state', { number: '5', state: 'closed' }, 'issue.closed', { number: 5 }],
    [
      'a merge',
      'pull_request.merge',
      { number: '8', sha: 'a'.repeat(40) },
      'pull_request.merged',
      { number: 8, pull_request: { merged: true } },
    ],
    [
      'the push of a merge',
      'pull_request.merge',
      { number: '8', sha: 'a'.repeat(40) },
      'push',
      {
        branch: 'main',
        after: 'b'.repeat(40),
        commits: [{ id: 'b'.repeat(40), message: "Merge pull request 'x' (#8) from y into main" }],
      },
    ],
    ['a new branch', 'branch.create', BRANCH, 'push', { branch: 'release/1', created: true, commits: [] }],
  ])('knows the rule behind %s', async (_, action, params, kind, data) => {
    const id = await rig.plan(action, params, { rule: 'mine' });
    await send(id);

    const own = later(kind, data, BOT);
    expect(await echoes.look(own)).toEqual({ depth: 1, holdReason: null, rule: 'mine' });
    expect(await echoes.look(later(kind, data, ANN))).toEqual({ depth: 0, holdReason: null });
    expect(await echoes.look({ ...later(kind, data, BOT), repo: { ...own.repo, id: '8' } as never })).toEqual({
      depth: 0,
      holdReason: null,
    });
  });

  it('knows which of two rules closed the issue, by the time of the event', async () => {
    const closed = { number: '5', state: 'closed' };
    const first = await rig.plan('issue.state', closed, { rule: 'first' });
    await send(first);
    const early = later('issue.closed', { number: 5 }, BOT);
    await rig.journal.move({ intentId: first, epoch: null, from: ['sent'], to: 'done', reason: because('closed') });
    rig.clock.advance(60_000);
    await send(await rig.plan('issue.state', closed, { rule: 'second' }));
    const late = later('issue.closed', { number: 5 }, BOT);

    expect(await echoes.look(late)).toMatchObject({ rule: 'second' });
    expect(await echoes.look(early)).toMatchObject({ rule: 'first' });
  });

  it('takes a label for the newest that was put on, by a forge that tells whole seconds of a clock of its own', async () => {
    for (const [rule, label] of [
      ['sizes', 'size/S'],
      ['commands', 'merge/ready'],
    ] as const) {
      const id = await rig.plan('issue.label', { number: '5', add: [label] }, { rule });
      const claim = await claimOne(rig.journal, id, 'worker', 60_000);
      const call = {
        id: `call of ${id}`,
        operation: 'op',
        requestHash: 'h',
        snapshot: { added: [label], removed: [] },
      };
      await rig.journal.markSent(id, claim?.epoch ?? 0, call);
      await rig.journal.move({ intentId: id, epoch: null, from: ['sent'], to: 'done', reason: because('labelled') });
      rig.clock.advance(700);
    }
    const told = (names: string[]): ForgeEvent => {
      const event = later('issue.labeled', { number: 5, issue: { labels: names.map((name) => ({ name })) } }, BOT);
      return { ...event, factAt: new Date(event.storedAt.getTime() - 2_500) };
    };

    expect(await echoes.look(told(['size/S']))).toMatchObject({ rule: 'sizes' });
    expect(await echoes.look(told(['size/S', 'merge/ready']))).toMatchObject({ rule: 'commands' });
  });

  it.each([
    ['long before the call', -600_000],
    ['more than a day after it', 90_000_000],
  ])('knows no rule behind an act %s', async (_, awayMs) => {
    await send(await rig.plan('issue.state', { number: '5', state: 'closed' }, { rule: 'mine' }));
    const event = later('issue.closed', { number: 5 }, BOT);

    expect(await echoes.look({ ...event, factAt: new Date(event.storedAt.getTime() + awayMs) })).toEqual({
      depth: 0,
      holdReason: null,
    });
  });

  it('names no rule where an event only shows what an effect made', async () => {
    await rig.want('label.ensure', { name: 'bug', color: '#d73a4a' });
    const labeled = later('issue.labeled', { issue: { labels: [{ id: '3', name: 'bug' }] } }, BOT);

    expect(await echoes.look(labeled)).toEqual({ depth: 1, holdReason: null });
  });

  it('lets no other organization settle, undo or echo an effect by naming the same number', async () => {
    const waiting = await (async () => {
      start('core');
      rig.forge.failNext('createLabel', 'unknown', { afterEffect: true });
      return rig.want('label.ensure', { name: 'bug', color: '#d73a4a' });
    })();
    const done = await rig.want('branch.create', BRANCH);
    const forged = (kind: EventKind, data: JsonObject, actor = ANN): ForgeEvent => ({
      ...later(kind, data, actor),
      org: 'other',
    });

    await echoes.look(forged('issue.labeled', { issue: { labels: [{ id: '3', name: 'bug' }] } }));
    await echoes.look(forged('branch.deleted', { branch: 'release/1' }));
    const echo = await echoes.look(forged('branch.created', { branch: 'release/1' }, BOT));

    expect((await rig.journal.intent(waiting.id))?.state).toBe('waiting');
    expect(await rig.journal.undoOf(done.effectKey)).toBeNull();
    expect(echo.depth).toBe(0);
  });

  it('holds the event of a third effect in a chain, and pauses the rules that answer each other', async () => {
    let causeId = 'event-of-a-person';
    let last: ForgeEvent | null = null;
    for (const name of ['one', 'two', 'three']) {
      await rig.want('branch.create', { new_branch_name: name, old_ref_name: 'main' }, { eventId: causeId });
      last = later('branch.created', { branch: name }, BOT);
      await echoes.look(last);
      causeId = last.id;
    }

    expect(await echoes.look(last as ForgeEvent)).toMatchObject({
      depth: 3,
      holdReason: saying(expect.stringContaining('3 effects')),
    });
    await echoes.openBreaker(last as ForgeEvent, ['wish-1']);

    expect((await rig.journal.paused()).map(({ rule }) => rule)).toEqual(['wish-1', 'wish-2', 'wish-3']);
    expect(told).toEqual([
      'breaker.chain/acme/wish-1+wish-2+wish-3',
      expect.stringContaining('wish-1 and wish-2 and wish-3'),
    ]);
  });

  it('leaves alone what a person took away, for every later wish, until a person says so', async () => {
    await rig.want('branch.create', BRANCH);
    rig.forge.repositories.get('acme/app')?.branches.delete('release/1');
    await echoes.look(later('branch.deleted', { branch: 'release/1' }));

    const again = [];
    for (let n = 0; n < 5; n += 1) again.push(await rig.want('branch.create', BRANCH));

    expect(again.map(({ state }) => state)).toEqual([
      'suppressed',
      'suppressed',
      'suppressed',
      'suppressed',
      'suppressed',
    ]);
    expect(again[0]?.reason).toEqual(saying(expect.stringMatching(/ann undid it \(branch\.deleted\).*event seen-1/)));
    expect(rig.written).toEqual(['createBranch']);

    expect(await rig.journal.retry(again[0]?.id ?? '', 'ann')).toBe(true);
    expect((await rig.work(again[0]?.id ?? '')).state).toBe('done');
    expect(rig.written).toEqual(['createBranch', 'createBranch']);
  });

  it.each<[string, () => ForgeEvent]>([
    ['the bot itself deleted', () => later('branch.deleted', { branch: 'release/1' }, BOT)],
    [
      'was deleted before our call',
      () => ({ ...later('branch.deleted', { branch: 'release/1' }), factAt: new Date('2026-11-01T00:00:00Z') }),
    ],
    ['is another branch', () => later('branch.deleted', { branch: 'release/2' })],
    ['is a tag', () => later('tag.deleted', { tag: 'release/1' })],
  ])('takes nothing for undone that %s', async (_, event) => {
    await rig.want('branch.create', BRANCH);
    rig.forge.repositories.get('acme/app')?.branches.delete('release/1');

    await echoes.look(event());

    expect((await rig.want('branch.create', BRANCH)).state).toBe('done');
  });

  it.each<[string, JsonObject, string]>([
    ['sets otherwise', { id: '12', tag_name: 'v1', name: 'Mine', prerelease: true }, 'suppressed'],
    ['leaves as it is', { id: '12', tag_name: 'v1', name: 'Two', prerelease: true }, 'done'],
  ])('respects an edit of a release that %s what we set', async (_, release, state) => {
    rig.forge.repositories
      .get('acme/app')
      ?.releases.push({ id: '12', tag_name: 'v1', name: 'One', body: 'b', draft: false, prerelease: false });
    await rig.want('release.update', { id: '12', name: 'Two' });
    rig.clock.advance(60_000);

    await echoes.look(anEvent('release.updated', { release }));
    rig.forge.repositories
      .get('acme/app')
      ?.releases.splice(0, 1, { id: '12', tag_name: 'v1', name: 'X', body: 'b', draft: false, prerelease: false });

    expect((await rig.want('release.update', { id: '12', name: 'Two' })).state).toBe(state);
  });

  it('stops two rules that set a variable back and forth after two rounds, and names both', async () => {
    const want = (rule: string, value: string) => rig.want('org_variable.set', { name: 'V', value }, { rule });
    for (let n = 0; n < 2; n += 1) {
      await want('a', '1');
      await want('b', '2');
    }

    const fifth = await want('a', '1');

    expect(fifth.state).toBe('planned');
    expect(rig.written).toHaveLength(4);
    expect((await rig.journal.paused()).map(({ rule, by }) => [rule, by])).toEqual([
      ['a', 'breaker: back and forth'],
      ['b', 'breaker: back and forth'],
    ]);
    expect(rig.alerts).toEqual(['breaker.flip/acme/a+b']);
  });
});
