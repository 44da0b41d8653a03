import { uploadPackage } from '../resources/package.js';
import { archiveRepository } from '../resources/repository-edit.js';
import { makeRepository } from '../resources/repository.js';
import type { Repository, User } from '../world.js';
import type { RepoPlan } from './acme-plan.js';
import { act, apiAs, personOf, type SeedContext, seedRuns, someOwner, someWriter } from './seed-context.js';

const WORKFLOW = `name: CI
on: [push, pull_request, workflow_dispatch]
jobs:
  build:
    runs-on: ubuntu-latest
    steps:
      - run: make
  test:
    needs: build
    runs-on: ubuntu-latest
    steps:
      - run: make test
`;

const WORKFLOW_FILE = 'ci.yaml';

/** Makes a repository with its past: commits, releases, tags, images, protection. */
export async function seedRepository(context: SeedContext, plan: RepoPlan): Promise<void> {
  const maker = someOwner(context);
  const repo = plan.role === 'fork' ? await fork(context, plan, maker) : make(context, plan, maker);
  if (plan.role === 'empty') return;
  const fullName = `${context.plan.org}/${plan.name}`;
  await pushSome(context, fullName, plan);
  for (const version of plan.releases) {
    await release(context, repo, version, plan.hasImage);
    seedRuns(context, repo);
  }
  for (const tag of plan.tags)
    await act(context, someWriter(context), 'tag.create', { repo: fullName, tag, message: `${tag}\n` });
  if (plan.isProtected) await protect(context, maker, plan);
  if (plan.role === 'legacy') archiveRepository(context.parts.world, repo, true);
}

function make({ parts, org, clock }: SeedContext, plan: RepoPlan, by: User): Repository {
  clock.pass(90);
  return makeRepository(parts.world, by, {
    owner: org,
    name: plan.name,
    description: plan.description,
    private: plan.private,
    template: plan.role === 'template',
    defaultBranch: plan.defaultBranch,
    ...(plan.role === 'empty'
      ? {}
      : { files: { 'README.md': `# ${plan.name}\n\n${plan.description}\n`, LICENSE: 'MIT\n' } }),
  });
}

/** The original belongs to the outsider. */
async function fork(context: SeedContext, plan: RepoPlan, by: User): Promise<Repository> {
  const { parts, org, clock } = context;
  const outsider = personOf(context, context.plan.outsider);
  clock.pass(30);
  const original = makeRepository(parts.world, outsider, {
    owner: outsider,
    name: plan.name,
    description: plan.description,
    files: { 'README.md': `# ${plan.name}\n` },
  });
  await act(context, by, 'repository.fork', { repo: `${outsider.login}/${original.name}`, owner: org.login });
  const made = parts.world.repoByName(org.id, plan.name);
  if (!made) throw new Error(`the fork ${plan.name} was not made`);
  return made;
}

async function pushSome(context: SeedContext, repo: string, plan: RepoPlan): Promise<void> {
  await act(context, someWriter(context), 'push', {
    repo,
    commits: [
      {
        message: 'feat: first steps',
        files: { 'src/main.ts': `export const name = '${plan.name}';\n`, 'docs/guide.md': '# Guide\n' },
      },
      { message: 'docs: changelog', files: { 'CHANGELOG.md': '# Changelog\n' } },
    ],
  });
  if (plan.hasWorkflow) {
    await act(context, someWriter(context), 'push', {
      repo,
      commits: [{ message: 'ci: build and test', files: { [`.gitea/workflows/${WORKFLOW_FILE}`]: WORKFLOW } }],
    });
  }
}

/** Work, then a release with notes as a machine would write them; some have an image. */
async function release(context: SeedContext, repo: Repository, version: string, hasImage: boolean): Promise<void> {
  const { parts, org, random, clock } = context;
  const fullName = `${org.login}/${repo.name}`;
  const feature = random.pick(['faster start', 'better messages', 'quiet mode', 'more examples', 'smaller output']);
  await act(context, someWriter(context), 'push', {
    repo: fullName,
    commits: [
      {
        message: `feat: ${feature}`,
        files: {
          'src/main.ts': `export const version = '${version}';\n`,
          'CHANGELOG.md': `# Changelog\n\n## ${version}\n\n- ${feature}\n`,
        },
      },
    ],
  });
  const by = someOwner(context);
  await act(context, by, 'release.publish', {
    repo: fullName,
    tag: version,
    name: version.slice(1),
    body: `* feat: ${feature}\n* chore: bump to ${version}\n`,
  });
  if (!hasImage) return;
  clock.pass(15);
  uploadPackage(parts.world, {
    ownerId: org.id,
    creator: by,
    type: 'container',
    name: repo.name,
    version: version.slice(1),
    fileName: 'manifest.json',
    content: Buffer.from(`{"tag":"${version}"}`),
    repoId: repo.id,
  });
}

async function protect(context: SeedContext, by: User, plan: RepoPlan): Promise<void> {
  await apiAs(context, by).call('createBranchProtection', {
    params: { owner: context.plan.org, repo: plan.name },
    body: { rule_name: plan.defaultBranch, enable_push: true, required_approvals: 1 },
  });
}
