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
] as const;
export type Kind = (typeof KINDS)[number];

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
  }
}

const rule = (kind: Kind, step: string, lookup?: string): string => `
  - id: ${kind}
    on: issue.opened
    if: event.issue.title.startsWith("${kind} ")${lookup === undefined ? '' : `\n    lookup: ${lookup}`}
    do:
      ${step}
    limits: { effects_per_run: 5 }`;

const KEY = '${{ event.issue.title.split(" ")[1] }}';

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
  };
  const lookups: Partial<Record<Kind, string>> = {
    gone: `{ tip: { use: branch.get, with: { branch: '${KEY}' } } }`,
    update: '{ pulls: { use: issues.list, with: { type: pulls } } }',
  };
  return `version: 1\norg: ${org}\nvars: { parts: [a, b, c] }\nrules:${kinds.map((kind) => rule(kind, steps[kind], lookups[kind])).join('')}\n`;
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
