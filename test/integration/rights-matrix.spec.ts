import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ForgeLookupReader } from '../../src/actions/lookups/forge-lookup-reader.js';
import type { EventRepository, ForgeEvent } from '../../src/core/event.js';
import { textOf } from '../../src/core/reason.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { loadRules } from '../../src/rules/language/load/load-rules.js';
import { matchEvent } from '../../src/rules/language/match/matcher.js';
import { evaluateRule } from '../../src/rules/language/propose/evaluate-rule.js';
import type { CompiledRule, Evaluation, LookupAnswers, Revision } from '../../src/rules/language/revision.js';
import { addMember, makeTeam } from '../../src/sandbox/resources/team.js';
import { anEvent } from '../builders/arrivals.js';
import { APP, TrackerRig } from './support/tracker-rig.js';
import { aWholeEnvironment } from '../builders/whole-environment.js';

const SHA = 'ab'.repeat(20);

/** What the steps are, in the order of the letters below. */
const STEPS: ReadonlyArray<readonly [string, string]> = [
  ['label', 'issue.label: {number: "1", add: [bug]}'],
  ['status', `status.set: {sha: "${SHA}", context: x, state: success}`],
  ['merge', `pull_request.merge: {number: "1", sha: "${SHA}"}`],
  ['release', 'release.update: {tag: v1.0.0, prerelease: false}'],
  ['mirror', 'push_mirror.ensure: {remote_address: "https://mirror.example.org/a.git", interval: 8h}'],
  ['variable', 'org_variable.set: {name: X, value: "1"}'],
];

/**
 * 5 actors x 8 triggers x 6 steps. y = the step is wanted, n = it is not. The steps need, in order: write on issues or pulls; write on code;
 * write on code; write on releases; admin of the repository; ownership of the organization.
 */
// prettier-ignore
const TABLE: Readonly<Record<string, Readonly<Record<Actor, string>>>> = {
  //                                owner            collaborator     team units       reader           outsider
  'command, by delivery':     { olga: 'yyyyyy', carl: 'yyyynn', wes: 'ynnynn', rita: 'nnnnnn', otto: 'nnnnnn' },
  'command, by feed':         { olga: 'yyyyyy', carl: 'yyyynn', wes: 'ynnynn', rita: 'nnnnnn', otto: 'nnnnnn' },
  'comment edited to one':    { olga: 'nnnnnn', carl: 'nnnnnn', wes: 'nnnnnn', rita: 'nnnnnn', otto: 'nnnnnn' },
  'command quoted':           { olga: 'nnnnnn', carl: 'nnnnnn', wes: 'nnnnnn', rita: 'nnnnnn', otto: 'nnnnnn' },
  'text of a review':         { olga: 'nnnnnn', carl: 'nnnnnn', wes: 'nnnnnn', rita: 'nnnnnn', otto: 'nnnnnn' },
  'text of an issue':         { olga: 'nnnnnn', carl: 'nnnnnn', wes: 'nnnnnn', rita: 'nnnnnn', otto: 'nnnnnn' },
  'rule without a command':   { olga: 'yyyyyy', carl: 'yyyyyy', wes: 'yyyyyy', rita: 'yyyyyy', otto: 'yyyyyy' },
  'schedule':                 { olga: 'yyyyyy', carl: 'yyyyyy', wes: 'yyyyyy', rita: 'yyyyyy', otto: 'yyyyyy' },
};

type Actor = 'olga' | 'carl' | 'wes' | 'rita' | 'otto';
const ACTORS: readonly Actor[] = ['olga', 'carl', 'wes', 'rita', 'otto'];
const engine = new CelEngine();

function rulesFor(step: string): Revision {
  const rule = (id: string, head: string): string =>
    `  - id: ${id}\n    ${head}\n    limits: {effects_per_run: 5}\n    do: {${step}}\n`;
  const text = `version: 1\norg: acme\nrules:\n${rule('by-command', 'on: comment.created\n    where: {repo: app, command: go}')}${rule('by-event', 'on: issue.closed\n    where: {repo: app}')}${rule('by-clock', 'schedule: {cron: "0 4 * * *"}\n    where: {repo: app}')}`;
  const result = loadRules([{ path: 'rules.yaml', text }], aWholeEnvironment(engine));
  if (!result.ok) throw new Error(result.problems.map(({ line, message }) => `${line}: ${message}`).join('\n'));
  return result.revision;
}

const revisions = new Map(STEPS.map(([name, step]) => [name, rulesFor(step)]));

describe.each(['gitea', 'forgejo'] as const)('integration/rights-matrix (%s)', (profile) => {
  let rig: TrackerRig;
  let repo: EventRepository;
  const ids = new Map<Actor, string>();
  const rights = new Map<Actor, LookupAnswers>();

  beforeAll(async () => {
    rig = await TrackerRig.start(profile, ACTORS);
    repo = rig.repo;
    const { world } = rig.sandbox.parts;
    const org = world.ownerByName('acme');
    const app = [...world.repos.values()].find(({ name }) => name === 'app');
    if (org?.kind !== 'organization' || !app) throw new Error('no stage');
    const user = (login: string) => {
      const found = world.ownerByName(login);
      if (found?.kind !== 'user') throw new Error(`no ${login}`);
      return found;
    };
    const owners = [...world.teams.values()].find((team) => team.orgId === org.id && team.permission === 'owner');
    if (!owners) throw new Error('no owners');
    addMember(world, owners, user('olga'));
    const triage = makeTeam(world, {
      org,
      name: 'triage',
      permission: 'write',
      units: ['repo.issues', 'repo.pulls', 'repo.releases'],
    });
    triage.units.set('repo.code', 'read');
    triage.repos.add(app.id);
    // A team that reaches another repository only gives nothing here.
    const elsewhere = makeTeam(world, { org, name: 'elsewhere', permission: 'admin' });
    addMember(world, elsewhere, user('otto'));
    addMember(world, triage, user('wes'));
    await rig.stage.addCollaborator({ ...APP, collaborator: 'carl', body: { permission: 'write' } });
    await rig.stage.addCollaborator({ ...APP, collaborator: 'rita', body: { permission: 'read' } });
    for (const login of ACTORS) ids.set(login, String(user(login).id));
    const reader = new ForgeLookupReader({ get: () => rig.access });
    for (const login of ACTORS) {
      const request = {
        as: 'actor.rights',
        use: 'actor.rights',
        params: { login, id: ids.get(login) ?? '' },
        onMissing: 'none' as const,
      };
      rights.set(login, { 'actor.rights': await reader.read(request, { forge: 'main', org: 'acme', repo }) });
    }
  });
  afterAll(() => rig.close());

  function eventOf(trigger: string, login: Actor): ForgeEvent | null {
    const actor = { id: ids.get(login) ?? '', login };
    const comment = (body: string) => ({
      number: 1,
      issue: { id: '5', number: 1 },
      comment: { id: '9', body },
      is_pull: false,
    });
    switch (trigger) {
      case 'command, by delivery':
        return anEvent({ kind: 'comment.created', repo, actor, data: comment('/go') });
      case 'command, by feed':
        return anEvent({ kind: 'comment.created', source: 'feed', repo, actor, data: comment('/go now') });
      case 'comment edited to one':
        return anEvent({ kind: 'comment.edited', repo, actor, data: comment('/go') });
      case 'command quoted':
        return anEvent({ kind: 'comment.created', repo, actor, data: comment('> /go\n\n/go') });
      case 'text of a review':
        return anEvent({
          kind: 'review.commented',
          repo,
          actor,
          data: { number: 1, review: { content: '/go', body: '/go' } },
        });
      case 'text of an issue':
        return anEvent({
          kind: 'issue.opened',
          repo,
          actor,
          data: { number: 1, issue: { id: '5', number: 1, body: '/go' } },
        });
      case 'rule without a command':
        return anEvent({ kind: 'issue.closed', repo, actor, data: { number: 1, issue: { id: '5', number: 1 } } });
      default:
        return null;
    }
  }

  /** What the rules of one step make of it: the decision of the rule that takes it, or null when none does. */
  function decide(revision: Revision, trigger: string, login: Actor, answers: LookupAnswers): Evaluation | null {
    const event = eventOf(trigger, login);
    const input = {
      org: 'acme',
      event,
      repo,
      now: new Date('2026-07-30T12:00:00Z'),
      bot: { login: 'forgehand', id: '99' },
      lookups: answers,
    };
    const rules: readonly CompiledRule[] = event
      ? matchEvent(revision, event, { botLogin: 'forgehand', botId: '99' }).candidates
      : revision.rules.filter(({ schedule }) => schedule !== null);
    const [rule] = rules;
    return rule ? evaluateRule(rule, input, engine) : null;
  }

  const cells = Object.entries(TABLE).flatMap(([trigger, row]) =>
    ACTORS.flatMap((actor) => STEPS.map(([step], index) => [trigger, actor, step, row[actor].charAt(index)] as const)),
  );

  it('has 240 cells', () => {
    expect(new Set(cells.map(([trigger, actor, step]) => `${trigger}/${actor}/${step}`)).size).toBe(240);
    expect(cells.every(([, , , letter]) => letter === 'y' || letter === 'n')).toBe(true);
  });

  it.each(cells)('%s by %s: %s is %s', (trigger, actor, step, letter) => {
    const revision = revisions.get(step);
    if (!revision) throw new Error(step);
    const evaluation = decide(revision, trigger, actor, rights.get(actor) ?? {});

    expect(evaluation?.kind ?? 'decided').toBe('decided');
    const steps = evaluation?.kind === 'decided' ? evaluation.steps : [];
    expect(steps.length > 0 ? 'y' : 'n').toBe(letter);
    if (trigger.startsWith('command, ') && letter === 'n' && evaluation?.kind === 'decided') {
      const { verdict, reason } = evaluation.report;
      expect(verdict).toBe('not-fired');
      expect(reason && textOf(reason)).toContain(`${actor} may not ask for`);
    }
  });

  it('asks for the rights of whoever gave the command before anything is wanted', () => {
    const revision = revisions.get('label');
    expect(revision && decide(revision, 'command, by delivery', 'olga', {})).toMatchObject({
      kind: 'needs-lookup',
      request: { use: 'actor.rights', params: { login: 'olga', id: ids.get('olga') } },
    });
  });

  it.each<[string, LookupAnswers[string]]>([
    ['the read fails', { failed: 'refused (403)' }],
    ['nothing is found', { missing: true }],
    [
      'nothing can be known',
      {
        value: {
          login: 'olga',
          level: 'owner',
          units: {},
          teams: [],
          is_known: false,
          reason: 'this token may read neither',
        },
      },
    ],
  ])('takes everybody for an outsider when %s, and says so', (_, answer) => {
    const revision = revisions.get('label');
    const evaluation = revision && decide(revision, 'command, by delivery', 'olga', { 'actor.rights': answer });

    expect(evaluation).toMatchObject({ kind: 'decided', steps: [], report: { verdict: 'not-fired' } });
    const reason = evaluation?.kind === 'decided' ? evaluation.report.reason : null;
    expect(reason && textOf(reason)).toContain('an outsider');
  });

  it('does not take somebody for another account that had the name', async () => {
    const reader = new ForgeLookupReader({ get: () => rig.access });
    const read = (params: { login: string; id: string }) =>
      reader.read({ as: 'x', use: 'actor.rights', params, onMissing: 'none' }, { forge: 'main', org: 'acme', repo });

    expect(await read({ login: 'olga', id: ids.get('otto') ?? '' })).toMatchObject({ value: { level: 'none' } });
    expect(await read({ login: 'gitea-actions', id: '-2' })).toMatchObject({ value: { level: 'none' } });
  });
});
