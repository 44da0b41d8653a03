import { setTimeout as wait } from 'node:timers/promises';
import type { JsonObject } from '../../../core/json.js';
import type { Account } from '../../real-forge/estate.js';
import { saidIn } from '../../real-forge/forge-api.js';
import type { RealStage } from './real-stage.js';
import type { ForgedAct } from '../player.js';

/** What an act came to, as the verification wants to be told. */
interface Done {
  readonly result: JsonObject;
  readonly happened?: readonly string[];
}

export interface RealAct {
  readonly kind: 'act';
  readonly as: string;
  /** Kind and parameters in the words of the verification. */
  readonly act: string;
  readonly params: JsonObject;
  readonly says: string;
  /** The hook is switched off while it happens. */
  readonly isLost?: boolean;
  readonly run: () => Promise<Done>;
}

/** What a forge's API cannot do for us. */
export const NOT_BY_API: readonly string[] = [
  'a job of a workflow that fails (it needs a runner)',
  'deliveries that arrive twice (a forge sends each once)',
  'a container package (it is uploaded past the API)',
];

/** A merge is refused for a while after a push: the check for conflicts runs in the background. */
const MERGE_TRIES = 20;
const MERGE_AGAIN_MS = 500;

/** The acts of people, each by one call of the forge's own API. */
export function realActs({ org, owner, writer }: RealStage): Array<RealAct | ForgedAct> {
  const [app, library, docs, requests] = [`${org}/app`, `${org}/library`, `${org}/docs`, `${org}/requests`];
  const notes = '# Changelog\n\n## v1.4.0\n\n- Log in with a key\n- Quiet mode\n\n## v1.3.0\n\n- Smaller output\n';
  const branch = 'feature/tour';
  const releases = new Map<string, string>();
  return [
    push(writer, app, 'CHANGELOG.md', notes, 'docs: what 1.4 brings'),
    {
      ...act(owner, 'release.draft', { repo: app, tag: 'v1.4.0' }, `drafts release v1.4.0 of ${app}`),
      run: async () => {
        const wish = {
          tag_name: 'v1.4.0',
          target_commitish: 'main',
          name: '1.4.0',
          body: '* feat: key\n',
          draft: true,
        };
        const result = await owner.api.ask('POST', `/repos/${app}/releases`, wish);
        releases.set('v1.4.0', String(result.id));
        return { result };
      },
    },
    {
      ...act(owner, 'release.publish', { repo: app, tag: 'v1.4.0' }, `publishes the draft v1.4.0 of ${app}`),
      run: async () => ({
        result: await owner.api.ask('PATCH', `/repos/${app}/releases/${releases.get('v1.4.0') ?? ''}`, {
          draft: false,
        }),
        happened: ['tag.created', 'release.published'],
      }),
    },
    repository(owner, requests, false),
    repository(owner, `${org}/cellar`, true),
    push(
      writer,
      requests,
      'repos/playground.yml',
      `owner: ${writer.login}\nname: playground\n`,
      'feat: ask for playground',
    ),
    tag(writer, library, 'v0.6.0'),
    {
      ...act(owner, 'release.publish', { repo: library, tag: 'v0.6.1-rc.1' }, `publishes v0.6.1-rc.1 of ${library}`),
      run: async () => ({
        result: await owner.api.ask('POST', `/repos/${library}/releases`, {
          tag_name: 'v0.6.1-rc.1',
          target_commitish: 'main',
          name: 'candidate',
          prerelease: true,
        }),
        happened: ['tag.created', 'release.published'],
      }),
    },
    simple(writer, 'issue.open', { repo: library }, `opens an issue in ${library}`, `/repos/${library}/issues`, {
      title: 'Docs are thin',
    }),
    simple(
      owner,
      'comment.create',
      { repo: library, number: 1 },
      `comments on ${library}#1`,
      `/repos/${library}/issues/1/comments`,
      {
        body: 'With the guide.',
      },
    ),
    {
      ...act(writer, 'branch.create', { repo: docs, branch }, `creates the branch ${branch} in ${docs}`),
      run: async () => ({
        result: await writer.api.ask('POST', `/repos/${docs}/branches`, {
          new_branch_name: branch,
          old_branch_name: 'main',
        }),
      }),
    },
    push(writer, docs, 'tour.md', '# Tour\n', 'docs: a tour', branch),
    simple(writer, 'pull.open', { repo: docs }, `opens a pull request in ${docs}`, `/repos/${docs}/pulls`, {
      head: branch,
      base: 'main',
      title: 'docs: a tour',
    }),
    simple(
      owner,
      'pull.review',
      { repo: docs, number: 1, verdict: 'approve' },
      `approves ${docs}#1`,
      `/repos/${docs}/pulls/1/reviews`,
      {
        event: 'APPROVED',
        body: 'Well told.',
      },
    ),
    { ...act(owner, 'pull.merge', { repo: docs, number: 1 }, `merges ${docs}#1`), run: () => merge(owner, docs) },
    {
      ...act(writer, 'branch.delete', { repo: docs, branch }, `deletes the branch ${branch}`),
      run: async () => ({
        result: await writer.api.ask('DELETE', `/repos/${docs}/branches/${encodeURIComponent(branch)}`),
      }),
    },
    { ...tag(writer, docs, 'v0.2.0'), isLost: true },
    { kind: 'forged', as: 'a stranger', says: 'forges a delivery: release v66.0.0', repo: app, tag: 'v66.0.0' },
  ];
}

function act(by: Account, name: string, params: JsonObject, says: string): Omit<RealAct, 'run'> {
  return { kind: 'act', as: by.login, act: name, params, says };
}

function simple(by: Account, name: string, params: JsonObject, says: string, path: string, body: JsonObject): RealAct {
  return { ...act(by, name, params, says), run: async () => ({ result: await by.api.ask('POST', path, body) }) };
}

/** One new file. */
function push(by: Account, repo: string, file: string, text: string, message: string, branch = 'main'): RealAct {
  const at = `/repos/${repo}/contents/${file.split('/').map(encodeURIComponent).join('/')}`;
  return {
    ...act(by, 'push', { repo, branch, commits: [{ message, files: { [file]: text } }] }, `pushes ${file} to ${repo}`),
    run: async () => {
      const { commit } = await by.api.ask('POST', at, {
        content: Buffer.from(text).toString('base64'),
        message,
        branch,
      });
      return { result: { after: (commit as JsonObject).sha ?? null, ref: `refs/heads/${branch}` } };
    },
  };
}

function tag(by: Account, repo: string, name: string): RealAct {
  return {
    ...act(by, 'tag.create', { repo, tag: name }, `tags ${repo} ${name}`),
    run: async () => {
      const { commit } = await by.api.ask('POST', `/repos/${repo}/tags`, { tag_name: name, target: 'main' });
      return { result: { sha: (commit as JsonObject).sha ?? null } };
    },
  };
}

function repository(by: Account, repo: string, isPrivate: boolean): RealAct {
  const [org = '', name = ''] = repo.split('/');
  const params = { repo, description: 'something new', private: isPrivate };
  return {
    ...act(by, 'repository.create', params, `creates ${repo}${isPrivate ? ', private' : ''}`),
    run: async () => ({
      result: await by.api.ask('POST', `/orgs/${org}/repos`, {
        name,
        description: 'something new',
        private: isPrivate,
        auto_init: true,
        default_branch: 'main',
      }),
    }),
  };
}

async function merge(by: Account, repo: string): Promise<Done> {
  for (let tries = 1; ; tries += 1) {
    const { status, body } = await by.api.call('POST', `/repos/${repo}/pulls/1/merge`, { Do: 'merge' });
    if (status < 300) return { result: {} };
    if (status !== 405 || tries === MERGE_TRIES)
      throw new Error(`the pull request of ${repo} cannot be merged: ${status} ${saidIn(body)}`);
    await wait(MERGE_AGAIN_MS);
  }
}
