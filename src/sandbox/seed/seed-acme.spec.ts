import { afterEach, describe, expect, it } from '@jest/globals';
import { type Sandbox, startSandbox } from '../start-sandbox.js';
import { seedAcme } from './seed-acme.js';
import type { World } from '../world.js';
import { planAcme, repoOf } from './acme-plan.js';

const open: Sandbox[] = [];

async function seeded(seed: number): Promise<World> {
  const sandbox = await startSandbox({ populate: (parts) => seedAcme(parts, seed) });
  open.push(sandbox);
  return sandbox.parts.world;
}

afterEach(async () => {
  for (const sandbox of open.splice(0)) await sandbox.close();
});

/** What stays the same for a seed: names, order and texts, not times, passwords and ids made of them. */
function outlineOf(world: World): object {
  return {
    people: [...world.owners.values()].map(({ kind, login }) => `${kind} ${login}`),
    repos: [...world.repos.values()].map(
      (repo) => `${repo.name} ${repo.git.commits.size} ${[...repo.git.tags.keys()].join(',')}`,
    ),
    feed: world.feed.map((row) => `${row.opType} ${row.refName} ${world.owners.get(row.actorId)?.login}`),
    issues: [...world.issues.values()].map(({ title, state }) => `${title} ${state}`),
    jobs: [...world.jobs.values()].map(({ key, state }) => `${key} ${state}`),
  };
}

describe('sandbox/seed', () => {
  it('makes the same organization of the same seed, and another of another', async () => {
    const [one, again, other] = [await seeded(3), await seeded(3), await seeded(4)];

    expect(outlineOf(again)).toEqual(outlineOf(one));
    expect(outlineOf(other)).not.toEqual(outlineOf(one));
  });

  it('makes what its plan says', async () => {
    for (const seed of [1, 2, 77]) {
      const plan = planAcme(seed);
      const world = await seeded(seed);
      const org = world.orgByName('acme');

      expect([...world.repos.values()].filter((repo) => repo.ownerId === org?.id).map((repo) => repo.name)).toEqual(
        plan.repos.map((repo) => repo.name),
      );
    }
  });

  it('has repositories of every kind', async () => {
    const world = await seeded(1);
    const repos = [...world.repos.values()].filter((repo) => repo.ownerId === world.orgByName('acme')?.id);

    expect(repos.length).toBeGreaterThanOrEqual(12);
    expect(repos.some((repo) => repo.private)).toBe(true);
    expect(repos.some((repo) => repo.archivedAt > 0)).toBe(true);
    expect(repos.some((repo) => repo.forkOf !== null)).toBe(true);
    expect(repos.some((repo) => repo.template)).toBe(true);
    expect(repos.some((repo) => repo.git.branches.size === 0)).toBe(true);
    expect(repos.some((repo) => repo.defaultBranch !== 'main')).toBe(true);
  });

  it('has releases, images, labels, milestones, protections, ended runs with tasks, and the variable', async () => {
    const world = await seeded(1);
    const images = [...world.packages.values()]
      .filter(({ type }) => type === 'container')
      .map(({ name, version }) => `${name} ${version}`);

    expect([...world.releases.values()].length).toBeGreaterThanOrEqual(8);
    expect(images).toContain('app 1.3.0');
    expect(world.labels.size).toBeGreaterThan(4);
    expect(world.milestones.size).toBeGreaterThan(0);
    expect(world.protections.map(({ ruleName }) => ruleName)).toContain('main');
    expect([...world.jobs.values()].filter(({ state }) => state === 'waiting' || state === 'running')).toEqual([]);
    expect(new Set([...world.tasks.values()].map(({ state }) => state))).toEqual(new Set(['success', 'failure']));
    expect([...world.variables.values()].map(({ name }) => name)).toEqual(['LAST_RELEASE']);
  });

  it('lies in the past, and the clock of the world goes on afterwards', async () => {
    const before = Date.now();
    const world = await seeded(1);

    expect(Math.max(...world.feed.map(({ created }) => created)) * 1000).toBeLessThan(before);
    expect(world.now() * 1000).toBeGreaterThan(before - 2000);
  });

  it('never gives two repositories or two people of a plan one name', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const plan = planAcme(seed);
      const names = plan.repos.map(({ name }) => name);
      const logins = [...plan.owners, ...plan.writers, ...plan.readers, plan.outsider].map(({ login }) => login);

      expect(new Set(names).size).toBe(names.length);
      expect(new Set(logins).size).toBe(logins.length);
    }
  });

  it('gives the first names to seed 1', () => {
    expect(repoOf(planAcme(1), 'product').name).toBe('app');
    expect(planAcme(1).owners[0]?.login).toBe('ann');
  });
});
