import type { JsonObject } from '../../src/core/json.js';
import { performAct } from '../../src/sandbox/acts/perform-act.js';
import type { SandboxParts } from '../../src/sandbox/parts.js';
import { makeHook } from '../../src/sandbox/resources/hook.js';
import { makeLabel } from '../../src/sandbox/resources/label.js';
import { makeMilestone } from '../../src/sandbox/resources/milestone.js';
import { makeOrganization } from '../../src/sandbox/resources/organization.js';
import { makeTeam } from '../../src/sandbox/resources/team.js';
import { makeUser } from '../../src/sandbox/resources/user.js';
import { HOOK_EVENTS } from '../../src/sandbox/deliveries/hook-events.js';

const UNITS = [
  'repo.code',
  'repo.issues',
  'repo.pulls',
  'repo.releases',
  'repo.wiki',
  'repo.packages',
  'repo.actions',
] as const;
const EVENTS = [...new Set(HOOK_EVENTS.map(({ name }) => name))];
const CI =
  'name: CI\non: [push, pull_request, workflow_dispatch]\njobs:\n  build:\n    runs-on: ubuntu-latest\n    steps: [{ run: make }]\n  test:\n    needs: build\n    runs-on: ubuntu-latest\n    steps: [{ run: make test }]\n';

/** A world as that of the recordings: `acme` with `app`, its people, and a hook on each. Nothing is listening at the hooks' address. */
export function aWorld({ world, profile }: SandboxParts): void {
  const [ann, ben, cleo] = ['ann', 'ben', 'cleo', 'dora'].map((login) =>
    makeUser(world, { login, fullName: login }),
  ) as [never, never, never];
  const org = makeOrganization(world, { name: 'acme', owner: ann });
  makeTeam(world, {
    org,
    name: 'devs',
    permission: 'write',
    members: [ben, cleo],
    units: UNITS,
    includesAllRepositories: true,
    canCreateOrgRepo: true,
  });
  makeHook(world, profile.telling, {
    orgId: org.id,
    type: 'gitea',
    config: { url: 'http://127.0.0.1:1/acme', content_type: 'json', secret: 's' },
    events: EVENTS,
    isActive: true,
  });
}

/** Acts by person, in an order in which each can be done; together they make every kind of delivery. */
export const EVERY_ACT: readonly (readonly [string, string, JsonObject?])[] = [
  ['ann', 'repository.create', { repo: 'acme/app' }],
  ['ann', 'repository.create', { repo: 'acme/bare', empty: true }],
  [
    'ben',
    'push',
    {
      commits: [
        { message: 'a', files: { 'docs/a.md': 'a', 'docs/b.md': 'b' } },
        { message: 'b', files: { 'docs/a.md': 'c' }, removed: ['docs/b.md'] },
      ],
    },
  ],
  [
    'ben',
    'push',
    { branch: 'feature/login', commits: [{ message: 'feat: login', files: { 'src/login.ts': 'one\n' } }] },
  ],
  ['ben', 'branch.create', { branch: 'release/1.0' }],
  ['ben', 'branch.delete', { branch: 'release/1.0' }],
  ['ben', 'tag.create', { tag: 'v0.1.0' }],
  ['ben', 'tag.create', { tag: 'v0.2.0', message: 'second' }],
  ['ben', 'tag.delete', { tag: 'v0.1.0' }],
  ['ben', 'issue.open', { title: 'Crash', body: 'It crashes.' }],
  ['ben', 'issue.open', { title: 'Second', labels: ['bug'], milestone: '1.0', assignees: ['cleo'] }],
  ['ben', 'issue.edit', { number: 1, title: 'Crash on start' }],
  ['ben', 'issue.edit', { number: 1, body: 'It crashes hard.' }],
  ['ben', 'issue.label', { number: 1, labels: ['bug'] }],
  ['ben', 'issue.label', { number: 1, how: 'remove', labels: ['bug'] }],
  ['ben', 'issue.milestone', { number: 1, milestone: '1.0' }],
  ['ben', 'issue.milestone', { number: 1, milestone: null }],
  ['ben', 'issue.assign', { number: 1, assignees: ['ben', 'cleo'] }],
  ['ben', 'issue.assign', { number: 1, assignees: [] }],
  ['ann', 'comment.create', { number: 1, body: 'Can you share logs?' }],
  ['ann', 'comment.edit', { number: 1, body: 'Please share logs.' }],
  ['ann', 'comment.delete', { number: 1 }],
  ['ben', 'issue.close', { number: 1 }],
  ['ben', 'issue.reopen', { number: 1 }],
  ['ann', 'issue.delete', { number: 2 }],
  ['ben', 'pull.open', { head: 'feature/login', title: 'feat: login', body: 'Adds login.' }],
  ['ben', 'pull.edit', { number: 3, title: 'WIP: feat: login' }],
  ['ben', 'pull.edit', { number: 3, title: 'feat: login' }],
  ['ben', 'pull.sync', { number: 3 }],
  ['ben', 'issue.label', { number: 3, labels: ['bug'] }],
  ['ben', 'issue.milestone', { number: 3, milestone: '1.0' }],
  ['ben', 'issue.assign', { number: 3, assignees: ['cleo'] }],
  ['ben', 'pull.request_review', { number: 3, reviewers: ['cleo'] }],
  ['ben', 'pull.remove_review_request', { number: 3, reviewers: ['cleo'] }],
  ['ben', 'pull.request_review', { number: 3, teams: ['devs'] }],
  ['ann', 'comment.create', { number: 3, body: 'Nice.' }],
  [
    'cleo',
    'pull.review',
    {
      number: 3,
      verdict: 'comment',
      body: 'Some thoughts',
      comments: [{ path: 'src/login.ts', body: 'why?', line: 1 }],
    },
  ],
  ['cleo', 'pull.review', { number: 3, verdict: 'reject', body: 'Please change' }],
  ['cleo', 'pull.review', { number: 3, verdict: 'approve', body: 'LGTM' }],
  ['ann', 'pull.dismiss_review', { number: 3, reviewer: 'cleo', reason: 'done' }],
  ['ben', 'status.set', { state: 'failure', description: 'broken', target_url: 'https://example.org/build/1' }],
  ['ben', 'pull.close', { number: 3 }],
  ['ben', 'pull.reopen', { number: 3 }],
  ['ann', 'pull.merge', { number: 3, delete_branch: true }],
  ['dora', 'repository.fork', {}],
  ['ben', 'release.publish', { tag: 'v1.0.0', name: 'One', body: 'first\n' }],
  ['ben', 'release.edit', { tag: 'v1.0.0', body: 'first, polished' }],
  ['ben', 'release.draft', { tag: 'v1.1.0', name: 'Draft' }],
  ['ben', 'release.publish', { tag: 'v1.1.0' }],
  ['ben', 'release.delete', { tag: 'v1.1.0' }],
  ['ben', 'wiki.create', { page: 'Home', message: 'start' }],
  ['ben', 'wiki.edit', { page: 'Home', message: 'more' }],
  ['ben', 'wiki.delete', { page: 'Home' }],
  ['ben', 'package.upload', { owner: 'acme', name: 'tool', version: '1.0.0' }],
  ['ann', 'package.delete', { owner: 'acme', name: 'tool', version: '1.0.0' }],
  ['ben', 'push', { commits: [{ message: 'ci: add', files: { '.gitea/workflows/ci.yaml': CI } }] }],
  ['ben', 'job.claim'],
  ['ben', 'job.finish', { result: 'success' }],
  ['ben', 'job.claim'],
  ['ben', 'job.finish', { result: 'failure' }],
  ['ben', 'workflow.rerun'],
  ['ben', 'job.claim'],
  ['ben', 'job.finish', { result: 'success' }],
  ['ben', 'workflow.dispatch'],
  ['ben', 'workflow.run', { jobs: [{ name: 'lint', result: 'failure' }] }],
  ['ben', 'workflow.run', { jobs: [{ name: 'lint' }] }],
  ['ben', 'push', { branch: 'feature/ci', commits: [{ message: 'feat: ci', files: { 'ci.txt': '1\n' } }] }],
  ['ben', 'pull.open', { head: 'feature/ci', title: 'feat: ci' }],
  ['dora', 'repository.star'],
  ['dora', 'repository.watch'],
  ['ann', 'hook.test', { hook: 1 }],
  ['ann', 'repository.rename', { repo: 'acme/bare', name: 'mirror-target' }],
  ['ann', 'repository.archive', { repo: 'acme/mirror-target' }],
  ['ann', 'repository.transfer', { repo: 'acme/mirror-target', owner: 'ann' }],
  ['ann', 'repository.create', { repo: 'acme/short', private: true }],
  ['ann', 'repository.delete', { repo: 'acme/short' }],
];

/** Does them all; labels and milestones are there once `app` is. */
export async function doEverything(parts: SandboxParts, after: (act: string) => void = () => {}): Promise<void> {
  for (const [as, act, params = {}] of EVERY_ACT) {
    const withRepo = 'owner' in params && act.startsWith('package') ? params : { repo: 'acme/app', ...params };
    await performAct(parts, { as, act, params: withRepo });
    if (act === 'repository.create' && params.repo === 'acme/app') furnish(parts);
    after(act);
  }
}

/** Labels and a milestone for `app`. */
export function furnish({ world, admin }: SandboxParts): void {
  const org = world.orgByName('acme');
  const app = org && world.repoByName(org.id, 'app');
  if (!app) throw new Error('acme/app is not there');
  makeLabel(world, admin, { of: app, name: 'bug', color: 'ee0701' });
  makeLabel(world, admin, { of: app, name: 'feature', color: '00aa00' });
  makeLabel(world, admin, { of: app, name: 'prio/high', color: 'ff0000', exclusive: true });
  makeMilestone(world, app, { title: '1.0', dueOn: world.now() });
}
