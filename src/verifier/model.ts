import { CannotDerive } from './failures.js';
import type { Json, JsonObject, PlayedAct, RepoState, Row, Snapshot, Variable } from './handover.js';

/** What stands at the forge, and since whom: `people`, or the rule that wanted it. */
export interface IntentStatus<T> {
  readonly value: T;
  readonly by: string;
}

export const PEOPLE = 'people';

export interface ModelRepo {
  info: JsonObject;
  labels: IntentStatus<Row>[];
  milestones: IntentStatus<Row>[];
  mirrors: IntentStatus<Row>[];
  /** Name -> commit; null = any. */
  branches: Map<string, IntentStatus<string | null>>;
  tags: Map<string, string | null>;
  releases: IntentStatus<JsonObject>[];
}

/** The forge as it should be: how it was, and what people and rules did since, one after the other. */
export class Model {
  readonly repos = new Map<string, ModelRepo>();
  readonly orgVariables = new Map<string, IntentStatus<Variable>>();
  readonly accountVariables = new Map<string, IntentStatus<Variable>>();
  readonly accountSettings = new Map<string, IntentStatus<Json>>();

  constructor(before: Snapshot) {
    for (const repo of before.repos) this.repos.set(nameOf(repo.repo), repoOf(repo));
    for (const [name, value] of Object.entries(before.orgVariables)) this.orgVariables.set(name, byPeople(value));
    for (const [name, value] of Object.entries(before.accountVariables))
      this.accountVariables.set(name, byPeople(value));
    for (const [name, value] of Object.entries(before.accountSettings))
      this.accountSettings.set(name, byPeople(value as Json));
  }

  /** @throws CannotDerive */
  repo(fullName: string): ModelRepo {
    const repo = this.repos.get(fullName.toLowerCase());
    if (!repo) throw new CannotDerive(`${fullName} is not known`);
    return repo;
  }

  /** What an act itself changes, whatever any rule wants. */
  perform({ act, params, result }: PlayedAct): void {
    const change = ACTS[act];
    if (!change) throw new CannotDerive(`nothing is known here about the act ${act}`);
    change(this, params, (result ?? {}) as JsonObject);
  }
}

type Change = (model: Model, params: JsonObject, result: JsonObject) => void;

const nothing: Change = () => undefined;

const ACTS: Readonly<Record<string, Change>> = {
  push: (model, { repo, branch }, { after }) => {
    const at = model.repo(String(repo));
    at.branches.set(String(branch ?? at.info.default_branch), byPeople(String(after)));
  },
  'branch.create': (model, { repo, branch }, { commit }) =>
    void model.repo(String(repo)).branches.set(String(branch), byPeople(String((commit as JsonObject).id))),
  'branch.delete': (model, { repo, branch }) => void model.repo(String(repo)).branches.delete(String(branch)),
  'tag.create': (model, { repo, tag }, { sha }) => void model.repo(String(repo)).tags.set(String(tag), String(sha)),
  'release.publish': (model, { repo }, result) => putRelease(model.repo(String(repo)), result),
  'release.draft': (model, { repo }, result) => putRelease(model.repo(String(repo)), result),
  'release.edit': (model, { repo }, result) => putRelease(model.repo(String(repo)), result),
  'repository.create': (model, { repo, private: isPrivate, description, default_branch }, { id }) => {
    const fullName = String(repo);
    const info: JsonObject = {
      id: id ?? null,
      full_name: fullName,
      name: fullName.split('/')[1] ?? '',
      owner: { login: fullName.split('/')[0] ?? '' },
      private: isPrivate === true,
      description: description ?? '',
      default_branch: default_branch ?? 'main',
      archived: false,
      fork: false,
      mirror: false,
    };
    model.repos.set(fullName.toLowerCase(), {
      ...repoOf({ repo: info, labels: [], milestones: [], mirrors: [], branches: {}, releases: [] }),
      branches: new Map([[String(info.default_branch), byPeople(null)]]),
    });
  },
  'repository.archive': (model, { repo, archived }) =>
    void (model.repo(String(repo)).info.archived = archived !== false),
  'pull.sync': (model, { repo, number: _, branch }, { after }) =>
    void (branch === undefined
      ? undefined
      : model.repo(String(repo)).branches.set(String(branch), byPeople(String(after)))),
  'pull.merge': (model, { repo }) => {
    const at = model.repo(String(repo));
    at.branches.set(String(at.info.default_branch), byPeople(null));
  },
  ...Object.fromEntries(
    [
      'issue.open',
      'issue.edit',
      'issue.close',
      'issue.reopen',
      'issue.label',
      'issue.assign',
      'issue.milestone',
      'comment.create',
      'comment.edit',
      'comment.delete',
      'pull.open',
      'pull.edit',
      'pull.close',
      'pull.review',
      'pull.request_review',
      'status.set',
      'wiki.create',
      'wiki.edit',
      'wiki.delete',
      'package.upload',
      'repository.star',
      'repository.watch',
      'job.claim',
      'job.finish',
      'forged',
      'nightfall',
      'start',
    ].map((name) => [name, nothing]),
  ),
};

function putRelease(repo: ModelRepo, release: JsonObject): void {
  const tag = String(release.tag_name);
  repo.releases = [...repo.releases.filter(({ value }) => value.tag_name !== tag), byPeople(release)];
  if (release.draft === true || repo.tags.has(tag)) return;
  repo.tags.set(tag, repo.branches.get(String(release.target_commitish))?.value ?? null);
}

function repoOf({ repo, labels, milestones, mirrors, branches, releases }: RepoState): ModelRepo {
  return {
    info: { ...repo },
    labels: labels.map(byPeople),
    milestones: milestones.map(byPeople),
    mirrors: mirrors.map(byPeople),
    branches: new Map(Object.entries(branches).map(([name, sha]) => [name, byPeople(sha)])),
    tags: new Map(),
    releases: releases.map(byPeople),
  };
}

function byPeople<T>(value: T): IntentStatus<T> {
  return { value, by: PEOPLE };
}

function nameOf(repo: JsonObject): string {
  return String(repo.full_name).toLowerCase();
}
