import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import { AppConfig } from '../../config/app-config.js';
import { ofOrgs } from '../../config/live-config.js';
import { alert } from '../../core/alerts.js';
import { callingAs } from '../../core/caller.js';
import { didYouMean } from '../../core/did-you-mean.js';
import { BotError, UserError, messageOf } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import { isJsonObject, type Json } from '../../core/json.js';
import { Logger } from '../../core/logger.js';
import { tellProgress } from '../../core/progress.js';
import type { Cause } from '../../core/run.js';
import { count, fields, maybeText, text, time, type Shape } from '../../core/schema.js';
import { seesWholeOrg, type Visibility } from '../../core/visibility.js';
import type { Tick } from '../../pipeline/tick-store.port.js';
import { BotJobTools } from './bot-job-tools.js';
import {
  jobOutcome,
  Jobs,
  scheduleOf,
  type Job,
  type JobOutcome,
  type JobTools,
  type ScheduledJob,
  type ScheduledOrg,
} from './job.js';

/** The newest run of a job for one organization, one forge, or the bot. */
export const jobRun = z.object({
  ...fields('forge org by', text),
  at: time,
  outcome: jobOutcome.nullable(),
  error: maybeText.describe('Why it could not be done; null = it was.'),
});
export type JobRun = Shape<typeof jobRun>;

/** A job, and how many of its newest runs ended well. */
export const jobStatus = z.object({
  ...fields('job summary when', text),
  per: z.enum(['organization', 'forge', 'bot']),
  done: count,
  troubled: count.describe('Not done, not for everything, or something was found.'),
});
export type JobStatus = Shape<typeof jobStatus>;

/** The newest run of a job for one of its subjects. */
export const jobResult = jobRun.extend({ job: text });
export type JobResult = Shape<typeof jobResult>;

/** Whether somebody should look at it: it was not done, or not for everything, or it found something. */
export function isTroubled({ error, outcome }: Pick<JobRun, 'error' | 'outcome'>): boolean {
  return error !== null || outcome?.missed !== undefined || (outcome?.findings.length ?? 0) > 0;
}

const LINES_KEPT = 200;
const SCHEDULE = 'schedule';

/** Runs jobs by schedule and by hand, for each of their subjects. Keeps the newest result of each, and raises one alert per job and subject. */
@Injectable()
export class JobRunner {
  private readonly orgs: () => readonly ScheduledOrg[];
  private readonly forges: readonly string[];
  /** False = audits are run by hand alone. */
  private readonly audits: boolean;
  private readonly running = new Map<string, Promise<JobRun>>();
  private readonly orders = new Map<string, Promise<JobRun[]>>();

  constructor(
    private readonly jobs: Jobs,
    config: AppConfig,
    @Inject(BotJobTools) private readonly tools: JobTools,
    private readonly logger: Logger,
  ) {
    this.orgs = ofOrgs(config, (orgs) => orgs.map(({ forge, key }) => ({ forge, org: key })));
    this.forges = config.forges.map(({ id }) => id);
    this.audits = config.housekeeping.audits;
  }

  /** What the scheduler fires besides rules and policies. */
  scheduled(): ScheduledJob[] {
    return this.jobs.flatMap((job) => {
      const { schedule } = job;
      if (!schedule || (job.isAudit && !this.audits)) return [];
      return this.subjectsOf(job).map((where) => ({
        where,
        id: scheduleOf(job),
        schedule,
        isHeldByFreeze: !job.isAudit,
      }));
    });
  }

  /** Returns at once: schedules of rules must not wait for an audit. A run that fails is logged and kept, and not repeated. */
  begin({ id, forge, org, schedule }: Tick): void {
    const job = this.jobs.find(({ name }) => schedule === scheduleOf({ name }));
    if (job)
      this.turn(job, { forge, org }, false, SCHEDULE, { kind: 'tick', tickId: id, subject: '' }).catch(
        (error: unknown) => this.logger.warn({ job: job.name, forge, org, error }, 'job.not-stored'),
      );
  }

  /** When every turn that was begun has ended. */
  async idle(): Promise<void> {
    await Promise.allSettled([...this.running.values()]);
  }

  /**
   * By hand, for one organization or all subjects. The same order joins one that runs.
   * @throws UserError when there is no such job, or it has no such subject
   */
  run(name: string, org: string | null, isDryRun: boolean, by: string): Promise<JobRun[]> {
    const key = JSON.stringify([name, org, isDryRun]);
    const order = this.orders.get(key) ?? this.order(name, org, isDryRun, by).finally(() => this.orders.delete(key));
    this.orders.set(key, order);
    return order;
  }

  private async order(name: string, org: string | null, isDryRun: boolean, by: string): Promise<JobRun[]> {
    const job = this.find(name);
    const all = this.subjectsOf(job);
    const wanted = org === null ? null : this.orgs().find((one) => one.org === org);
    if (wanted === undefined) throw new UserError('NO_SUCH_ORG', `the config has no organization ${org ?? ''}`);
    if (wanted && job.per === 'bot')
      throw new UserError('NOT_PER_ORG', `${name} runs once for the whole bot: leave out --org`);
    const subjects = wanted
      ? all.filter(({ forge, org: one }) => forge === wanted.forge && (job.per === 'forge' || one === wanted.org))
      : all;
    const runs: JobRun[] = [];
    // An order is a cause of its own: two of them are two.
    const cause: Cause = { kind: 'apply', by, plan: newId(), subject: '' };
    for (const where of subjects) {
      tellProgress(runs.length, subjects.length);
      runs.push(await this.turn(job, where, isDryRun, by, cause));
    }
    return runs;
  }

  /** @throws UserError when there is no such job */
  isPerOrganization(name: string): boolean {
    return this.find(name).per === 'organization';
  }

  /** Every job. */
  list(): Array<Omit<JobStatus, 'done' | 'troubled'>> {
    return this.jobs.map((job) => ({
      job: job.name,
      summary: job.summary,
      per: job.per,
      when: job.isAudit && !this.audits ? 'by hand (audits: false)' : job.when,
    }));
  }

  /** The newest runs that are visible, with one question to the store: what is done for a forge or for the bot is for whoever sees everything. */
  async results(visibility: Visibility = null): Promise<JobResult[]> {
    const rows = this.jobs.flatMap((job) =>
      this.subjectsOf(job)
        .filter(({ org }) => visibility === null || (job.per === 'organization' && seesWholeOrg(visibility, org)))
        .map((where) => ({ job: job.name, ...where })),
    );
    const facts = await this.tools.knownFacts.of(
      this.jobs.map(({ name }) => factOf(name)),
      [...new Set(rows.map(({ org }) => org))],
    );
    const factByKey = new Map(facts.map(({ kind, forge, subject, fact }) => [`${kind} ${forge} ${subject}`, fact]));
    return rows.flatMap(({ job, forge, org }) => {
      const run = readRun({ forge, org }, factByKey.get(`${factOf(job)} ${forge} ${org}`));
      return run ? [{ job, ...run }] : [];
    });
  }

  private find(name: string): Job {
    const job = this.jobs.find((one) => one.name === name);
    if (job) return job;
    const names = this.jobs.map((one) => one.name);
    const near = didYouMean(name, names);
    throw new UserError(
      'NO_SUCH_JOB',
      `there is no job ${name}; ${near ? `did you mean ${near}?` : `there are ${names.join(', ')}`}`,
    );
  }

  private subjectsOf({ per }: Job): readonly ScheduledOrg[] {
    if (per === 'organization') return this.orgs();
    return per === 'forge' ? this.forges.map((forge) => ({ forge, org: '' })) : [{ forge: '', org: '' }];
  }

  /** One run at a time for each subject: a second call joins it. */
  private turn(job: Job, where: ScheduledOrg, isDryRun: boolean, by: string, cause: Cause): Promise<JobRun> {
    const key = `${job.name} ${where.forge} ${where.org} ${isDryRun}`;
    const running =
      this.running.get(key) ?? this.turnNow(job, where, isDryRun, by, cause).finally(() => this.running.delete(key));
    this.running.set(key, running);
    return running;
  }

  private async turnNow(job: Job, where: ScheduledOrg, isDryRun: boolean, by: string, cause: Cause): Promise<JobRun> {
    const { tools, logger } = this;
    let outcome: JobOutcome | null = null;
    let error: string | null = null;
    try {
      const { missed = [], ...report } = await callingAs(
        { priority: 'housekeeping', org: where.org === '' ? null : where.org },
        () => job.run({ ...where, isDryRun, cause, tools }),
      );
      outcome = { findings: [], changes: [], ...report, ...(missed.length > 0 ? { missed } : {}) };
    } catch (failure) {
      if (!(failure instanceof BotError)) logger.error({ job: job.name, ...where, error: failure }, 'job.failed');
      error = messageOf(failure);
    }
    const run: JobRun = { ...where, at: tools.clock.now(), by, outcome, error };
    const counts = {
      summary: outcome?.summary,
      findings: outcome?.findings.length,
      changes: outcome?.changes.length,
      missed: outcome?.missed?.length,
    };
    if (error === null) logger.info({ job: job.name, ...where, by, isDryRun, ...counts }, 'job.done');
    else logger.warn({ job: job.name, ...where, by, isDryRun, reason: error }, 'job.not-done');
    if (isDryRun) return run;
    this.tell(job, run);
    const fact = {
      by,
      error,
      at: run.at.toISOString(),
      summary: outcome?.summary ?? null,
      findings: outcome?.findings.slice(0, LINES_KEPT) ?? [],
      changes: outcome?.changes.slice(0, LINES_KEPT) ?? [],
      ...(outcome?.missed ? { missed: outcome.missed.slice(0, LINES_KEPT) } : {}),
    };
    await tools.knownFacts.write(where.forge, where.org, factOf(job.name), fact as unknown as Json);
    return run;
  }

  private tell({ name }: Job, { forge, org, outcome, error }: JobRun): void {
    const { alerts } = this.tools;
    const key = `housekeeping/${name}/${forge}/${org}` as const;
    const lines = [...(outcome?.missed ?? []), ...(outcome?.findings ?? [])];
    const [first] = lines;
    if (first !== undefined)
      alerts.raise(key, alert('housekeeping', { job: name, first }), {
        forge,
        org,
        count: lines.length,
      });
    else if (error === null) alerts.resolve(key);
  }
}

/** Kind of the known fact: the newest run of a job. */
function factOf(job: string): string {
  return `job.${job}`;
}

function readRun(where: ScheduledOrg, fact: Json | undefined): JobRun | null {
  if (!isJsonObject(fact) || typeof fact['at'] !== 'string') return null;
  const lines = (name: string): string[] => (Array.isArray(fact[name]) ? fact[name].map(String) : []);
  const { summary, by, error } = fact;
  const outcome =
    typeof summary === 'string'
      ? {
          summary,
          findings: lines('findings'),
          changes: lines('changes'),
          ...(fact['missed'] === undefined ? {} : { missed: lines('missed') }),
        }
      : null;
  return {
    ...where,
    at: new Date(fact['at']),
    by: String(by),
    outcome,
    error: typeof error === 'string' ? error : null,
  };
}
