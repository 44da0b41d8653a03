import { CannotDerive } from './failures.js';
import type { Model, ModelRepo } from './model.js';
import type { ForgeReader } from './read-forge.js';
import type { Json, JsonObject } from './handover.js';

interface LookupScope {
  readonly model: Model;
  readonly reader: ForgeReader;
  readonly repo: ModelRepo | null;
  readonly org: string;
}

type Lookup = (scope: LookupScope, params: Readonly<Record<string, unknown>>) => Json | Promise<Json>;

/**
 * What a rule read at its time: from the model what rules and people change, from the forge what stays (files of a commit, packages,
 * protections).
 */
const LOOKUPS: Readonly<Record<string, Lookup>> = {
  'files.read': async (scope, { files, ref }) =>
    Promise.all((files as string[]).map((path) => readFile(scope, path, typeof ref === 'string' ? ref : null))),
  'branch.get': async (scope, { branch }) => {
    const branchOfModel = repoOf(scope).branches.get(String(branch));
    if (!branchOfModel) return null;
    const branchOfForge = (await scope.reader.find(
      `/repos/${nameOf(scope)}/branches/${encodeURIComponent(String(branch))}`,
    )) as JsonObject | null;
    return { name: String(branch), commit: { id: branchOfModel.value }, protected: branchOfForge?.protected === true };
  },
  'release.by_tag': (scope, { tag }) =>
    repoOf(scope).releases.find(({ value }) => value.tag_name === tag)?.value ?? null,
  'releases.list': (scope) => repoOf(scope).releases.map(({ value }) => value),
  'labels.list': (scope) => repoOf(scope).labels.map(({ value }) => ({ ...value })),
  'milestones.list': (scope) => repoOf(scope).milestones.map(({ value }) => ({ ...value })),
  'push_mirrors.list': (scope) =>
    repoOf(scope).mirrors.map(({ value }) => ({
      remote_address: value.address ?? null,
      interval: value.interval ?? null,
      sync_on_commit: value.onCommit ?? null,
    })),
  'repo.get': (scope) => repoOf(scope).info,
  'protection.get': (scope, { name }) =>
    scope.reader.find(`/repos/${nameOf(scope)}/branch_protections/${encodeURIComponent(String(name))}`),
  'package.get': (scope, { type, name, version, owner }) =>
    scope.reader.find(
      `/packages/${String(owner ?? scope.org)}/${String(type)}/${encodeURIComponent(String(name))}/${encodeURIComponent(String(version))}`,
    ),
  'hooks.list': async (scope) => scope.reader.list(`/orgs/${scope.org}/hooks`),
  'org_variable.get': (scope, { name }) =>
    scope.model.orgVariables.has(String(name).toUpperCase()) ? { name: String(name).toUpperCase() } : null,
};

/** @throws CannotDerive for a lookup that is not known here */
export async function lookUp(
  use: string,
  scope: LookupScope,
  params: Readonly<Record<string, unknown>>,
): Promise<Json> {
  const lookup = LOOKUPS[use];
  if (!lookup) throw new CannotDerive(`nothing is known here about the lookup ${use}`);
  return lookup(scope, params);
}

async function readFile(scope: LookupScope, path: string, ref: string | null): Promise<Json> {
  const repo = repoOf(scope);
  const refOrDefault = ref ?? String(repo.info.default_branch);
  // A branch moves on; the commit it was at then does not.
  const at = repo.branches.get(refOrDefault)?.value ?? refOrDefault;
  const file = (await scope.reader.find(
    `/repos/${nameOf(scope)}/contents/${path.split('/').map(encodeURIComponent).join('/')}?ref=${encodeURIComponent(at)}`,
  )) as JsonObject | null;
  if (!file || typeof file.content !== 'string') return null;
  return {
    path,
    name: path.split('/').at(-1) ?? path,
    encoding: 'utf-8',
    content: Buffer.from(file.content, 'base64').toString('utf8'),
  };
}

function repoOf({ repo }: LookupScope): ModelRepo {
  if (!repo) throw new CannotDerive('a lookup about a repository, in a run about none');
  return repo;
}

function nameOf(scope: LookupScope): string {
  return String(repoOf(scope).info.full_name);
}
