import { describe, expect, it } from '@jest/globals';
import { saying } from '../../test/builders/reasons.js';
import type { JsonObject } from '../core/json.js';
import { Secret } from '../core/secret.js';
import { actions } from './index.js';
import { releaseHashes } from './release-update.action.js';
import { markOf, withMark, withoutMark } from './support/compare.js';
import type { AnyAction } from './define-action.js';
import { type OpenCall, decideDuplicates, type Surplus, type Verdict } from './support/recovery.js';
import { readsOf, verdictOf } from './look-compare-write.js';

const SENT_AT = new Date('2026-11-20T12:00:00Z');
const SHA = 'a'.repeat(40);
const OTHER = 'b'.repeat(40);

const PROTECTED = 'createBranch: status 500: PushRejected Error: branch release/1.4 is protected from changes';

/** Seen, and not there. */
const GONE = {};

const REPOSITORY = { kind: 'repository', id: '7', owner: 'acme', name: 'app' } as never;

function looking(name: string): AnyAction {
  return actions.get(name) as AnyAction;
}

/** What the comparison makes of what is seen after an open call. @param seen null = it cannot be read */
function decide(name: string, wanted: object, seen: unknown, over: Partial<OpenCall> = {}): Verdict {
  const call = { snapshot: null, sends: 1, equalFailures: 0, message: null, sentAgoMs: 60_000, firstSentAt: SENT_AT };
  return verdictOf(looking(name), { target: REPOSITORY }, wanted as never, seen === GONE ? null : (seen ?? undefined), {
    ...call,
    ...over,
  });
}

/** Two of ours, by what the action lists of what is seen. */
function surplusOf(
  name: string,
  wanted: object,
  seen: unknown,
  mark: string | null,
  snapshot: JsonObject | null,
): Surplus {
  const { about, recover } = looking(name);
  const list = recover?.duplicates?.list(seen as never, wanted as never, mark) ?? [];
  return decideDuplicates(about(wanted as never), snapshot, list);
}

/** `done?` = done, when seen once more. */
function word(verdict: Verdict): string {
  return verdict.is === 'done' && !verdict.sure ? 'done?' : verdict.is;
}

describe('actions/recovery', () => {
  it('has a way out of an unknown outcome for each of the nine writes of the specification', () => {
    const without = [...actions.values()]
      .filter((action) => readsOf(action).length === 0 && !action.sends)
      .map(({ name }) => name);

    expect(without.filter((name) => !EXTENDED.includes(name))).toEqual([]);
    expect([...actions.values()].filter((action) => readsOf(action).length > 0).length).toBeGreaterThanOrEqual(9);
  });

  describe('op 1, branch', () => {
    const wanted = { new_branch_name: 'x', old_ref_name: 'main' };
    const there = (sha: string | null, over = {}) => ({
      isThere: sha !== null,
      sha,
      wantedSha: null,
      madeFrom: '',
      madeOfBase: '',
      grewFromOurs: null,
      isBaseThere: null,
      ...over,
    });
    it.each<[string, string, ReturnType<typeof there> | null, Partial<OpenCall>]>([
      ['at the commit that was sent', 'done', there(SHA), { snapshot: { sha: SHA } }],
      ['grown from the commit that was sent', 'done', there(OTHER, { grewFromOurs: true }), { snapshot: { sha: SHA } }],
      ['at another commit', 'conflict', there(OTHER, { grewFromOurs: false }), { snapshot: { sha: SHA } }],
      ['at another commit, not to be compared', 'conflict', there(OTHER), { snapshot: { sha: SHA } }],
      ['there, no commit was pinned', 'done', there(OTHER), { snapshot: { sha: null } }],
      ['absent', 'resend', there(null), {}],
      ['absent, its base too, two equal failures', 'resend', there(null, { isBaseThere: false }), { equalFailures: 2 }],
      [
        'absent, its base too, three equal failures',
        'refused',
        there(null, { isBaseThere: false }),
        { equalFailures: 3 },
      ],
      [
        'absent, its base there, four equal failures',
        'resend',
        there(null, { isBaseThere: true }),
        { equalFailures: 4 },
      ],
      [
        'absent, its base there, five equal failures',
        'refused',
        there(null, { isBaseThere: true }),
        { equalFailures: 5 },
      ],
      ['absent, two pushes turned away', 'resend', there(null), { equalFailures: 2, message: PROTECTED }],
      ['absent, three pushes turned away', 'refused', there(null), { equalFailures: 3, message: PROTECTED }],
      ['not to be read', 'person', null, {}],
    ])('%s => %s', (_, expected, seen, over) => {
      expect(word(decide('branch.create', wanted, seen, over))).toBe(expected);
    });
  });

  describe('op 4, repository', () => {
    const wanted = { username: 'ann', name: 'Tools' };
    const at = (ms: number | null, over = {}) => ({
      full_name: 'ann/tools',
      id: '9',
      created_at: ms === null ? null : new Date(SENT_AT.getTime() + ms).toISOString(),
      empty: true,
      ...over,
    });
    it.each<[string, string, object, object | null, Partial<OpenCall>]>([
      ['made since the call', 'done?', wanted, at(500), {}],
      [
        'made since the call, with its first commit as wanted',
        'done',
        { ...wanted, auto_init: true },
        at(500, { empty: false }),
        {},
      ],
      [
        'made since the call, first commit wanted and not there yet',
        'done?',
        { ...wanted, auto_init: true },
        at(500),
        {},
      ],
      ['a little older by another clock', 'done?', wanted, at(-60_000), {}],
      ['older', 'conflict', wanted, at(-600_000), {}],
      ['of no told age', 'done?', wanted, at(null), {}],
      ['answered under another name', 'conflict', wanted, at(500, { full_name: 'bob/tools' }), {}],
      ['absent', 'resend', wanted, GONE, {}],
      ['not to be read', 'resend', wanted, null, {}],
    ])('%s => %s', (_, expected, wish, seen, over) => {
      expect(word(decide('repo.create_for_user', wish, seen, over))).toBe(expected);
    });
  });

  describe('op 6, own settings', () => {
    const wanted = { full_name: 'Bot', hide_email: true };
    const before = { snapshot: { before: { full_name: 'Old', hide_email: null } } };
    it.each<[string, string, JsonObject | null, Partial<OpenCall>]>([
      ['as wanted', 'done', { full_name: 'Bot', hide_email: true }, before],
      ['as before', 'resend', { full_name: 'Old', hide_email: false }, before],
      ['half as wanted, half as before', 'resend', { full_name: 'Bot' }, before],
      ['a third value', 'conflict', { full_name: 'Ann', hide_email: true }, before],
      ['not to be read, young', 'resend', null, { sentAgoMs: 60_000 }],
      ['not to be read, old', 'person', null, { sentAgoMs: 60_001 }],
    ])('%s => %s', (_, expected, seen, over) => {
      expect(word(decide('user_settings.update', wanted, seen, over))).toBe(expected);
    });
  });

  describe('op 7, push mirror', () => {
    const wanted = { remote_address: 'https://mirror.example.org/a.git', interval: '8h' };
    const mirrors = (...names: string[]) => ({
      leadsInside: null,
      detail: {},
      isOtherPassword: false,
      mirrors: names.map((name) => ({ remote_name: name, interval: name.startsWith('other') ? '1h' : '8h' })),
    });
    it.each<[string, string, ReturnType<typeof mirrors> | null]>([
      ['one that was not there before', 'done?', mirrors('old', 'new')],
      ['two that were not there before', 'done?', mirrors('new', 'newer')],
      ['none but what was there before', 'resend', mirrors('old')],
      ['none', 'resend', mirrors()],
      ['a new one with other settings', 'conflict', mirrors('other')],
      ['not to be read', 'person', null],
    ])('%s => %s', (_, expected, seen) => {
      expect(word(decide('push_mirror.ensure', wanted, seen, { snapshot: { ids: ['old'] } }))).toBe(expected);
    });

    it('tells a person of two, and takes none away', () => {
      expect(surplusOf('push_mirror.ensure', wanted, mirrors('old', 'new'), '', { ids: ['old'] })).toEqual({
        is: 'fine',
      });
      expect(surplusOf('push_mirror.ensure', wanted, mirrors('a', 'b'), '', null)).toMatchObject({
        is: 'alert',
        reason: saying(expect.stringContaining('a, b')),
      });
    });
  });

  describe('op 13, release', () => {
    const release = (over = {}) => ({ id: '12', isDraft: false, ...seenOf({ name: 'Two', body: 'b', ...over }) });
    const seenOf = (fields: Record<string, unknown>) => ({ fields: releaseHashes(fields as never) });
    const before = {
      snapshot: { id: '12', sent: ['name'], before: releaseHashes({ name: 'One', body: 'b', draft: true } as never) },
    };
    it.each<[string, string, object, object | null, Partial<OpenCall>]>([
      ['as wanted', 'done', { id: '12', name: 'Two' }, release(), before],
      [
        'as wanted, lines ended otherwise',
        'done',
        { id: '12', body: 'a\r\nb' },
        release({ body: 'a\nb' }),
        { snapshot: null },
      ],
      ['as before', 'resend', { id: '12', name: 'Two' }, release({ name: 'One' }), before],
      ['a third value', 'conflict', { id: '12', name: 'Two' }, release({ name: 'Ann' }), before],
      [
        'still a draft',
        'resend',
        { id: '12', draft: false },
        { ...release({ draft: true }), isDraft: true },
        { snapshot: null },
      ],
      ['gone', 'refused', { id: '12', name: 'Two' }, GONE, before],
      ['not to be read, published', 'person', { id: '12', name: 'Two' }, null, {}],
      ['not to be read, about a draft', 'resend', { id: '12', draft: false }, null, {}],
      ['not to be read, about a draft, sent twice', 'person', { id: '12', draft: false }, null, { sends: 2 }],
    ])('%s => %s', (_, expected, wanted, seen, over) => {
      expect(word(decide('release.update', wanted, seen, over))).toBe(expected);
    });
  });

  type Bearers = { id: string; difference: string }[] | null;
  describe.each<[string, (seen: Bearers, snapshot: JsonObject) => Verdict]>([
    [
      'op 15, label',
      (seen, snapshot) => {
        const own = seen?.map(({ id, difference }) => ({ id, name: 'bug', color: difference ? '000000' : 'ffffff' }));
        const wanted = { name: 'bug', color: '#fff' };
        return decide('label.ensure', wanted, own ? { own, inherited: [], uses: null } : null, { snapshot });
      },
    ],
    [
      'op 18, milestone',
      (seen, snapshot) => {
        const all = seen?.map(({ id, difference }) => ({ id, title: '1.4', description: difference }));
        return decide('milestone.ensure', { title: '1.4', description: '' }, all ?? null, { snapshot });
      },
    ],
  ])('%s', (_, verdictOn) => {
    it.each<[string, string, { id: string; difference: string }[] | null]>([
      ['one of this name', 'done', [{ id: '5', difference: '' }]],
      [
        'two of this name',
        'done',
        [
          { id: '5', difference: '' },
          { id: '6', difference: '' },
        ],
      ],
      ['one with other settings', 'conflict', [{ id: '5', difference: 'color' }]],
      [
        'one with other settings and one that fits',
        'done',
        [
          { id: '5', difference: 'color' },
          { id: '6', difference: '' },
        ],
      ],
      ['one that was there before', 'unchanged', [{ id: '4', difference: '' }]],
      ['none', 'resend', []],
      ['not to be read', 'person', null],
    ])('%s => %s', (_case, expected, seen) => {
      expect(word(verdictOn(seen, { ids: ['4'] }))).toBe(expected);
    });
  });

  describe('two of one name', () => {
    const mark = markOf('3f9a2c7b1e');
    const surplus = (marks: boolean, ...bearers: Array<[string, string, boolean | null]>): Surplus => {
      const own = bearers.map(([id, description]) => ({ id, name: 'bug', description }));
      const uses = new Map(bearers.flatMap(([id, , isUsed]) => (isUsed ? [[id, 1] as const] : [])));
      const seen = { own, inherited: [], uses: bearers.some(([, , isUsed]) => isUsed === null) ? null : uses };
      return surplusOf('label.ensure', { name: 'bug' }, seen, marks ? mark : null, { ids: ['1'] });
    };

    it('keeps the oldest, and takes the younger away that bears our mark and is not used', () => {
      expect(surplus(true, ['10', `broken ${mark}`, false], ['9', 'broken', true])).toMatchObject({
        is: 'remove',
        ids: ['10'],
      });
    });

    it.each<[string, string, Surplus]>([
      ['one alone', 'fine', surplus(true, ['9', '', false])],
      ['one beside what was there before', 'fine', surplus(true, ['1', '', false], ['9', mark, false])],
      ['the younger is used', 'alert', surplus(true, ['9', '', false], ['10', mark, true])],
      ['whether it is used is not known', 'alert', surplus(true, ['9', '', false], ['10', mark, null])],
      ['the younger bears no mark', 'alert', surplus(true, ['9', mark, false], ['10', '', false])],
      ['it bears the mark of another intent', 'alert', surplus(true, ['9', '', false], ['10', '[fh:00000000]', false])],
      ['marks are off', 'alert', surplus(false, ['9', '', false], ['10', mark, false])],
      [
        'three, one of them without a mark',
        'alert',
        surplus(true, ['9', '', false], ['10', mark, false], ['11', '', false]),
      ],
    ])('%s => %s', (_, expected, given) => {
      expect(given.is).toBe(expected);
    });
  });

  describe('op 17, organization variable', () => {
    const wanted = { name: 'v', value: new Secret('new') };
    const seen = (over = {}) => ({ isThere: true, isSame: false, valueHash: 'old', description: 'd', ...over });
    const before = { snapshot: { there: true, value_hash: 'old', description: 'd' } };
    it.each<[string, string, object, object | null, Partial<OpenCall>]>([
      ['as wanted', 'done', wanted, seen({ isSame: true, valueHash: 'new' }), before],
      ['as before', 'resend', wanted, seen(), before],
      ['a third value', 'conflict', wanted, seen({ valueHash: 'ann' }), before],
      [
        'the value as wanted, the description not',
        'resend',
        wanted,
        seen({ isSame: true, valueHash: 'new', description: '' }),
        before,
      ],
      ['deleted meanwhile', 'conflict', wanted, seen({ isThere: false }), before],
      ['not made', 'resend', wanted, seen({ isThere: false }), { snapshot: { there: false, description: '' } }],
      ['not to be read', 'resend', wanted, null, {}],
    ])('%s => %s', (_, expected, wish, seen, over) => {
      expect(word(decide('org_variable.set', wish, seen, over))).toBe(expected);
    });
  });

  it.each<[string, string, object | null]>([
    ['the same value', 'done', { isSame: true }],
    ['another value', 'conflict', { isSame: false }],
    ['absent', 'resend', GONE],
    ['not to be read', 'resend', null],
  ])('op 20, user variable: %s => %s', (_, expected, seen) => {
    expect(word(decide('user_variable.create', { name: 'w', value: new Secret('v') }, seen))).toBe(expected);
  });

  it('puts a mark at the end of a description, and takes it off again', () => {
    const mark = markOf('3f9a2c7b1e');

    expect([
      mark,
      withMark('x', mark),
      withMark(undefined, mark),
      withMark('x', null),
      withMark(undefined, null),
    ]).toEqual(['[fh:3f9a2c7b]', 'x [fh:3f9a2c7b]', '[fh:3f9a2c7b]', 'x', undefined]);
    expect(['x [fh:3f9a2c7b]', '[fh:3f9a2c7b]', 'x', null, 'see [fh:3f9a2c7b] there'].map(withoutMark)).toEqual([
      'x',
      '',
      'x',
      '',
      'see [fh:3f9a2c7b] there',
    ]);
  });
});

/** Writes beyond the specification whose outcome a person decides, until they have a read of their own. */
const EXTENDED: readonly string[] = [];
