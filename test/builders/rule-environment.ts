import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { loadRules } from '../../src/rules/language/load/load-rules.js';
import type { CompiledPolicy, CompiledRule, LoadEnvironment, Revision } from '../../src/rules/language/revision.js';
import type { ActionFacts, LookupFacts } from '../../src/rules/language/catalogue.js';

const text = (required = false) => ({ type: 'string' as const, required, summary: '' });
const flag = { type: 'boolean' as const, required: false, summary: '' };

/** A small catalogue with every trait the compiler looks at; the real one is checked against the example rules. */
export const someActions: ReadonlyMap<string, ActionFacts> = new Map(
  (
    [
      {
        name: 'label.ensure',
        params: { name: text(true), color: text(true), description: text(), exclusive: flag },
        naturalKey: 'name',
        operations: ['createLabel', 'listLabels'],
        target: 'repository',
        checkConstant: (param, value) =>
          param === 'color' && !/^#[0-9a-f]{6}$/i.test(String(value)) ? 'is no colour like #d73a4a' : null,
      },
      {
        name: 'milestone.ensure',
        params: {
          title: text(true),
          due_on: { type: 'time', required: false, summary: '' },
          state: text(),
          description: text(),
        },
        naturalKey: 'title',
        operations: ['createMilestone', 'listMilestones'],
        target: 'repository',
      },
      {
        name: 'push_mirror.ensure',
        naturalKey: 'remote_address',
        operations: ['createPushMirror', 'listPushMirrors'],
        target: 'repository',
        params: {
          remote_address: text(true),
          interval: text(),
          sync_on_commit: flag,
          remote_username: text(),
          remote_password: { ...text(), secret: true },
          private: flag,
        },
      },
      {
        name: 'branch.create',
        params: { new_branch_name: text(true), old_ref_name: text() },
        naturalKey: 'new_branch_name',
        operations: ['createBranch', 'getBranch'],
        target: 'repository',
      },
      {
        name: 'release.update',
        params: { id: { type: 'integer', required: true, summary: '' }, body: text(), prerelease: flag },
        naturalKey: 'id',
        operations: ['updateRelease'],
        target: 'repository',
      },
      {
        name: 'org_variable.set',
        params: { name: text(true), value: { ...text(true), sealed: true }, description: text() },
        naturalKey: 'name',
        operations: ['updateOrgVariable'],
        target: 'organization',
      },
      {
        name: 'repo.create_for_user',
        params: { username: text(true), name: text(true), private: flag },
        naturalKey: 'name',
        operations: ['adminCreateRepo'],
        target: 'account',
        power: 'repo.create_for_user',
      },
      {
        name: 'note.keep',
        params: {
          value: { type: 'any', required: true, summary: '' },
          count: { type: 'integer', required: false, summary: '', default: 1 },
        },
        naturalKey: 'id',
        operations: ['noteKeep'],
        requires: ['noteKeep'],
        target: 'organization',
      },
    ] satisfies Array<Omit<ActionFacts, 'summary'>>
  ).map((facts) => [facts.name, { summary: '', ...facts }]),
);

export const someLookups: ReadonlyMap<string, LookupFacts> = new Map(
  (
    [
      { name: 'branch.get', params: { branch: text(true) }, operations: ['getBranch'] },
      {
        name: 'files.read',
        params: { files: { type: 'strings', required: true, summary: '' }, ref: text() },
        operations: ['getFiles'],
      },
      {
        name: 'tasks.list',
        params: { limit: { type: 'integer', required: false, summary: '' } },
        operations: ['listActionTasks'],
      },
      { name: 'labels.list', params: {}, operations: ['listLabels'] },
      { name: 'milestones.list', params: { state: text() }, operations: ['listMilestones'] },
      { name: 'push_mirrors.list', params: {}, operations: ['listPushMirrors'] },
      { name: 'hooks.list', params: {}, operations: ['listOrgHooks'], target: 'organization' },
    ] satisfies Array<Omit<LookupFacts, 'summary'>>
  ).map((facts) => [facts.name, { summary: '', ...facts }]),
);

export function aLoadEnvironment(overrides: Partial<LoadEnvironment> = {}): LoadEnvironment {
  return {
    org: 'acme',
    actions: someActions,
    lookups: someLookups,
    powers: new Set(),
    secrets: new Set(['mirror_token']),
    engine: new CelEngine(),
    ...overrides,
  };
}

/** The revision of files that are given as text; fails with their problems. */
export function aRevision(texts: string | readonly string[], overrides: Partial<LoadEnvironment> = {}): Revision {
  const files = [texts].flat().map((content, index) => ({ path: `rules/${index + 1}.yaml`, text: content }));
  // What a version before let pass still runs: specs of evaluating may use it.
  const result = loadRules(files, { ...aLoadEnvironment(overrides), wasActive: true });
  if (!result.ok)
    throw new Error(
      result.problems.map(({ line, col, message, hint }) => `${line}:${col}: ${message} (${hint})`).join('\n'),
    );
  return result.revision;
}

/** One rule, given as the YAML below `- `, each line indented by nothing. */
export function aRule(yaml: string, head = '', overrides: Partial<LoadEnvironment> = {}): CompiledRule {
  return aRevision(`version: 1\norg: acme\n${head}rules:\n  -\n${indent(yaml)}`, overrides).rules[0]!;
}

export function aPolicy(yaml: string, head = '', overrides: Partial<LoadEnvironment> = {}): CompiledPolicy {
  return aRevision(`version: 1\norg: acme\n${head}policies:\n  -\n${indent(yaml)}`, overrides).policies[0]!;
}

function indent(yaml: string): string {
  return yaml
    .replace(/^\n/, '')
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');
}
