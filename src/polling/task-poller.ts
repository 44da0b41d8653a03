import { z } from 'zod';
import { ForgeError } from '../core/errors.js';
import { goPast } from '../core/go-past.js';
import type { Logger } from '../core/logger.js';
import { taskStateOf } from '../events/normalize/task.js';
import type { ForgeClient } from '../forge/forge-client.js';
import { EntryWriter, type EntryWriterDeps, type PolledOrg, type ReadRow } from '../pipeline/receive.js';
import { CallAllowance } from './call-allowance.js';
import type { CursorStore } from './cursor-store.port.js';
import { isBefore, isUpTo, toWholeSecond } from './feed-position.js';
import { JobFinder } from './job-finder.js';
import { keptPosition, movedOn } from './kept-position.js';
import type { PolledRepository, RepositoryLister } from './known-repositories.js';
import { OrgRuns } from './org-runs.js';
import { MovedLately, readingOf } from './task-pace.js';

const idText = z.string().regex(/^\d+$/);

/** How far the task lists of an organization's repositories are known. */
export const taskPosition = z.object({
  /** The first start, to the second. Rows that changed last before it are history. */
  since: z.iso.datetime(),
  /** `since` moved on from the first start: tasks that began before it are history, unless they were open at the last look. */
  hasMoved: z.boolean().default(false),
  /** Id of the repository read last: the next poll goes on behind it when the calls do not reach for all. */
  after: idText.nullable(),
  /** By repository id: tasks seen but not ended, which the list shows further down as new ones come. */
  open: z.record(idText, z.array(idText)),
  /** When the repository that has waited longest was read last; null while some were never read. Tells how old the picture of tasks is. */
  oldestReadAt: z.iso.datetime().nullable().default(null),
  /** The organization's newest runs as they were seen last; null where the forge does not list them. */
  runs: z.record(idText, z.string()).nullable().default(null),
  /** Repositories whose runs changed, and whose tasks were not read since. */
  busy: z.array(idText).default([]),
});

type TaskPosition = z.output<typeof taskPosition>;

export interface TaskPollerDeps extends EntryWriterDeps {
  readonly client: Pick<ForgeClient, 'listActionTasks' | 'listMyJobs' | 'listJobsOfAttempt' | 'listOrgRuns'>;
  readonly offers: (name: 'listMyJobs' | 'listJobsOfAttempt' | 'listOrgRuns') => boolean;
  readonly cursors: CursorStore;
  readonly repositories: RepositoryLister;
  readonly logger: Logger;
  readonly startedAt: Date;
  /** What happened longer ago is history for every poll. Default: only what is older than the first start. */
  readonly historyDays?: number;
  /** Maximum number of calls in one poll; repositories without a turn come first in the next poll. */
  readonly callsPerPoll: number;
  /** Repositories in which something happened since they were read; those that were are taken out. */
  readonly moved?: Set<string>;
  /** Ids of the repositories of which a delivery that was received since then told a task or a run. Default: none comes. */
  readonly deliveredJobs?: (since: Date) => Promise<readonly string[]>;
  /** Whether a rule waits for tasks now. Default: one does. */
  readonly isAwaited?: () => Promise<boolean>;
  /** The bot's own login, where known: op 11 tells jobs of its own repositories alone. */
  readonly ownLogin?: string | null;
}

interface TaskPoll {
  readonly calls: number;
  readonly repositories: number;
  readonly stored: number;
  /** False when the calls did not reach for all repositories. */
  readonly complete: boolean;
}

const PAGE_SIZE = 50;
const MAX_PAGES = 40;
/** Deliveries that were received so long before the last poll count once more: they may not have been decided then. */
const DECIDED_WITHIN_MS = 10_000;
/** Maximum number of watched tasks of one repository; beyond it, the poller gives up the oldest. */
const MAX_OPEN = 200;

/**
 * Reads the action tasks of an organization's repositories (op 14) into the inbox. A row changes as its job goes on, so an entry is a task in a
 * state; the list is read until a whole page is known and no task that was open last time can stand further down. Where the forge lists the runs of a whole
 * organization, one call tells in which repositories there is something to read; one other list is read beside, in case. Where no rule waits for tasks,
 * most polls read nothing (`task-pace.ts`).
 */
export class TaskPoller {
  private readonly writer: EntryWriter;
  private readonly readAt = new Map<string, string>();
  private readonly orgRuns: OrgRuns;
  private readonly movedLately = new MovedLately();
  private polls = 0;
  /** When the last poll asked what deliveries told; null = none did: a first poll reads in any case. */
  private deliveriesAskedAt: Date | null = null;
  /** Some tasks have not ended: poll again soon. */
  hasOpen = false;
  /** Some tasks have not ended, and a rule waits for tasks. */
  hasAwaited = false;

  constructor(
    private readonly deps: TaskPollerDeps,
    private readonly polled: PolledOrg,
  ) {
    this.writer = new EntryWriter(deps, polled, 'tasks');
    this.orgRuns = new OrgRuns(deps, polled);
  }

  /**
   * One poll; the next begins when it has ended (`PollLoop`).
   * @throws ForgeError when the forge, or one repository, cannot be read; what was read is stored
   */
  async poll(): Promise<TaskPoll> {
    const { forge, org } = this.polled;
    const { position: storedPosition } = await keptPosition(this.deps.cursors, {
      ...this.polled,
      source: 'tasks',
      schema: taskPosition,
      first: {
        since: toWholeSecond(this.deps.startedAt).toISOString(),
        hasMoved: false,
        after: null,
        open: {},
        oldestReadAt: null,
        runs: null,
        busy: [],
      },
    });
    const position = movedOn(storedPosition, this.deps.clock.now(), this.deps.historyDays ?? null);
    await this.takeDeliveries();
    const movedLately = this.movedLately.next(this.deps.moved ?? []);
    const isAwaited = (await this.deps.isAwaited?.()) ?? true;
    const reading = readingOf({
      isAwaited,
      hasOpen: Object.keys(position.open).length > 0,
      hasMoved: movedLately.size > 0,
      poll: this.polls++,
    });
    if (reading === 'none') {
      // That nothing had to be read is a poll too: the time of the cursor tells that polls go on.
      await this.deps.cursors.write(forge, org, 'tasks', position);
      return { calls: 0, repositories: 0, stored: 0, complete: true };
    }
    const moved = reading === 'moved' ? movedLately : (this.deps.moved ?? new Set());
    const budget = new CallAllowance(this.deps.callsPerPoll);
    const look = await this.orgRuns.look(position.runs, position.since, budget);
    const busy = new Set([...position.busy, ...(look?.busy ?? [])]);
    // Where the runs are known, a push alone is no reason to read.
    if (look?.isWhole) this.deps.moved?.clear();
    const hint = look?.isWhole ? [] : moved;
    const repositories = await this.deps.repositories.list(() => budget.spend(), new Set([...busy, ...hint]));
    const jobs = new JobFinder(this.deps, () => budget.spendIfLeft(), this.deps.ownLogin ?? null);
    // More runs are new than were looked at: any repository may have one.
    if (look && !look.isWhole) for (const { id } of repositories) busy.add(id);
    const hadOpen = new Set(Object.keys(position.open));
    const turn = inTurn(repositories, position.after, new Set([...hadOpen, ...busy, ...hint]));
    const isFirst = new Set(turn.first);
    const toRead =
      reading === 'moved'
        ? turn.all.filter(({ id }) => isFirst.has(id))
        : look?.isWhole
          ? turn.all.filter(({ id }, n) => isFirst.has(id) || turn.all.findIndex((one) => !isFirst.has(one.id)) === n)
          : turn.all;
    let count = 0;
    let done = 0;
    // The first repository always gets its turn, however many calls the list of repositories took.
    function* withinCalls(): Generator<PolledRepository> {
      for (const [n, repository] of toRead.entries()) if (n === 0 || budget.isLeft) yield repository;
    }
    try {
      const failed = await goPast(withinCalls(), async (repository) => {
        // One that fails has had its turn, so that those behind it get theirs.
        if (!isFirst.has(repository.id)) position.after = repository.id;
        count += await this.pollRepository(repository, position, budget, jobs);
        this.readAt.set(repository.id, this.deps.clock.now().toISOString());
        this.deps.moved?.delete(repository.id);
        busy.delete(repository.id);
        done += 1;
      });
      for (const { one, error } of failed)
        this.deps.logger.warn({ org, repository: one.name, error: error.message }, 'tasks.not-read');
      if (failed[0]) throw failed[0].error;
    } finally {
      const ids = new Set(repositories.map(({ id }) => id));
      for (const id of Object.keys(position.open))
        if (!ids.has(id) && repositories.length > 0) delete position.open[id];
      position.runs = look?.runs ?? null;
      position.busy = [...busy].filter((id) => ids.has(id));
      // Where no run changed there is nothing newer to read.
      if (look?.isWhole)
        for (const { id } of repositories)
          if (!busy.has(id) && !isFirst.has(id)) this.readAt.set(id, this.deps.clock.now().toISOString());
      position.oldestReadAt = this.oldestOf(repositories);
      this.hasOpen = Object.keys(position.open).length > 0;
      this.hasAwaited = this.hasOpen && isAwaited;
      await this.deps.cursors.write(forge, org, 'tasks', position);
    }
    return { calls: budget.spent, repositories: done, stored: count, complete: done === toRead.length };
  }

  /** What a delivery told of a task or run moves its repository, as a row of the feed does. Deliveries come to other processes, so the store is asked. */
  private async takeDeliveries(): Promise<void> {
    const { deliveredJobs, moved, clock } = this.deps;
    if (!deliveredJobs || !moved) return;
    const now = clock.now();
    const since = new Date((this.deliveriesAskedAt ?? now).getTime() - DECIDED_WITHIN_MS);
    for (const id of await deliveredJobs(since)) moved.add(id);
    this.deliveriesAskedAt = now;
  }

  /** Null while some were not read since this process started. */
  private oldestOf(repositories: readonly PolledRepository[]): string | null {
    let oldest: string | null = null;
    for (const { id } of repositories) {
      const at = this.readAt.get(id);
      if (at === undefined) return null;
      if (oldest === null || at < oldest) oldest = at;
    }
    return oldest;
  }

  private async pollRepository(
    repository: PolledRepository,
    position: TaskPosition,
    budget: CallAllowance,
    jobs: JobFinder,
  ): Promise<number> {
    let read: { fresh: TaskRowRead[]; open: string[] };
    try {
      read = await this.readTasks(repository, position, budget);
    } catch (error) {
      // Actions are off there, or the repository is deleted or not readable: continue with the others.
      if (!(error instanceof ForgeError) || !['refused', 'not-offered', 'moved'].includes(error.kind)) throw error;
      this.deps.logger.debug(
        { org: this.polled.org, repository: repository.name, error: error.message },
        'tasks.not-read',
      );
      delete position.open[repository.id];
      return 0;
    }
    const rows: ReadRow[] = [];
    for (const row of read.fresh.reverse()) {
      const job = row.isHistory ? null : await jobs.find(repository, row.task);
      rows.push({
        entryKey: row.entryKey,
        isHistory: row.isHistory,
        row: { ...row.task, ...job, repository: repository.fields },
      });
    }
    const stored = await this.writer.store(rows);
    if (read.open.length > 0) position.open[repository.id] = read.open;
    else delete position.open[repository.id];
    return stored;
  }

  /** Newest first, as the list stands. */
  private async readTasks(
    repository: PolledRepository,
    position: TaskPosition,
    budget: CallAllowance,
  ): Promise<{ fresh: TaskRowRead[]; open: string[] }> {
    const watched = new Set(position.open[repository.id] ?? []);
    const wasOpen = new Set(watched);
    const open = new Set<string>();
    const fresh = new Map<string, TaskRowRead>();
    for (let page = 1; page <= MAX_PAGES; page += 1) {
      budget.spend();
      const answer = await this.deps.client.listActionTasks({
        owner: repository.owner,
        repo: repository.name,
        page,
        limit: PAGE_SIZE,
      });
      const rows = (answer.workflow_runs ?? []).flatMap((task) => readRow(repository, task, position, wasOpen));
      if (rows.length === 0) break;
      for (const row of rows) {
        watched.delete(row.id);
        if (row.isOpen) open.add(row.id);
      }
      const unknown = await this.writer.unknown(rows);
      for (const row of unknown) fresh.set(row.entryKey, row);
      const last = rows.at(-1)?.id ?? '0';
      const maybeBelow = [...watched].some((id) => isUpTo(id, last));
      if (unknown.every(({ isHistory }) => isHistory) && !maybeBelow) break;
    }
    // A watched task that is no longer listed was deleted with its run.
    return { fresh: [...fresh.values()], open: [...open].slice(0, MAX_OPEN) };
  }
}

interface TaskRowRead extends ReadRow {
  readonly id: string;
  readonly task: Task;
  readonly isOpen: boolean;
}

type Task = NonNullable<Awaited<ReturnType<ForgeClient['listActionTasks']>>['workflow_runs']>[number];

/** A row without an id cannot be recognized again. No server is known to send one; the poller leaves it out. */
function readRow(
  repository: PolledRepository,
  task: Task,
  { since, hasMoved }: TaskPosition,
  wasOpen: ReadonlySet<string>,
): TaskRowRead[] {
  if (typeof task.id !== 'string' || !/^\d+$/.test(task.id)) return [];
  // By the state that events know, so that `running` and `cancelling` are one entry.
  const state = taskStateOf(task.status ?? '') ?? task.status ?? '';
  const changed = task.updated_at ?? task.created_at ?? null;
  // Servers change a row long after its task ended, when they remove its log.
  const isForgotten = hasMoved && !wasOpen.has(task.id) && isBefore(task.created_at ?? null, since);
  return [
    {
      id: task.id,
      entryKey: `${repository.id}/${task.id}:${state}`,
      row: task,
      task,
      isHistory: isForgotten || isBefore(changed, since),
      isOpen: state !== 'completed',
    },
  ];
}

/**
 * Repositories with open tasks or news in the feed alternate with the others, so that neither starves; the others
 * follow in turn after the one read last.
 */
function inTurn(
  repositories: readonly PolledRepository[],
  after: string | null,
  pressing: ReadonlySet<string>,
): { all: PolledRepository[]; first: readonly string[] } {
  const sorted = [...repositories].sort((a, b) => (isUpTo(a.id, b.id) ? -1 : 1));
  const first = sorted.filter(({ id }) => pressing.has(id));
  const others = sorted.filter(({ id }) => !pressing.has(id));
  const behind =
    after === null
      ? others
      : [...others.filter(({ id }) => !isUpTo(id, after)), ...others.filter(({ id }) => isUpTo(id, after))];
  const all = Array.from({ length: Math.max(first.length, behind.length) }, (_, i) => [first[i], behind[i]])
    .flat()
    .filter((one) => one !== undefined);
  return { all, first: first.map(({ id }) => id) };
}
