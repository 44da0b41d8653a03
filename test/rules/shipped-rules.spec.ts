import { describe, expect, it } from '@jest/globals';
import { actionCatalogue, actions } from '../../src/actions/index.js';
import { lookupCatalogue } from '../../src/actions/lookups/index.js';
import { checkParam } from '../../src/actions/support/params.js';
import type { EventKind } from '../../src/core/event-kinds.js';
import type { EventRepository, ForgeEvent } from '../../src/core/event.js';
import type { Json, JsonObject } from '../../src/core/json.js';
import { textOf } from '../../src/core/reason.js';
import { evaluatePolicy } from '../../src/policies/evaluate-policy.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { loadRules } from '../../src/rules/language/load/load-rules.js';
import { evaluateRule } from '../../src/rules/language/propose/evaluate-rule.js';
import type {
  CompiledPolicy,
  CompiledRule,
  Evaluation,
  LookupAnswers,
  LookupRequest,
  RuleFile,
} from '../../src/rules/language/revision.js';
import { builtInSets } from '../../src/rules/sources/built-in-sets.js';
import { FolderSource } from '../../src/rules/sources/folder-source.js';
import { missingSets } from '../../src/rules/sources/shared-files.js';

const engine = new CelEngine();
const SHA = '0123456789abcdef0123456789abcdef01234567';
const NOW = new Date('2026-07-30T12:00:00Z');
const FOLDERS = ['starters', 'organization', 'examples', 'acme', 'sets'];

const APP: EventRepository = {
  id: '7',
  owner: 'acme',
  name: 'app',
  full_name: 'acme/app',
  private: false,
  archived: false,
  fork: false,
  default_branch: 'main',
  topics: ['product'],
};

const POWERS = new Set([...actionCatalogue().values()].flatMap(({ power }) => power ?? []));

/** One file that extends each built-in set. */
function allSets(): RuleFile[] {
  const text = `version: 1\norg: acme\nextends: [${[...builtInSets().keys()].join(', ')}]\n`;
  const own = [{ path: 'all.yaml', text }];
  return [...own, ...missingSets(own, { builtInSets: true })];
}

async function load(folder: string): Promise<{ rules: readonly CompiledRule[]; policies: readonly CompiledPolicy[] }> {
  const result = loadRules(folder === 'sets' ? allSets() : await new FolderSource(`config/rules/${folder}`).read(), {
    org: 'acme',
    actions: actionCatalogue(),
    lookups: lookupCatalogue(),
    powers: POWERS,
    secrets: new Set(['mirror_token', 'dev_chat']),
    mirrorHosts: ['mirror.example.org'],
    engine,
    checkTypes: true,
  });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.revision;
}

const many = <One>(count: number, one: (n: number) => One): One[] =>
  Array.from({ length: count }, (_, n) => one(n + 1));

/** What the forge answers where there is so much of everything; null = there is none. */
function answer({ use, params, first }: Pick<LookupRequest, 'use' | 'params' | 'first'>, count: number): Json {
  const rows: Readonly<Record<string, (count: number) => Json>> = {
    'issues.list': (most) =>
      // Somebody opened the first one of theirs just now, and the last of the milestone is closed.
      many('author' in params ? 1 : 'milestone' in params ? 0 : most, (n) => ({
        number: n,
        title: `issue ${n}`,
        state: 'open',
        labels: [
          ...(Array.isArray(params['labels']) ? params['labels'] : []),
          'kind/bug',
          'area/docs',
          'size/S',
          'prio/high',
          'needs/triage',
        ].map((name) => ({ name })),
      })),
    'pull_request.files': (most) =>
      many(most, (n) => ({ filename: n % 2 ? `docs/${n}.md` : `.gitea/${n}.yaml`, changes: n })),
    'pull_request.get': () => ({
      number: Number(params['number']),
      state: 'open',
      merged: false,
      draft: false,
      mergeable: false,
      labels: [],
      head: { ref: 'topic', repo_id: APP.id, sha: SHA },
    }),
    'pull_request.commits': (most) =>
      many(most, (n) => ({
        sha: SHA,
        parents: [{ sha: SHA }],
        commit: {
          message: `${'x'.repeat(300)}\n\nSigned-off-by: Ann <ann@example.org>`,
          author: { name: 'Ann', email: `ann${n}@example.org` },
        },
      })),
    'issue.get': () => ({
      number: Number(params['number']),
      state: params['number'] === 3 ? 'closed' : 'open',
      milestone: { title: '1.4', open_issues: 0 },
    }),
    'runs.list': (most) =>
      many(Math.min(most, 50), (n) => ({ id: String(n), status: 'completed', conclusion: 'failure' })),
    'releases.list': (most) => many(Math.min(most, 50), (n) => ({ tag_name: `v1.${100 - n}.0`, draft: false })),
    'tasks.list': (most) => ({
      total_count: most,
      workflow_runs: many(Math.min(most, 50), (n) => ({ id: String(n), head_branch: 'main', status: 'failure' })),
    }),
    'jobs.mine': (most) => ({
      total_count: most,
      jobs: many(Math.min(most, 50), (n) => ({
        id: String(n),
        run_id: String(n),
        run_attempt: 1,
        html_url: `https://forge.example.org/acme/app/actions/runs/${n}/jobs/0`,
      })),
    }),
    'jobs.of_attempt': () => ({ total_count: 1, jobs: [{ name: 'build' }] }),
    'files.read': () =>
      (params['files'] as string[]).map((path, n) => ({
        path,
        content: path === 'CHANGELOG.md' ? '## v1.4.0\n\nFaster.\n' : `owner: ann\nname: repo-${n}\n`,
      })),
    'branch.get': () => (String(params['branch']).startsWith('release/') ? null : { name: 'main', protected: true }),
    'protection.get': () => ({ rule_name: String(params['name']), required_approvals: 1 }),
    'package.get': () => ({ name: 'app', version: 'v1.4.0' }),
    'repo.get': () => ({ name: 'app', topics: [], allow_squash_merge: false }),
    'actor.rights': () => ({ login: 'ann', level: 'write', units: {}, teams: [], is_known: true, reason: 'x' }),
    '@bot': () => ({
      last_delivery_at: NOW.toISOString(),
      hook_url: 'https://bot.example.org/webhooks/acme',
      needed_events: ['push'],
      commit: SHA,
    }),
  };
  const all = (rows[use] ?? ((): Json => []))(
    typeof params['limit'] === 'number' ? Math.min(count, params['limit']) : count,
  );
  return Array.isArray(all) ? all.slice(0, first) : all;
}

function decideAll(
  evaluate: (answers: LookupAnswers) => Evaluation,
  count: number,
  failing = false,
): Extract<Evaluation, { kind: 'decided' }> {
  const answers: Record<string, LookupAnswers[string]> = {};
  for (;;) {
    const evaluation = evaluate(answers);
    if (evaluation.kind === 'decided') return evaluation;
    const { as, each, ...request } = evaluation.request;
    const value = each ? each.map((params) => answer({ ...request, params }, count)) : answer(request, count);
    answers[as] = failing ? { failed: 'status 403' } : value === null ? { missing: true } : { value };
  }
}

function eventOf(kind: EventKind, rule: CompiledRule, count: number): ForgeEvent {
  const word = rule.program.where.command?.[0]?.source ?? 'thanks';
  const isRelease = kind.startsWith('release.') || kind.startsWith('tag.');
  return {
    id: 'event-1',
    kind,
    org: 'acme',
    forge: 'main',
    source: 'webhook',
    occurredAt: NOW,
    actor: { id: '5', login: 'ann' },
    repo:
      rule.id.includes('request') && kind === 'push' ? { ...APP, name: 'requests', full_name: 'acme/requests' } : APP,
    data: {
      number: '3',
      is_pull: true,
      branch: isRelease
        ? null
        : kind === 'pull_request.merged' && rule.id.startsWith('milestone')
          ? 'release/1.4'
          : 'main',
      tag: isRelease ? 'v1.4.0' : null,
      sha: SHA,
      after: SHA,
      files: { added: many(count, (n) => `repos/r${n}.yml`), modified: [], removed: [] },
      author: 'ann',
      labels: ['stale', 'merge/ready', 'patch', 'backport/release/1.4'],
      derived: { labels_added: ['backport/release/1.4'], labels_removed: [] },
      issue: { number: 3, labels: [{ name: 'stale' }] },
      pull_request: {
        number: 3,
        title: 'feat: faster',
        body: many(count, (n) => `Fixes #${n}.`).join('\n'),
        draft: false,
        merged: true,
        labels: [{ name: 'stale' }, { name: 'merge/ready' }, { name: 'patch' }, { name: 'backport/release/1.4' }],
      },
      release: { id: '31', tag_name: 'v1.4.0' },
      task: { job_id: '5', status: 'failure' },
      run: {
        id: '5',
        conclusion: 'failure',
        display_title: 'ci',
        html_url: 'https://git.example.org/acme/app/actions/runs/5',
      },
      comment: { body: `/${word} kind/bug` },
    },
  } as unknown as ForgeEvent;
}

interface Play {
  readonly verdict: string;
  readonly reason: string;
  readonly effects: ReadonlyArray<{ readonly action: string; readonly itemKey: string; readonly wrong: string }>;
}

function shown({ report, steps }: Extract<Evaluation, { kind: 'decided' }>): Play {
  return {
    verdict: report.verdict,
    reason: textOf(report.reason),
    effects: steps.flatMap(({ action, items }) =>
      items.map(({ itemKey, params }) => ({ action, itemKey, wrong: wrongIn(action, params) })),
    ),
  };
}

/** What the action would refuse. */
function wrongIn(action: string, params: JsonObject): string {
  return Object.entries(params)
    .filter(([, value]) => value !== null && !(typeof value === 'object' && '$secret' in value))
    .flatMap(([name, value]) => {
      const param = actions.get(action)?.params[name];
      return param ? (checkParam(param, value) ?? []) : [`no parameter ${name}`];
    })
    .join('; ');
}

function playRule(rule: CompiledRule, count: number, failing = false): Play[] {
  const bot = { login: 'forgehand', id: '99' };
  const config = { revision: 'r' };
  const causes = [
    ...rule.on.map((kind) => ({ event: eventOf(kind as EventKind, rule, count), repo: undefined })),
    ...(rule.schedule ? [{ event: null, repo: APP }] : []),
  ];
  return causes.map(({ event, repo }) =>
    shown(
      decideAll(
        (lookups) =>
          evaluateRule(rule, { org: 'acme', event, ...(repo ? { repo } : {}), now: NOW, bot, config, lookups }, engine),
        count,
        failing,
      ),
    ),
  );
}

function playPolicy(policy: CompiledPolicy, failing = false): Play {
  const repo = policy.program.scope === 'repository' ? APP : null;
  return shown(
    decideAll(
      (lookups) =>
        evaluatePolicy(
          policy,
          { org: 'acme', repo, now: NOW, bot: { login: 'forgehand' }, config: { revision: 'r' }, lookups },
          engine,
        ),
      0,
      failing,
    ),
  );
}

const TOO_MUCH = /^over its limit|may walk 1000|too many steps/;

describe.each(FOLDERS)('config/rules/%s, played', (folder) => {
  it.each([1, 2, 31, 1000, 1500])('every rule does what it is for where there are %d of everything', async (count) => {
    const { rules } = await load(folder);
    const plays = rules.map((rule) => ({
      id: rule.id,
      limit: rule.limits?.effectsPerRun,
      isScheduled: rule.schedule !== null,
      plays: playRule(rule, count),
    }));

    const bad = plays.flatMap(({ id, limit, isScheduled, plays: own }) => {
      const told = own.flatMap(({ verdict, reason, effects }) => {
        const keys = effects.map(({ action, itemKey }) => `${action} ${itemKey}`);
        const wrong = effects.flatMap((effect) => (effect.wrong === '' ? [] : [effect.wrong]));
        // Who asks for too much by one act is told so; what the clock starts must get on with a backlog.
        if (verdict === 'error') return !isScheduled && TOO_MUCH.test(reason) && id.includes('request') ? [] : [reason];
        if (limit !== undefined && effects.length > limit) return [`${effects.length} effects, its limit is ${limit}`];
        if (new Set(keys).size < keys.length) return [`one key twice: ${keys.join(', ')}`];
        return wrong;
      });
      const fires = own.some(({ verdict, effects }) => verdict === 'fired' && effects.length > 0);
      return [
        ...told,
        ...(fires || count > 2 ? [] : [`never fires: ${own.map(({ reason }) => reason).join('; ')}`]),
      ].map((text) => `${id}: ${text}`);
    });

    expect(bad).toEqual([]);
  });

  it('every policy can make all that it asks for in repositories that have nothing of it', async () => {
    const { policies } = await load(folder);
    // Examples show limits; what people take as it is must get on with an organization of any size.
    const subjects = folder === 'examples' ? 1 : 1000;

    const bad = policies.flatMap((policy) => {
      const { verdict, reason, effects } = playPolicy(policy);
      const { effectsPerRun = Infinity, effectsPerPlan, percentOfSubjects } = policy.limits ?? {};
      const inPlan = effects.length * (policy.program.scope === 'repository' ? subjects : 1);
      return [
        ...(verdict === 'error' ? [reason] : []),
        ...(effects.length > effectsPerRun ? [`${effects.length} effects, its limit is ${effectsPerRun}`] : []),
        ...(inPlan > (effectsPerPlan ?? Infinity)
          ? [`${inPlan} effects in a plan, its limit is ${effectsPerPlan}`]
          : []),
        ...(subjects > 1 && percentOfSubjects ? [`it touches all subjects, its limit is ${percentOfSubjects} %`] : []),
        ...effects.map(({ wrong }) => wrong).filter((wrong) => wrong !== ''),
      ].map((text) => `${policy.id}: ${text}`);
    });

    expect(bad).toEqual([]);
  });

  it('what cannot be read is an error of that repository that names the read, or the reason why nothing is done', async () => {
    const { rules, policies } = await load(folder);
    const reads = rules.filter(({ program }) => program.lookups.length > 0);
    const plays = [
      ...reads.map((rule) => ({ id: rule.id, plays: playRule(rule, 2, true) })),
      ...policies.map((policy) => ({ id: policy.id, plays: [playPolicy(policy, true)] })),
    ];

    for (const { id, plays: own } of plays)
      for (const { verdict, reason, effects } of own)
        if (effects.length === 0 && verdict !== 'not-fired') expect(`${id}: ${reason}`).toContain('403');
        else if (verdict === 'fired') expect({ id, effects: effects.length }).toMatchObject({ id });
  });
});
