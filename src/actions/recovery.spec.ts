import { describe, expect, it } from '@jest/globals';
import { saying } from '../../test/builders/reasons.js';
import type { JsonObject } from '../core/json.js';
import { Secret } from '../core/secret.js';
import { decideBranch } from './branch-create.action.js';
import { actions } from './index.js';
import { decideLabel } from './label-ensure.action.js';
import { decideMilestone } from './milestone-ensure.action.js';
import { decideOrgVariable } from './org-variable-set.action.js';
import { decideMirror, decideMirrorSurplus } from './push-mirror-ensure.action.js';
import { decideRelease, releaseHashes } from './release-update.action.js';
import { decideRepo } from './repo-create-for-user.action.js';
import { markOf, withMark, withoutMark } from './support/compare.js';
import { decideExtras, type RecoveryFacts, type Verdict } from './support/recovery.js';
import { decideSettings } from './user-settings-update.action.js';
import { decideUserVariable } from './user-variable-create.action.js';

const SENT_AT = new Date('2026-11-20T12:00:00Z');
const SHA = 'a'.repeat(40);
const OTHER = 'b'.repeat(40);

const PROTECTED = 'createBranch: status 500: PushRejected Error: branch release/1.4 is protected from changes';

function facts<Wanted>(
  wanted: Wanted,
  seen: unknown,
  over: Partial<RecoveryFacts<Wanted, never>> = {},
): RecoveryFacts<Wanted, never> {
  return {
    wanted,
    seen: seen as never,
    snapshot: null,
    sends: 1,
    equalFailures: 0,
    said: null,
    sentAgoMs: 60_000,
    firstSentAt: SENT_AT,
    ...over,
  };
}

/** `done?` = done, when seen once more. */
function word(verdict: Verdict): string {
  return verdict.is === 'done' && !verdict.sure ? 'done?' : verdict.is;
}

describe('actions/recovery', () => {
  it('has a way out of an unknown outcome for each of the nine writes of the specification', () => {
    const without = [...actions.values()].filter(({ recover }) => !recover).map(({ name }) => name);

    expect(without.filter((name) => !EXTENDED.includes(name))).toEqual([]);
    expect([...actions.values()].filter(({ recover }) => recover).length).toBeGreaterThanOrEqual(9);
  });

  describe('op 1, branch', () => {
    const wanted = { new_branch_name: 'x', old_ref_name: 'main' };
    const there = (sha: string | null, over = {}) => ({ sha, grewFromOurs: null, baseThere: null, ...over });
    it.each<[string, string, Parameters<typeof decideBranch>[0]]>([
      ['at the commit that was sent', 'done', facts(wanted, there(SHA), { snapshot: { sha: SHA } })],
      [
        'grown from the commit that was sent',
        'done',
        facts(wanted, there(OTHER, { grewFromOurs: true }), { snapshot: { sha: SHA } }),
      ],
      [
        'at another commit',
        'conflict',
        facts(wanted, there(OTHER, { grewFromOurs: false }), { snapshot: { sha: SHA } }),
      ],
      ['at another commit, not to be compared', 'conflict', facts(wanted, there(OTHER), { snapshot: { sha: SHA } })],
      ['there, no commit was pinned', 'done', facts(wanted, there(OTHER), { snapshot: { sha: null } })],
      ['absent', 'resend', facts(wanted, there(null))],
      [
        'absent, its base too, two equal failures',
        'resend',
        facts(wanted, there(null, { baseThere: false }), { equalFailures: 2 }),
      ],
      [
        'absent, its base too, three equal failures',
        'refused',
        facts(wanted, there(null, { baseThere: false }), { equalFailures: 3 }),
      ],
      [
        'absent, its base there, four equal failures',
        'resend',
        facts(wanted, there(null, { baseThere: true }), { equalFailures: 4 }),
      ],
      [
        'absent, its base there, five equal failures',
        'refused',
        facts(wanted, there(null, { baseThere: true }), { equalFailures: 5 }),
      ],
      ['absent, two pushes turned away', 'resend', facts(wanted, there(null), { equalFailures: 2, said: PROTECTED })],
      [
        'absent, three pushes turned away',
        'refused',
        facts(wanted, there(null), { equalFailures: 3, said: PROTECTED }),
      ],
      ['not to be read', 'person', facts(wanted, null)],
    ])('%s => %s', (_, expected, given) => {
      expect(word(decideBranch(given))).toBe(expected);
    });
  });

  describe('op 4, repository', () => {
    const wanted = { username: 'ann', name: 'Tools' };
    const at = (ms: number | null, over = {}) => ({
      there: true,
      fullName: 'ann/tools',
      id: '9',
      createdAtMs: ms === null ? null : SENT_AT.getTime() + ms,
      hasCommits: false,
      ...over,
    });
    it.each<[string, string, Parameters<typeof decideRepo>[0]]>([
      ['made since the call', 'done?', facts(wanted, at(500))],
      [
        'made since the call, with its first commit as wanted',
        'done',
        facts({ ...wanted, auto_init: true }, at(500, { hasCommits: true })),
      ],
      [
        'made since the call, first commit wanted and not there yet',
        'done?',
        facts({ ...wanted, auto_init: true }, at(500)),
      ],
      ['a little older by another clock', 'done?', facts(wanted, at(-60_000))],
      ['older', 'conflict', facts(wanted, at(-600_000))],
      ['of no told age', 'done?', facts(wanted, at(null))],
      ['answered under another name', 'conflict', facts(wanted, at(500, { fullName: 'bob/tools' }))],
      ['absent', 'resend', facts(wanted, at(null, { there: false }))],
      ['not to be read', 'resend', facts(wanted, null)],
    ])('%s => %s', (_, expected, given) => {
      expect(word(decideRepo(given))).toBe(expected);
    });
  });

  describe('op 6, own settings', () => {
    const wanted = { full_name: 'Bot', hide_email: true };
    const before = { snapshot: { before: { full_name: 'Old', hide_email: null } } };
    it.each<[string, string, JsonObject | null, Partial<RecoveryFacts<unknown, never>>]>([
      ['as wanted', 'done', { full_name: 'Bot', hide_email: true }, before],
      ['as before', 'resend', { full_name: 'Old', hide_email: false }, before],
      ['half as wanted, half as before', 'resend', { full_name: 'Bot' }, before],
      ['a third value', 'conflict', { full_name: 'Ann', hide_email: true }, before],
      ['not to be read, young', 'resend', null, { sentAgoMs: 60_000 }],
      ['not to be read, old', 'person', null, { sentAgoMs: 60_001 }],
    ])('%s => %s', (_, expected, seen, over) => {
      expect(word(decideSettings(facts(wanted, seen, over as never)))).toBe(expected);
    });
  });

  describe('op 7, push mirror', () => {
    const wanted = { remote_address: 'https://mirror.example.org/a.git' };
    const mirrors = (...names: string[]) => ({
      mirrors: names.map((name) => ({ name, difference: name.startsWith('other') ? 'interval (1h)' : '' })),
    });
    it.each<[string, string, ReturnType<typeof mirrors> | null]>([
      ['one that was not there before', 'done?', mirrors('old', 'new')],
      ['two that were not there before', 'done?', mirrors('new', 'newer')],
      ['none but what was there before', 'resend', mirrors('old')],
      ['none', 'resend', mirrors()],
      ['a new one with other settings', 'conflict', mirrors('other')],
      ['not to be read', 'person', null],
    ])('%s => %s', (_, expected, seen) => {
      expect(word(decideMirror(facts(wanted, seen, { snapshot: { ids: ['old'] } })))).toBe(expected);
    });

    it('tells a person of two, and takes none away', () => {
      expect(decideMirrorSurplus({ wanted, snapshot: { ids: ['old'] }, seen: mirrors('old', 'new') })).toEqual({
        is: 'fine',
      });
      expect(decideMirrorSurplus({ wanted, snapshot: null, seen: mirrors('a', 'b') })).toMatchObject({
        is: 'alert',
        reason: saying(expect.stringContaining('a, b')),
      });
    });
  });

  describe('op 13, release', () => {
    const release = (over = {}) => ({ there: true, draft: false, ...seenOf({ name: 'Two', body: 'b', ...over }) });
    const seenOf = (fields: Record<string, unknown>) => ({ fields: releaseHashes(fields as never) });
    const before = {
      snapshot: { id: '12', sent: ['name'], before: releaseHashes({ name: 'One', body: 'b', draft: true } as never) },
    };
    it.each<[string, string, Parameters<typeof decideRelease>[0]]>([
      ['as wanted', 'done', facts({ id: '12', name: 'Two' }, release(), before)],
      [
        'as wanted, lines ended otherwise',
        'done',
        facts({ id: '12', body: 'a\r\nb' }, release({ body: 'a\nb' }), { snapshot: null }),
      ],
      ['as before', 'resend', facts({ id: '12', name: 'Two' }, release({ name: 'One' }), before)],
      ['a third value', 'conflict', facts({ id: '12', name: 'Two' }, release({ name: 'Ann' }), before)],
      [
        'still a draft',
        'resend',
        facts({ id: '12', draft: false }, { ...release({ draft: true }), draft: true }, { snapshot: null }),
      ],
      ['gone', 'refused', facts({ id: '12', name: 'Two' }, { ...release(), there: false }, before)],
      ['not to be read, published', 'person', facts({ id: '12', name: 'Two' }, null)],
      ['not to be read, about a draft', 'resend', facts({ id: '12', draft: false }, null)],
      ['not to be read, about a draft, sent twice', 'person', facts({ id: '12', draft: false }, null, { sends: 2 })],
    ])('%s => %s', (_, expected, given) => {
      expect(word(decideRelease(given))).toBe(expected);
    });
  });

  describe.each<[string, (seen: { id: string; difference: string }[] | null, snapshot: JsonObject | null) => Verdict]>([
    [
      'op 15, label',
      (seen, snapshot) =>
        decideLabel(
          facts(
            { name: 'bug', color: '#fff' },
            seen && { bearers: seen.map((one) => ({ ...one, isOfRepository: true, description: '', used: null })) },
            {
              snapshot,
            },
          ),
        ),
    ],
    [
      'op 18, milestone',
      (seen, snapshot) =>
        decideMilestone(
          facts({ title: '1.4' }, seen && { bearers: seen.map((one) => ({ ...one, description: '', used: false })) }, {
            snapshot,
          }),
        ),
    ],
  ])('%s', (_, decide) => {
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
      expect(word(decide(seen, { ids: ['4'] }))).toBe(expected);
    });
  });

  describe('two of one name', () => {
    const mark = markOf('3f9a2c7b1e');
    const decide = (marks: boolean, ...bearers: Array<[string, string, boolean | null]>) =>
      decideExtras(
        'label',
        'bug',
        { snapshot: { ids: ['1'] }, mark, marks },
        bearers.map(([id, description, used]) => ({ id, description, used })),
      );

    it('keeps the oldest, and takes the younger away that bears our mark and is not used', () => {
      expect(decide(true, ['10', `broken ${mark}`, false], ['9', 'broken', true])).toMatchObject({
        is: 'remove',
        ids: ['10'],
      });
    });

    it.each<[string, string, ReturnType<typeof decide>]>([
      ['one alone', 'fine', decide(true, ['9', '', false])],
      ['one beside what was there before', 'fine', decide(true, ['1', '', false], ['9', mark, false])],
      ['the younger is used', 'alert', decide(true, ['9', '', false], ['10', mark, true])],
      ['whether it is used is not known', 'alert', decide(true, ['9', '', false], ['10', mark, null])],
      ['the younger bears no mark', 'alert', decide(true, ['9', mark, false], ['10', '', false])],
      ['it bears the mark of another intent', 'alert', decide(true, ['9', '', false], ['10', '[fh:00000000]', false])],
      ['marks are off', 'alert', decide(false, ['9', '', false], ['10', mark, false])],
      [
        'three, one of them without a mark',
        'alert',
        decide(true, ['9', '', false], ['10', mark, false], ['11', '', false]),
      ],
    ])('%s => %s', (_, expected, surplus) => {
      expect(surplus.is).toBe(expected);
    });
  });

  describe('op 17, organization variable', () => {
    const wanted = { name: 'v', value: new Secret('new') };
    const seen = (over = {}) => ({ there: true, isSame: false, valueHash: 'old', description: 'd', ...over });
    const before = { snapshot: { there: true, value_hash: 'old', description: 'd' } };
    it.each<[string, string, Parameters<typeof decideOrgVariable>[0]]>([
      ['as wanted', 'done', facts(wanted, seen({ isSame: true, valueHash: 'new' }), before)],
      ['as before', 'resend', facts(wanted, seen(), before)],
      ['a third value', 'conflict', facts(wanted, seen({ valueHash: 'ann' }), before)],
      [
        'the value as wanted, the description not',
        'resend',
        facts(wanted, seen({ isSame: true, valueHash: 'new', description: '' }), before),
      ],
      ['deleted meanwhile', 'conflict', facts(wanted, seen({ there: false }), before)],
      ['not made', 'resend', facts(wanted, seen({ there: false }), { snapshot: { there: false, description: '' } })],
      ['not to be read', 'resend', facts(wanted, null)],
    ])('%s => %s', (_, expected, given) => {
      expect(word(decideOrgVariable(given))).toBe(expected);
    });
  });

  it.each<[string, string, { there: boolean; isSame: boolean } | null]>([
    ['the same value', 'done', { there: true, isSame: true }],
    ['another value', 'conflict', { there: true, isSame: false }],
    ['absent', 'resend', { there: false, isSame: false }],
    ['not to be read', 'resend', null],
  ])('op 20, user variable: %s => %s', (_, expected, seen) => {
    expect(word(decideUserVariable(facts({ name: 'w', value: new Secret('v') }, seen)))).toBe(expected);
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
