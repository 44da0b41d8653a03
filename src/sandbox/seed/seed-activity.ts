import { repoOf, type RepoRole } from './acme-plan.js';
import type { Repository } from '../world.js';
import { act, apiAs, type SeedContext, seedRuns, someOwner, someWriter } from './seed-context.js';

interface LabelPlan {
  readonly name: string;
  readonly color: string;
  readonly description?: string;
}

/** Labels as they grew: some repositories have a few, not all agree on the color. */
const LABELS: Partial<Record<RepoRole, readonly LabelPlan[]>> = {
  product: [
    { name: 'bug', color: 'ee0701', description: 'Something is wrong' },
    { name: 'feature', color: '00aa00' },
    { name: 'prio/high', color: 'b60205' },
  ],
  service: [{ name: 'bug', color: 'cc0000' }],
  frontend: [
    { name: 'bug', color: 'ee0701' },
    { name: 'wontfix', color: 'ffffff' },
  ],
  library: [{ name: 'question', color: 'd876e3' }],
};

/** What people talk about: labels, milestones, issues and pull requests. */
export async function seedActivity(context: SeedContext): Promise<void> {
  await seedLabels(context);
  await seedMilestones(context);
  await seedIssues(context);
  await seedPullRequest(context);
}

function nameOf(context: SeedContext, role: RepoRole): string {
  return `${context.plan.org}/${repoOf(context.plan, role).name}`;
}

async function seedLabels(context: SeedContext): Promise<void> {
  for (const [role, labels] of Object.entries(LABELS) as [RepoRole, readonly LabelPlan[]][]) {
    const params = { owner: context.plan.org, repo: repoOf(context.plan, role).name };
    for (const label of labels) await apiAs(context, someOwner(context)).call('createLabel', { params, body: label });
  }
}

/** The product's last line is closed, its next one open; other repositories have none yet. */
async function seedMilestones(context: SeedContext): Promise<void> {
  const params = { owner: context.plan.org, repo: repoOf(context.plan, 'product').name };
  const { call } = apiAs(context, someOwner(context));
  await call('createMilestone', { params, body: { title: '1.3', state: 'closed' } });
  await call('createMilestone', { params, body: { title: '1.4', description: 'the next minor release' } });
}

async function seedIssues(context: SeedContext): Promise<void> {
  const product = nameOf(context, 'product');
  const [reporter, helper] = [someWriter(context), someOwner(context)];
  await act(context, reporter, 'issue.open', {
    repo: product,
    title: 'Crash on start',
    body: 'It crashes.\n',
    labels: ['bug'],
    milestone: '1.4',
  });
  await act(context, helper, 'comment.create', { repo: product, number: 1, body: 'Can you share logs?' });
  await act(context, reporter, 'issue.open', { repo: product, title: 'Dark theme', labels: ['feature'] });
  await act(context, helper, 'issue.close', { repo: product, number: 2 });
  await act(context, someWriter(context), 'issue.open', {
    repo: nameOf(context, 'service'),
    title: 'Timeouts under load',
    labels: ['bug'],
  });
  await act(context, someWriter(context), 'issue.open', {
    repo: nameOf(context, 'library'),
    title: 'How to page?',
    labels: ['question'],
  });
}

async function seedPullRequest(context: SeedContext): Promise<void> {
  const repo = nameOf(context, 'product');
  const writer = someWriter(context);
  await act(context, writer, 'push', {
    repo,
    branch: 'feature/login',
    commits: [{ message: 'feat: login', files: { 'src/login.ts': 'export {};\n' } }],
  });
  await act(context, writer, 'pull.open', { repo, head: 'feature/login', title: 'feat: login', body: 'Adds login.' });
  seedRuns(context, context.parts.world.repoByName(context.org.id, repoOf(context.plan, 'product').name) as Repository);
}
