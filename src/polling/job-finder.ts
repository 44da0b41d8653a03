import { type ForgeClient, orNull } from '../forge/forge-client.js';
import type { PolledRepository } from './known-repositories.js';

/** What a task row lacks about its job. */
interface FoundJob {
  readonly job_id: string;
  readonly run_id: string;
  readonly run_attempt: number;
}

interface JobFinderDeps {
  readonly client: Pick<ForgeClient, 'listMyJobs' | 'listJobsOfAttempt'>;
  readonly offers: (name: 'listMyJobs' | 'listJobsOfAttempt') => boolean;
}

interface TaskNames {
  readonly name?: string | null | undefined;
  readonly head_sha?: string | null | undefined;
  readonly url?: string | null | undefined;
  readonly run_started_at?: string | null | undefined;
}

/**
 * Task and job have the same start, to the second, except for rounding. The start distinguishes the attempts of one
 * job.
 */
const SAME_START_MS = 2000;

/** Further reruns are left without a job: each costs a call. */
const MAX_ATTEMPTS = 3;

/**
 * Finds the job behind a task row, for rules that need it: by op 11 in the bot's own repositories, by op 12
 * elsewhere. Op 12 answers only where the last number of the row's path is the run's id (Gitea 1.26 and later); the
 * commit is compared, so that a run number is never taken for an id. Best effort: a refused call is no answer.
 */
export class JobFinder {
  private mine: Promise<Job[]> | null = null;
  private readonly attempts = new Map<string, Promise<Job[] | null>>();

  /** Make one per poll: it keeps what it read for the rows of the poll. */
  constructor(
    private readonly deps: JobFinderDeps,
    /** Asked before each call; false ends the search. */
    private readonly spend: () => boolean,
    private readonly ownLogin: string | null,
  ) {}

  async find(repository: PolledRepository, task: TaskNames): Promise<FoundJob | null> {
    const run = /\/actions\/runs\/(\d+)(?:\/|$)/.exec(task.url ?? '')?.[1];
    if (run === undefined) return null;
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const jobs = await this.jobsOf(repository, run, attempt);
      if (!jobs) return null;
      const job = jobOf(jobs, task);
      if (job) return job;
    }
    return null;
  }

  private async jobsOf(repository: PolledRepository, run: string, attempt: number): Promise<Job[] | null> {
    if (this.ownLogin !== null && repository.owner.toLowerCase() === this.ownLogin.toLowerCase()) {
      const mine = (await this.myJobs()).filter((job) => job.run_id === run && Number(job.run_attempt) === attempt);
      return mine.length > 0 ? mine : null;
    }
    const key = `${repository.id}/${run}/${attempt}`;
    const jobs = this.attempts.get(key) ?? this.ask(repository, run, attempt);
    this.attempts.set(key, jobs);
    return jobs;
  }

  private async ask(repository: PolledRepository, run: string, attempt: number): Promise<Job[] | null> {
    if (!this.deps.offers('listJobsOfAttempt') || !this.spend()) return null;
    const answer = await orNull(
      this.deps.client.listJobsOfAttempt({ owner: repository.owner, repo: repository.name, run, attempt, limit: 50 }),
    );
    return answer?.jobs && answer.jobs.length > 0 ? answer.jobs : null;
  }

  private myJobs(): Promise<Job[]> {
    this.mine ??= (async () => {
      if (!this.deps.offers('listMyJobs') || !this.spend()) return [];
      return (await orNull(this.deps.client.listMyJobs({ sort: 'id', order: 'desc', limit: 50 })))?.jobs ?? [];
    })();
    return this.mine;
  }
}

type Job = NonNullable<Awaited<ReturnType<ForgeClient['listJobsOfAttempt']>>['jobs']>[number];

function jobOf(jobs: readonly Job[], task: TaskNames): FoundJob | null {
  const job = jobs.find(
    (one) =>
      one.name === task.name && one.head_sha === task.head_sha && isSameStart(one.started_at, task.run_started_at),
  );
  if (typeof job?.id !== 'string' || typeof job.run_id !== 'string') return null;
  return { job_id: job.id, run_id: job.run_id, run_attempt: Number(job.run_attempt ?? 0) };
}

function isSameStart(a: string | null | undefined, b: string | null | undefined): boolean {
  return typeof a === 'string' && typeof b === 'string' && Math.abs(Date.parse(a) - Date.parse(b)) <= SAME_START_MS;
}
