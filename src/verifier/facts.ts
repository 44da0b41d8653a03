import type { JsonObject, PlayedAct } from './handover.js';
import type { Model } from './model.js';

/** What an act is to rules: kinds and fields as the guide for rule authors names them. */
export interface Fact {
  readonly kind: string;
  readonly repo: JsonObject | null;
  readonly data: JsonObject;
  readonly source: 'webhook' | 'feed';
  readonly actor: string;
  readonly at: Date;
}

type Tell = (
  params: JsonObject,
  result: JsonObject,
  repo: JsonObject | null,
  happened: readonly string[],
) => ReadonlyArray<[kind: string, data: JsonObject]>;

const ref = (type: 'branch' | 'tag', name: unknown): JsonObject => ({
  ref: `refs/${type === 'tag' ? 'tags' : 'heads'}/${String(name)}`,
  ref_type: type,
  [type]: String(name),
});
const issue = (result: JsonObject, params: JsonObject): JsonObject => ({
  issue: result,
  number: result.number ?? params.number ?? null,
});
const pull = (result: JsonObject, params: JsonObject): JsonObject => ({
  pull_request: result,
  number: result.number ?? params.number ?? null,
});

/** Kinds by act. A release whose tag is new also makes the tag; the sandbox says so in what happened. */
const TELLS: Readonly<Record<string, Tell>> = {
  push: (params, { ref: full, after }, repo) => {
    const branch = String(params.branch ?? repo?.default_branch);
    return [
      [
        'push',
        {
          ref: full ?? null,
          branch,
          after: after ?? null,
          sha: after ?? null,
          created: false,
          deleted: false,
          files: filesOf(params),
        },
      ],
    ];
  },
  'branch.create': ({ branch }, { commit }) => [
    ['branch.created', { ...ref('branch', branch), sha: (commit as JsonObject).id ?? null }],
    [
      'push',
      {
        ref: `refs/heads/${String(branch)}`,
        branch: String(branch),
        after: (commit as JsonObject).id ?? null,
        created: true,
        deleted: false,
        files: NO_FILES,
      },
    ],
  ],
  'branch.delete': ({ branch }) => [
    ['branch.deleted', ref('branch', branch)],
    [
      'push',
      { ref: `refs/heads/${String(branch)}`, branch: String(branch), created: false, deleted: true, files: NO_FILES },
    ],
  ],
  'tag.create': ({ tag }, { sha }) => tagCreated(tag, sha),
  'release.publish': (_params, release, _repo, happened) => {
    // A draft whose tag was there already is told as a change.
    const action = happened.includes('release.published') ? 'published' : 'updated';
    return [[`release.${action}`, { action, tag: release.tag_name ?? null, release }]];
  },
  'release.edit': (_params, release) => [
    ['release.updated', { action: 'updated', tag: release.tag_name ?? null, release }],
  ],
  'repository.create': () => [['repository.created', { action: 'created' }]],
  'issue.open': (params, result) => [['issue.opened', issue(result, params)]],
  'issue.close': (params, result) => [['issue.closed', issue(result, params)]],
  'issue.reopen': (params, result) => [['issue.reopened', issue(result, params)]],
  'issue.edit': (params, result) => [['issue.edited', issue(result, params)]],
  'issue.label': (params) => [['issue.labeled', { number: params.number ?? null }]],
  'comment.create': (params, comment) => [['comment.created', { number: params.number ?? null, comment }]],
  'pull.open': (params, result) => [['pull_request.opened', pull(result, params)]],
  'pull.close': (params, result) => [['pull_request.closed', pull(result, params)]],
  'pull.merge': (params) => [['pull_request.merged', { number: params.number ?? null }]],
  'pull.sync': (params) => [['pull_request.synchronized', { number: params.number ?? null }]],
  'pull.review': (params) => [
    [
      { approve: 'review.approved', reject: 'review.rejected' }[String(params.verdict)] ?? 'review.commented',
      { number: params.number ?? null },
    ],
  ],
  'status.set': (_params, result) => [['status.set', { status: result, sha: result.sha ?? null }]],
  'package.upload': ({ type, name, version }) => [
    ['package.created', { package: { type: type ?? null, name: name ?? null, version: version ?? null } }],
  ],
  'wiki.create': ({ page }) => [['wiki.created', { page: page ?? null }]],
  'wiki.edit': ({ page }) => [['wiki.edited', { page: page ?? null }]],
};

const NO_FILES = { added: [], modified: [], removed: [] };

/** The facts in an act, in the order in which they are told. */
export function factsOf(model: Model, act: PlayedAct): Fact[] {
  const tell = TELLS[act.act];
  if (!tell) return [];
  const result = (act.result ?? {}) as JsonObject;
  const repo = typeof act.params.repo === 'string' ? model.repo(act.params.repo).info : null;
  const facts = [...tell(act.isDropped ? withoutFiles(act.params) : act.params, result, repo, act.happened)];
  if (act.act.startsWith('release.') && act.happened.includes('tag.created')) {
    facts.push(
      ...tagCreated(result.tag_name, model.repo(String(act.params.repo)).tags.get(String(result.tag_name)) ?? null),
    );
  }
  return facts.map(([kind, data]) => ({
    kind,
    data,
    repo,
    source: act.isDropped ? 'feed' : 'webhook',
    actor: act.as,
    at: new Date(act.at),
  }));
}

function tagCreated(tag: unknown, sha: unknown): Array<[string, JsonObject]> {
  const commit = typeof sha === 'string' ? { sha, after: sha } : {};
  return [
    ['tag.created', { ...ref('tag', tag), ...commit }],
    [
      'push',
      { ref: `refs/tags/${String(tag)}`, tag: String(tag), created: true, deleted: false, files: NO_FILES, ...commit },
    ],
  ];
}

/** A row of the feed names the commits of a push, and none of their files. */
function withoutFiles({ commits: _commits, ...params }: JsonObject): JsonObject {
  return params;
}

function filesOf({ commits }: JsonObject): JsonObject {
  const list = (commits ?? []) as JsonObject[];
  const written = list.flatMap((commit) => Object.keys((commit.files ?? {}) as JsonObject));
  // Whether a written file is new or changed is known to the forge alone; scripts write files of rules' interest once.
  return { added: written, modified: [], removed: list.flatMap((commit) => (commit.removed ?? []) as string[]) };
}
