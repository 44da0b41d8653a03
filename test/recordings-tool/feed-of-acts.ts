import { activity } from '../../src/core/objects/feed.js';
import { actionTask } from '../../src/core/objects/workflows.js';
import type { ForgeClient } from '../../src/forge/forge-client.js';
import type { PolledRepository } from '../../src/polling/known-repositories.js';
import type { Act } from './act-file.js';
import { jsonTextOf } from './act-file.js';

/** The forge as a poller sees it after some acts: their feed rows and task rows, shown as servers show them. */
export class FeedOfActs {
  private readonly feed: Array<ReturnType<typeof activity.parse>> = [];
  private readonly tasks = new Map<string, ReturnType<typeof actionTask.parse>>();

  add(act: Act): void {
    this.feed.push(...(act.feed ?? []).map((row) => activity.parse(row)));
    for (const row of act.tasks ?? []) {
      const task = actionTask.parse(row);
      this.tasks.set(String(task.id), task);
    }
  }

  readonly client: Pick<
    ForgeClient,
    'listOrgFeed' | 'listActionTasks' | 'listMyJobs' | 'listJobsOfAttempt' | 'listOrgRuns'
  > = {
    listOrgFeed: async ({ page = 1, limit = 30 }) => {
      const newestFirst = [...this.feed].sort((a, b) => Date.parse(b.created ?? '') - Date.parse(a.created ?? ''));
      return newestFirst.slice((page - 1) * limit, page * limit);
    },
    listActionTasks: async ({ page = 1, limit = 30 }) => {
      const newestFirst = [...this.tasks.values()].sort((a, b) => Number(b.id) - Number(a.id));
      return { total_count: newestFirst.length, workflow_runs: newestFirst.slice((page - 1) * limit, page * limit) };
    },
    // Recorded by other stories; the rows of an act tell enough.
    listMyJobs: async () => ({ total_count: 0, jobs: [] }),
    listJobsOfAttempt: async () => ({ total_count: 0, jobs: [] }),
    listOrgRuns: async () => ({ total_count: 0, workflow_runs: [] }),
  };
}

/** When the bot looks: at the act's first feed row, else at the latest time in its bodies; null when the act tells no time. */
export function clockOf(act: Act): Date | null {
  const first = (act.feed ?? []).map((row) => Date.parse(String(row.created))).sort((a, b) => a - b)[0];
  if (first !== undefined && !Number.isNaN(first)) return new Date(first);
  const texts = [...act.deliveries.map(jsonTextOf), ...(act.tasks ?? []).map((task) => JSON.stringify(task))];
  const times = texts.flatMap((text) =>
    [...text.matchAll(/"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d))"/g)].map((match) =>
      Date.parse(match[1] ?? ''),
    ),
  );
  return times.length === 0 ? null : new Date(Math.max(...times));
}

/** All recorded tasks are of `app`, and task rows do not name their repository: any delivery that tells it in full says which that is. */
export function repositoryOfTasks(acts: readonly Act[]): PolledRepository[] {
  for (const act of acts) {
    for (const delivery of act.deliveries) {
      const { repository } = JSON.parse(jsonTextOf(delivery)) as {
        repository?: { id: number; name: string; owner: { login: string } } | null;
      };
      if (repository?.name !== 'app') continue;
      return [
        {
          id: String(repository.id),
          owner: repository.owner.login,
          name: repository.name,
          fields: { ...repository, id: String(repository.id) },
        },
      ];
    }
  }
  return [];
}
