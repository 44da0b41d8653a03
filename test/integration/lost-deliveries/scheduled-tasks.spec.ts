import { afterEach, describe, expect, it } from '@jest/globals';
import { silentLogger } from '../../../src/core/logger.js';
import { seededRandom } from '../../../src/core/seeded-random.js';
import { Secret } from '../../../src/core/secret.js';
import { systemClock } from '../../../src/core/clock.js';
import { ForgeOwners } from '../../../src/forge/forge-owners.js';
import { createForgeClient } from '../../../src/forge/http/create-forge-client.js';
import { KnownRepositories } from '../../../src/polling/known-repositories.js';
import { TaskPoller } from '../../../src/polling/task-poller.js';
import { performAct } from '../../../src/sandbox/acts/perform-act.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { aConfig } from '../../builders/a-config.js';
import { InMemoryCursorStore } from '../../fakes/in-memory-cursor-store.js';
import { InMemoryInboxStore } from '../../fakes/in-memory-inbox-store.js';
import { InMemorySeenRepositories } from '../../fakes/in-memory-seen-repositories.js';
import { ManualClock } from '../../fakes/manual-clock.js';

const POLL_MS = 60_000;
const ROUNDS = 25;
/** As many as one poll reads where the forge lists no runs of an organization. */
const REPOSITORIES = ['app', 'api', 'web', 'docs', 'tools'];

let sandbox: Sandbox | null = null;
afterEach(async () => {
  await sandbox?.close();
  sandbox = null;
});

/**
 * Schedules start tasks, nothing else happens, and no delivery arrives: the feed shows nothing of it.
 * @returns keys of tasks that had ended, and were not known two polls later; and how many ended
 */
async function play(profile: 'gitea' | 'forgejo', isAwaited: boolean): Promise<{ late: string[]; ended: number }> {
  const clock = new ManualClock('2026-11-20T12:00:00Z');
  sandbox = await startSandbox({ profile, clock });
  const { world } = sandbox.parts;
  const act = (name: string, params: object): Promise<unknown> =>
    performAct((sandbox as Sandbox).parts, { as: 'olga', act: name, params: params as never });
  const headers = { authorization: `Bearer ${sandbox.controlToken}`, 'content-type': 'application/json' };
  for (const given of [
    { user: 'olga' },
    { org: 'acme', owner: 'olga' },
    ...REPOSITORIES.map((name) => ({ repo: `acme/${name}`, auto_init: true })),
  ])
    await fetch(`${sandbox.url}/_sandbox/given`, { method: 'POST', headers, body: JSON.stringify(given) });
  const { login: username, password } = sandbox.admin;
  const client = createForgeClient({
    baseUrl: sandbox.apiUrl,
    auth: { type: 'basic', username, password: new Secret(password) },
    ratePerS: 1000,
    clock: systemClock,
  });
  const polled = { forge: 'main', org: 'acme' };
  const offers = (name: string): boolean => profile === 'gitea' || name !== 'listOrgRuns';
  const owners = new ForgeOwners(
    { get: () => ({ client, offers }) },
    new InMemorySeenRepositories(),
    aConfig({}),
    clock,
  );
  const inbox = new InMemoryInboxStore();
  const tasks = new TaskPoller(
    {
      inbox,
      cursors: new InMemoryCursorStore(() => clock.now()),
      queue: { ring: () => undefined },
      clock,
      logger: silentLogger,
      startedAt: clock.now(),
      client,
      offers,
      repositories: new KnownRepositories({ client, offers, owners, clock }, polled),
      callsPerPoll: REPOSITORIES.length,
      isAwaited: async () => isAwaited,
    },
    polled,
  );
  const random = seededRandom(4);
  const late = new Set<string>();
  const poll = async (): Promise<void> => {
    clock.advance(POLL_MS);
    await tasks.poll();
  };
  await poll();
  for (let round = 0; round < ROUNDS; round += 1) {
    clock.advance(1_000);
    const repo = REPOSITORIES[Math.floor(random.next() * REPOSITORIES.length)];
    await act('workflow.run', { repo: `acme/${repo}`, event: 'schedule', jobs: [{ name: 'nightly' }] });
    const keys = [...world.tasks.values()].map(({ repoId, id }) => `${repoId}/${id}:completed`);
    await poll();
    await poll();
    const stored = await inbox.knownEntries('main', 'acme', 'tasks', keys);
    for (const key of keys) if (!stored.has(key)) late.add(key);
  }
  return { late: [...late], ended: world.tasks.size };
}

describe.each(['gitea', 'forgejo'] as const)('integration/scheduled tasks on %s', (profile) => {
  it('are known within two polls where a rule waits for them', async () => {
    expect(await play(profile, true)).toEqual({ late: [], ended: ROUNDS });
  });

  it('may come later where no rule waits for them', async () => {
    expect((await play(profile, false)).late.length).toBeGreaterThan(0);
  });
});
