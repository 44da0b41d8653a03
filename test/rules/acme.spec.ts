import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { anEvent } from '../builders/arrivals.js';
import { actionCatalogue } from '../../src/actions/index.js';
import { lookupCatalogue } from '../../src/actions/lookups/index.js';
import type { EventRepository, ForgeEvent } from '../../src/core/event.js';
import type { JsonObject } from '../../src/core/json.js';
import { textOf } from '../../src/core/reason.js';
import { evaluatePolicy } from '../../src/policies/evaluate-policy.js';
import { policySubjects } from '../../src/policies/pure-rule-engine.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { loadRules } from '../../src/rules/language/load/load-rules.js';
import { matchEvent, tickSubjects } from '../../src/rules/language/match/matcher.js';
import { evaluateRule } from '../../src/rules/language/propose/evaluate-rule.js';
import type { Evaluation, LookupAnswers, Revision, RuleFile } from '../../src/rules/language/revision.js';

const FOLDER = fileURLToPath(new URL('../../config/rules/acme/', import.meta.url));
const files: RuleFile[] = readdirSync(FOLDER)
  .filter((name) => !name.endsWith('.test.yaml'))
  .sort()
  .map((path) => ({ path, text: readFileSync(join(FOLDER, path), 'utf8') }));
const engine = new CelEngine();
const POWERS = new Set(['repo.create_for_user', 'user_settings.update']);
const NOW = new Date('2026-07-30T12:00:00Z');

function load(given: readonly RuleFile[] = files, powers: ReadonlySet<string> = POWERS): ReturnType<typeof loadRules> {
  return loadRules(given, {
    org: 'acme',
    actions: actionCatalogue(),
    lookups: lookupCatalogue(),
    powers,
    secrets: new Set(['mirror_token']),
    engine,
    checkTypes: true,
  });
}

function loaded(): Revision {
  const result = load();
  if (!result.ok)
    throw new Error(result.problems.map(({ file, line, message }) => `${file}:${line}: ${message}`).join('\n'));
  return result.revision;
}

const revision = loaded();

function repo(over: Partial<EventRepository> = {}): EventRepository {
  return {
    id: '7',
    owner: 'acme',
    name: 'web',
    full_name: 'acme/web',
    private: false,
    archived: false,
    default_branch: 'main',
    ...over,
  };
}

/** Every effect that an event leads to, as `rule: action {params}`, with the answers that reads would get. */
function effectsOf(event: ForgeEvent, lookups: LookupAnswers = {}): Record<string, JsonObject[]> {
  const { candidates } = matchEvent(revision, event, { botLogin: 'forgehand', botId: '99' });
  const evaluations = candidates.map((rule): [string, Evaluation] => [
    rule.id,
    evaluateRule(rule, { org: 'acme', event, now: NOW, bot: { login: 'forgehand', id: '99' }, lookups }, engine),
  ]);
  return Object.fromEntries(evaluations.map(([id, evaluation]) => [id, paramsOf(evaluation)]));
}

function paramsOf(evaluation: Evaluation): JsonObject[] {
  if (evaluation.kind === 'needs-lookup') throw new Error(`needs ${evaluation.request.as}`);
  if (evaluation.report.verdict === 'error') throw new Error(textOf(evaluation.report.reason));
  return evaluation.steps.flatMap(({ items }) => items.map(({ params }) => params));
}

const CHANGELOG = {
  files: {
    value: [
      { path: 'CHANGELOG.md', encoding: 'utf-8', content: '# Changelog\n\n## v1.4.0\n- new\n\n## v1.3.0\n- old\n' },
    ],
  },
};

describe('config/rules/acme', () => {
  it('loads with the real catalogues, and uses all nine writing operations', () => {
    const used = new Set([...revision.rules, ...revision.policies].flatMap(({ operations }) => operations));

    expect(
      [
        'createBranch',
        'adminCreateRepo',
        'updateUserSettings',
        'createPushMirror',
        'updateRelease',
        'createLabel',
        'updateOrgVariable',
        'createMilestone',
        'createUserVariable',
      ].filter((name) => !used.has(name)),
    ).toEqual([]);
  });

  it.each(files.map(({ path }) => path))('%s stands alone: the others load without it', (path) => {
    const result = load(files.filter((file) => file.path !== path));

    expect(result.ok).toBe(true);
    expect(load(files.filter((file) => file.path === path)).ok).toBe(true);
  });

  it('needs the powers it says it needs', () => {
    const result = load(files, new Set());

    expect(result.ok ? [] : result.problems.map(({ file, message }) => `${file}: ${message}`)).toEqual([
      'bot-account.yaml: user_settings.update needs the power "user_settings.update", which the operator did not grant to acme',
      'repository-requests.yaml: repo.create_for_user needs the power "repo.create_for_user", which the operator did not grant to acme',
    ]);
  });

  it('opens the next milestone, polishes the notes and remembers the release', () => {
    const event = anEvent({
      kind: 'release.published',
      repo: repo(),
      data: { tag: 'v1.4.0', release: { id: '12', tag_name: 'v1.4.0' } },
    });

    expect(effectsOf(event, CHANGELOG)).toEqual({
      'last-release': [
        { name: 'LAST_RELEASE', value: 'web v1.4.0', description: 'Repository and tag of the newest release' },
      ],
      'milestone-per-line': [{ title: '1.5', description: 'What comes after 1.4', state: 'open', keep: true }],
      'release-notes': [{ id: '12', tag: 'v1.4.0', body: '- new', prerelease: false }],
    });
  });

  it('does the same for a release that was found by polling', () => {
    const event = anEvent({
      kind: 'release.published',
      source: 'feed',
      repo: repo(),
      data: { tag: 'v1.4.0', release: { tag_name: 'v1.4.0', name: 'x', draft: false } },
    });

    expect(effectsOf(event, CHANGELOG)['release-notes']).toEqual([{ tag: 'v1.4.0', body: '- new', prerelease: false }]);
  });

  it.each<[string, string, LookupAnswers, Record<string, number>]>([
    [
      'a later release of the line => no milestone',
      'v1.3.0-hotfix.1',
      { files: { value: [null] } },
      { 'last-release': 0, 'release-notes': 0 },
    ],
    ['a patch release => no milestone', 'v1.4.1', CHANGELOG, { 'last-release': 1, 'release-notes': 0 }],
    [
      'no such commit for the files => no notes',
      'v1.5.0',
      { files: { missing: true } },
      { 'last-release': 1, 'milestone-per-line': 1, 'release-notes': 0 },
    ],
  ])('%s', (_situation, tag, lookups, counts) => {
    const event = anEvent({
      kind: 'release.published',
      repo: repo(),
      data: { tag, release: { id: '12', tag_name: tag } },
    });

    expect(
      Object.fromEntries(Object.entries(effectsOf(event, lookups)).map(([rule, effects]) => [rule, effects.length])),
    ).toEqual(counts);
  });

  it('starts the branch of a release line with its first tag, once', () => {
    const tag = (name: string) =>
      anEvent({
        kind: 'tag.created',
        repo: repo(),
        data: { tag: name, ref: `refs/tags/${name}`, sha: 'a'.repeat(40) },
      });

    expect(effectsOf(tag('v1.4.0'), { line: { missing: true } })).toEqual({
      'release-branch': [{ new_branch_name: 'release/1.4', old_ref_name: 'v1.4.0' }],
    });
    expect(effectsOf(tag('v1.4.0'), { line: { value: { name: 'release/1.4' } } })).toEqual({ 'release-branch': [] });
    expect(effectsOf(tag('v1.4.1'))).toEqual({});
    expect(effectsOf(tag('v1.4.0-rc.0'))).toEqual({ 'release-branch': [] });
  });

  it('makes the repositories that a push asks for', () => {
    const push = (added: string[]) =>
      anEvent({
        repo: repo({ name: 'requests', full_name: 'acme/requests', private: true }),
        data: {
          branch: 'main',
          ref: 'refs/heads/main',
          after: 'b'.repeat(40),
          files: { added, modified: [], removed: [] },
        },
      });
    const asked = {
      asked: {
        value: [
          { path: 'repos/a.yml', content: 'owner: ann\nname: lab\n' },
          null,
          { path: 'repos/b.yml', content: null },
        ],
      },
    };

    expect(effectsOf(push(['repos/a.yml', 'README.md']), asked)).toEqual({
      'repository-requests': [{ username: 'ann', name: 'lab', private: true, auto_init: true, default_branch: 'main' }],
    });
    expect(effectsOf(push(['README.md']))).toEqual({ 'repository-requests': [] });
  });

  it('tells each night which default branches are protected', () => {
    const rule = revision.rules.find(({ id }) => id === 'protection-check')!;
    const inventory = [
      repo({ name: 'my-app', full_name: 'acme/my-app' }),
      repo({ name: 'old', full_name: 'acme/old', archived: true }),
    ];
    const evaluate = (head: LookupAnswers) =>
      paramsOf(
        evaluateRule(
          rule,
          { org: 'acme', event: null, repo: inventory[0]!, now: NOW, bot: { login: 'forgehand' }, lookups: head },
          engine,
        ),
      );

    expect(tickSubjects(rule, inventory).map((found) => found?.name)).toEqual(['my-app']);
    expect(evaluate({ head: { value: { protected: true } } })).toEqual([
      { name: 'PROTECTED_MY_APP', value: 'yes', description: 'Whether main of my-app is protected' },
    ]);
    expect(evaluate({ head: { value: { protected: false } } })[0]).toMatchObject({ value: 'no' });
    expect(evaluate({ head: { missing: true } })).toEqual([]);
  });

  it('keeps the account of the bot', () => {
    const rule = revision.rules.find(({ id }) => id === 'bot-account')!;

    expect(tickSubjects(rule, [repo()])).toEqual([null]);
    expect(
      paramsOf(
        evaluateRule(
          rule,
          { org: 'acme', event: null, repo: null, now: NOW, bot: { login: 'forgehand' }, lookups: {} },
          engine,
        ),
      ),
    ).toEqual([
      { description: 'Automation account of acme', hide_email: true },
      { name: 'HOME_ORGANIZATION', value: 'acme', description: 'The organization this account works for' },
    ]);
  });

  it('gives every repository its labels and every public one its mirror', () => {
    const inventory = [
      repo(),
      repo({ id: '8', name: 'vault', full_name: 'acme/vault', private: true }),
      repo({ id: '9', name: 'old', full_name: 'acme/old', archived: true }),
    ];
    const about = (id: string) => revision.policies.find((policy) => policy.id === id)!;
    const wanted = (id: string, lookups: LookupAnswers) =>
      paramsOf(
        evaluatePolicy(
          about(id),
          { org: 'acme', repo: repo(), now: NOW, bot: { login: 'forgehand' }, lookups },
          engine,
        ),
      );

    expect(policySubjects(about('standard-labels'), inventory).map((repo) => repo?.name)).toEqual(['web', 'vault']);
    expect(policySubjects(about('public-mirrors'), inventory).map((repo) => repo?.name)).toEqual(['web']);
    expect(
      wanted('standard-labels', {
        labels: {
          value: [{ name: 'kind/bug', color: 'd73a4a', description: 'Something does not work', exclusive: true }],
        },
      }).map(({ name }) => name),
    ).toEqual(['kind/feature', 'kind/docs', 'needs/triage', 'good first issue']);
    expect(wanted('public-mirrors', { push_mirrors: { value: [] } })).toEqual([
      {
        remote_address: 'https://mirror.example.org/acme/web.git',
        remote_username: 'acme-mirror',
        remote_password: { $secret: 'mirror_token' },
        interval: '8h',
        sync_on_commit: true,
      },
    ]);
  });
});
