import { createHmac } from 'node:crypto';
import type { Wanted } from './judge/judge.js';
import type { Repo } from './rig/forge-process.js';

/** What a delivery asks for. `labels` are three effects of one step. */
export const KINDS = [
  'labels',
  'label',
  'milestone',
  'branch',
  'mirror',
  'release',
  'orgvar',
  'uservar',
  'settings',
  'repo',
  'gone',
  'update',
  'issue',
  'port',
  'queue',
  'unqueue',
  'approve',
  'message',
] as const;
export type Kind = (typeof KINDS)[number];

/** What is done to a pull request by those of whom the forge must confirm that they asked: number and head stand in the title of an issue. */
const ABOUT_PULLS: readonly Kind[] = ['port', 'queue', 'unqueue', 'approve'];
export const isAboutPull = (kind: Kind): boolean => ABOUT_PULLS.includes(kind);

export const MIRROR_HOST = 'http://127.0.0.1:9418';
export const HOOK_SECRET = 'the secret of the hook';

export const keyOf = (n: number): string => `k${n}`;

export function wantedOf(n: number, kind: Kind): Wanted[] {
  const key = keyOf(n);
  switch (kind) {
    case 'labels':
      return ['a', 'b', 'c'].map((part) => ({ operation: 'createLabel', key: `${key}-${part}` }));
    case 'label':
      return [{ operation: 'createLabel', key }];
    case 'milestone':
      return [{ operation: 'createMilestone', key }];
    case 'branch':
      return [{ operation: 'createBranch', key }];
    case 'mirror':
      return [{ operation: 'createPushMirror', key }];
    case 'release':
      return [{ operation: 'updateRelease', key }];
    case 'orgvar':
      return [{ operation: 'updateOrgVariable', key }];
    case 'uservar':
      return [{ operation: 'createUserVariable', key }];
    case 'settings':
      return [{ operation: 'updateUserSettings', key }];
    case 'repo':
      return [{ operation: 'adminCreateRepo', key }];
    case 'gone':
      return [{ operation: 'deleteBranch', key }];
    case 'update':
      return [{ operation: 'updatePullBranch', key }];
    case 'issue':
      return [{ operation: 'createIssue', key }];
    case 'port':
      return [
        { operation: 'applyPatch', key },
        { operation: 'createPull', key },
      ];
    case 'queue':
      return [{ operation: 'mergePull', key }];
    case 'unqueue':
      return [{ operation: 'cancelPlannedMerge', key }];
    case 'approve':
      return [{ operation: 'createReview', key }];
    case 'message':
      return [{ operation: 'notify', key }];
  }
}

const rule = (kind: Kind, step: string, lookup?: string): string => `
  - id: ${kind}
    on: issue.opened
    if: event.issue.title.startsWith("${kind} ")${lookup === undefined ? '' : `\n    lookup: ${lookup}`}
    do:
      ${step}
    limits: { effects_per_run: 5 }`;

const wordOf = (n: number): string => `\${{ event.issue.title.split(" ")[${n}] }}`;
const KEY = wordOf(1);
const PULL = 'number: \'${{ int(event.issue.title.split(" ")[2]) }}\'';
const HEAD = `sha: '${wordOf(3)}'`;

/** One rule for each kind; the issue's title says which, and the key. */
export function rulesFor(kinds: readonly Kind[], org = 'acme'): string {
  const steps: Record<Kind, string> = {
    labels: `label.ensure: { name: '${KEY}-\${{ item }}', color: "#00aabb" }\n      for_each: vars.parts`,
    label: `label.ensure: { name: '${KEY}', color: "#00aabb" }`,
    milestone: `milestone.ensure: { title: '${KEY}' }`,
    branch: `branch.create: { new_branch_name: '${KEY}', old_ref_name: main }`,
    mirror: `push_mirror.ensure: { remote_address: '${MIRROR_HOST}/acme/${KEY}.git', interval: 8h }`,
    release: `release.update: { tag: '${KEY}', name: '${KEY}' }`,
    orgvar: `org_variable.set: { name: '${KEY}', value: 'wanted ${KEY}' }`,
    uservar: `user_variable.create: { name: '${KEY}', value: 'wanted ${KEY}' }`,
    settings: `user_settings.update: { full_name: '${KEY}' }`,
    repo: `repo.create_for_user: { username: bot, name: '${KEY}' }`,
    gone: `branch.delete: { branch: '${KEY}', sha: '\${{ lookups.tip.commit.id }}' }`,
    update: `pull_request.update_branch: { number: '\${{ lookups.pulls.filter(p, p.title == event.issue.title.split(" ")[1])[0].number }}' }`,
    issue: `issue.ensure: { key: '${KEY}', open: true, title: '${KEY}' }`,
    port: `backport: { ${PULL}, to: release }`,
    queue: `pull_request.merge: { ${PULL}, ${HEAD}, approvals: 0, by: forge }`,
    unqueue: `pull_request.unqueue: { ${PULL} }`,
    approve: `review.approve: { ${PULL}, ${HEAD} }`,
    message: `notify: { to: '\${{ secrets.chat }}', format: slack, text: '${KEY}' }`,
  };
  const lookups: Partial<Record<Kind, string>> = {
    gone: `{ tip: { use: branch.get, with: { branch: '${KEY}' } } }`,
    update: '{ pulls: { use: issues.list, with: { type: pulls } } }',
  };
  return `version: 1\norg: ${org}\nvars: { parts: [a, b, c] }\n${kinds.includes('message') ? 'secrets: [chat]\n' : ''}rules:${kinds.map((kind) => rule(kind, steps[kind], lookups[kind])).join('')}\n`;
}

export const signatureOf = (text: string): string => createHmac('sha256', HOOK_SECRET).update(text).digest('hex');

export interface StormDelivery {
  readonly n: number;
  readonly repo: Repo;
  readonly text: string;
  readonly signature: string;
}

/** @param kind `nothing`: an event that no rule wants anything of */
export function deliveryOf(n: number, kind: Kind | 'nothing', repo: Repo, lines = 20): StormDelivery {
  const number = n + 1;
  const text = JSON.stringify({
    action: 'opened',
    number,
    issue: {
      id: number,
      number,
      title: `${kind} ${keyOf(n)}`,
      state: 'open',
      body: 'why it has to be done, at some length. '.repeat(lines),
    },
    repository: {
      id: repo.id,
      name: repo.name,
      full_name: `${repo.owner.login}/${repo.name}`,
      owner: repo.owner,
      private: false,
      default_branch: 'main',
    },
    sender: { id: 999_999, login: 'ben' },
  });
  return { n, repo, text, signature: signatureOf(text) };
}
