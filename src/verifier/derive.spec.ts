import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { compareForge, compareWrites } from './compare.js';
import { derive } from './derive.js';
import { CannotDerive } from './failures.js';
import type { Handover, JsonObject, PlayedAct, RepoState, Snapshot } from './handover.js';
import type { ForgeReader } from './read-forge.js';
import { readRuleFiles } from './rule-files.js';
import type { RuleFileText, WrittenPolicy, WrittenRule } from './rule-files.js';

const NOBODY_READS = { find: async () => null } as unknown as ForgeReader;

function repo(name: string, more: JsonObject = {}, state: Partial<RepoState> = {}): RepoState {
  return {
    repo: {
      id: 1,
      full_name: `acme/${name}`,
      name,
      private: false,
      archived: false,
      fork: false,
      default_branch: 'main',
      ...more,
    },
    labels: [],
    milestones: [],
    mirrors: [],
    branches: { main: 'a'.repeat(40) },
    releases: [],
    ...state,
  };
}

function forge(...repos: RepoState[]): Snapshot {
  return { repos, orgVariables: {}, accountVariables: {}, accountSettings: {} };
}

function act(name: string, params: JsonObject, result: unknown = {}, happened: string[] = []): PlayedAct {
  return { as: 'ann', act: name, params, result, happened, isDropped: false, at: '2026-11-20T12:00:00Z' };
}

const START: PlayedAct = act('start', {});

function given(before: Snapshot, ...acts: PlayedAct[]): Handover {
  return {
    api: 'http://forge/api/v1',
    sandbox: { url: 'http://forge', controlToken: 't' },
    org: 'acme',
    bot: { login: 'forgehand', token: 't' },
    adminToken: 't',
    rules: '/rules',
    before,
    acts,
  };
}

function file(what: { rules?: Array<Partial<WrittenRule>>; policies?: Array<Partial<WrittenPolicy>> }): RuleFileText {
  const rule = { mode: 'live', on: [], schedule: false, where: {}, lookups: [], conditions: [], steps: [] };
  const step = { when: null, unless: null, forEach: null, first: null };
  return {
    file: 'a.yaml',
    vars: {},
    rules: (what.rules ?? []).map((written) => ({
      id: 'rule',
      ...rule,
      ...written,
      steps: (written.steps ?? []).map((one) => ({ ...step, ...one })),
    })),
    policies: (what.policies ?? []).map((written) => ({
      id: 'policy',
      mode: 'live',
      subjects: { archived: false },
      wants: [],
      ...written,
    })),
  };
}

describe('verifier/rule-files', () => {
  it('a rule that is disabled is never live', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'verifier-'));
    await writeFile(
      join(folder, 'a.yaml'),
      'rules:\n  - {id: on, on: push, do: {milestone.ensure: {title: a}}}\n  - {id: off, disabled: why, on: push, do: {milestone.ensure: {title: a}}}\n',
    );

    expect(readRuleFiles(folder)[0]?.rules.map(({ id, mode }) => [id, mode])).toEqual([
      ['on', 'live'],
      ['off', 'disabled'],
    ]);
    await rm(folder, { recursive: true });
  });
});

const MIRRORS = file({
  policies: [
    {
      wants: [
        { action: 'push_mirror.ensure', with: { remote_address: 'https://mirror.example.org/${{ repo.name }}.git' } },
      ],
    },
  ],
});
const BRANCH = file({
  rules: [
    {
      on: ['tag.created'],
      where: { tag: 'v*.0' },
      steps: [
        {
          action: 'branch.create',
          with: { new_branch_name: 'release/${{ minor(event.tag) }}', old_ref_name: '${{ event.tag }}' },
          when: null,
          unless: null,
          forEach: null,
          first: null,
        },
      ],
    },
  ],
});

describe('verifier/derive', () => {
  it.each([
    [['*', 'bot:other'], 1],
    [['bot:other'], 0],
    [['bot', 'bot:other'], 0],
    [['ann', 'bot'], 1],
  ])('an act of a person, where actor is %j', async (actor, branches) => {
    const [rule] = BRANCH.rules;
    const rules = file({ rules: rule ? [{ ...rule, where: { ...rule.where, actor } }] : [] });
    const tagged = act('tag.create', { repo: 'acme/app', tag: 'v1.4.0' }, { sha: 'b'.repeat(40) });

    const { writes } = await derive(given(forge(repo('app')), START, tagged), [rules], NOBODY_READS);

    expect(writes).toHaveLength(branches);
  });

  it('wants a mirror for each repository but private and archived ones, and none twice', async () => {
    const mirrored = {
      mirrors: [{ address: 'https://mirror.example.org/kept.git', interval: '28800', onCommit: false }],
    };
    const before = forge(
      repo('open'),
      repo('secret', { private: true }),
      repo('old', { archived: true }),
      repo('kept', {}, mirrored),
    );

    const { writes } = await derive(given(before, START, act('nightfall', {})), [MIRRORS], NOBODY_READS);

    expect(writes).toEqual([{ by: 'policy', method: 'POST', path: '/repos/acme/open/push_mirrors' }]);
  });

  it('wants what a rule says for the events it is about, at the commit of the tag', async () => {
    const sha = 'b'.repeat(40);

    const { model, writes } = await derive(
      given(
        forge(repo('app')),
        act('tag.create', { repo: 'acme/app', tag: 'v1.4.0' }, { sha }),
        act('tag.create', { repo: 'acme/app', tag: 'v1.4.1' }, { sha }),
      ),
      [BRANCH],
      NOBODY_READS,
    );

    expect(writes).toEqual([{ by: 'rule', method: 'POST', path: '/repos/acme/app/branches' }]);
    expect(model.repo('acme/app').branches.get('release/1.4')).toEqual({ value: sha, by: 'rule' });
  });

  it('takes a forged delivery and what the bot did itself for nothing', async () => {
    const own = { ...act('tag.create', { repo: 'acme/app', tag: 'v2.0.0' }, { sha: 'c'.repeat(40) }), as: 'Forgehand' };

    const { writes } = await derive(
      given(forge(repo('app')), act('forged', { repo: 'acme/app', tag: 'v66.0.0' }), own),
      [BRANCH],
      NOBODY_READS,
    );

    expect(writes).toEqual([]);
  });

  it.each([
    ['an act', given(forge(), act('repository.explode', {})), file({})],
    [
      'an action',
      given(forge(repo('app')), START),
      file({ policies: [{ wants: [{ action: 'wiki.write', with: {} }] }] }),
    ],
    ['a filter', given(forge(repo('app')), START), file({ policies: [{ subjects: { stars: 3 } }] })],
  ])('would rather say nothing than guess about %s it does not know', async (_what, handover, text) => {
    await expect(derive(handover, [text], NOBODY_READS)).rejects.toThrow(CannotDerive);
  });
});

describe('verifier/compare', () => {
  const LABEL = { name: 'bug', color: 'd73a4a', description: '', exclusive: false };
  const LABELS = file({
    policies: [{ id: 'labels', wants: [{ action: 'label.ensure', with: { name: 'bug', color: '#D73A4A' } }] }],
  });
  const wrongOf = async (actual: Snapshot, before = forge(repo('app'))): Promise<string[]> => {
    const { model } = await derive(given(before, START), [LABELS], NOBODY_READS);
    return compareForge(model, actual)
      .filter(({ verdict }) => verdict !== 'ok')
      .map(({ verdict, what, item }) => `${verdict} ${what} ${item}`);
  };

  it('is content with what is exactly as it should be', async () => {
    expect(await wrongOf(forge(repo('app', {}, { labels: [LABEL] })))).toEqual([]);
  });

  it.each<[string, Snapshot, RegExp]>([
    ['a label that is missing', forge(repo('app')), /^missing labels acme\/app: name bug/],
    [
      'a label that is there twice',
      forge(repo('app', {}, { labels: [LABEL, LABEL] })),
      /^extra labels acme\/app: name bug/,
    ],
    [
      'a branch that nobody made',
      forge(repo('app', {}, { labels: [LABEL], branches: { main: 'a'.repeat(40), odd: 'b'.repeat(40) } })),
      /^extra branches acme\/app: odd/,
    ],
    [
      'a branch at another commit',
      forge(repo('app', {}, { labels: [LABEL], branches: { main: 'b'.repeat(40) } })),
      /^missing branches acme\/app: main at aaaaaaaaaa/,
    ],
    ['a repository that is gone', forge(), /^missing repositories acme\/app/],
    [
      'a variable that nobody set',
      { ...forge(repo('app', {}, { labels: [LABEL] })), orgVariables: { X: { value: '1', description: '' } } },
      /^extra organization variables X = 1/,
    ],
  ])('sees %s', async (_what, actual, line) => {
    expect(await wrongOf(actual)).toEqual(expect.arrayContaining([expect.stringMatching(line)]));
  });

  it('leaves a label of that name as people made it where the rule keeps what is there', async () => {
    const theirs = forge(repo('app', {}, { labels: [{ ...LABEL, color: 'ffffff' }] }));
    const kept = file({
      policies: [
        { id: 'labels', wants: [{ action: 'label.ensure', with: { name: 'bug', color: '#D73A4A', keep: true } }] },
      ],
    });
    const { model } = await derive(given(theirs, START), [kept], NOBODY_READS);

    expect(compareForge(model, theirs).filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
    await expect(wrongOf(theirs, theirs)).rejects.toThrow('bug is there otherwise');
  });

  it('counts writes: one that came twice is one too many', () => {
    const write = { by: 'labels', method: 'POST', path: '/repos/acme/app/labels' };

    expect(compareWrites([write], [write, write]).map(({ verdict }) => verdict)).toEqual(['ok', 'extra']);
  });
});
