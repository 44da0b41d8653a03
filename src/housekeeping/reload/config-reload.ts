import { Injectable } from '@nestjs/common';
import type { AppConfig } from '../../config/app-config.js';
import { LiveConfig, orgLabels } from '../../config/live-config.js';
import { withKeys } from '../../config/org-keys.js';
import { readConfig } from '../../config/read-config.js';
import { changedKeys } from '../../config/same-config.js';
import { ThisProcess } from '../../config/this-process.js';
import { alert, Alerts, type AlertKey, RaisedAlerts } from '../../core/alerts.js';
import { Clock } from '../../core/clock.js';
import { BotError, InvalidFile, UserError } from '../../core/errors.js';
import { KnownOrgs } from '../../core/known-orgs.port.js';
import { Logger } from '../../core/logger.js';
import { formatProblem } from '../../core/problem.js';
import { within } from '../../core/within.js';
import { ConnectedForges } from '../../forge/connected-forges.js';
import { OrgNumbers } from '../../forge/org-numbers.js';
import { Metrics } from '../../observability/metrics.js';
import { RevisionKeeper } from '../../rules/revisions/revision-keeper.js';
import type { Reloaded, ReloadReport } from './reload-report.js';
import { ReloadSignal } from './reload-signal.port.js';

/** Longest wait for the forges under new credentials; a later connection counts as well. */
const CONNECT_WAIT_MS = 2_000;
/** A signal of this time before the start may have been given after this process read its config: clocks differ, and a reload too many changes nothing. */
const BEFORE_START_MS = 60_000;
/** Problems in the log; `forgehand check` shows all. */
const LOGGED_PROBLEMS = 10;

/**
 * Reads the config files again and follows the organizations in them. Files that cannot be used change nothing. What else the config says holds from
 * the next start, and the report names it.
 */
@Injectable()
export class ConfigReload {
  private last: Promise<unknown> = Promise.resolve();
  private seenSignalMs: number;
  private isStopped = false;
  private readonly labelOf: (org: string) => string;

  constructor(
    private readonly config: LiveConfig,
    private readonly self: ThisProcess,
    private readonly forges: ConnectedForges,
    private readonly rules: RevisionKeeper,
    private readonly signal: ReloadSignal,
    private readonly metrics: Metrics,
    private readonly alerts: Alerts,
    private readonly raisedAlerts: RaisedAlerts,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly knownOrgs: KnownOrgs,
    private readonly numbers: OrgNumbers,
  ) {
    this.labelOf = orgLabels(config);
    numbers.onRekeyed(async () => {
      // A command has no files to read again, but goes on under the new keys.
      if (self.serves === 'command')
        this.resolveAlertsOf(config.replaceOrgs(await withKeys(config.orgs, knownOrgs, false)).removed);
      // Where no bot runs, the next start finds them.
      if (self.serves === 'bot' || config.store.kind === 'postgres') await this.everywhere();
    });
    this.seenSignalMs = self.startedAt.getTime() - BEFORE_START_MS;
    this.succeeded();
  }

  /**
   * In this process, after a reload that runs.
   * @throws InvalidFile with the place of each mistake, UserError; nothing was changed then
   */
  here(): Promise<Reloaded> {
    const next = this.last.then(() => this.reload());
    this.last = next.catch(() => undefined);
    return next;
  }

  /** In this process, and then in every other one of the bot. @throws as `here`; the others are not told then */
  async everywhere(): Promise<ReloadReport> {
    const isShared = this.config.store.kind === 'postgres';
    if (this.self.serves === 'command' && !isShared)
      throw new UserError('NO_BOT_RUNS', 'no bot runs on this config: the next start reads it');
    // A command has just read it.
    const here = this.self.serves === 'bot' ? await this.here() : null;
    if (isShared) this.seenSignalMs = (await this.signal.give()).getTime();
    return { here, elsewhere: isShared };
  }

  /** Where another process was told to reload, this one does. */
  async follow(): Promise<void> {
    const givenMs = (await this.signal.last())?.getTime() ?? 0;
    if (givenMs <= this.seenSignalMs) return;
    this.seenSignalMs = givenMs;
    // What is wrong was logged and raised where it was seen.
    await this.here().catch(() => undefined);
  }

  /** Waits for one that runs; none begins after it. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.last;
  }

  private async reload(): Promise<Reloaded> {
    if (this.isStopped) throw new UserError('NOT_READY', 'the bot is stopping: nothing was reloaded');
    let next: AppConfig;
    try {
      next = readConfig(this.config.file, { reader: this.self.role });
      this.checkForges(next);
    } catch (error) {
      this.failed(error);
      throw error;
    }
    const needsRestart = changedKeys(this.config, next);
    const before = new Map(this.config.orgs.map(({ key, label }) => [key, label]));
    const { added, removed, changed } = this.config.replaceOrgs(await this.keyed(next.orgs));
    for (const warning of next.warnings) this.logger.warn({ problem: formatProblem(warning) }, 'config.warning');
    await within(CONNECT_WAIT_MS, this.forges.followConfig()).catch(() => undefined);
    // A receiver loads no rules.
    if (this.self.role !== 'web') await this.rules.followConfig();
    this.resolveAlertsOf(removed);
    await this.metrics.series.prune();
    this.succeeded();
    const labels = (keys: readonly string[]): string[] => keys.map(this.labelOf);
    const labelsBefore = removed.map((key) => before.get(key) ?? key);
    const report = { added: labels(added), removed: labelsBefore, changed: labels(changed), needsRestart };
    this.logger.info(report, 'config.reloaded');
    return report;
  }

  /** Under the keys of the store. A receiver asks no forge, and writes nothing of it. */
  private async keyed(orgs: AppConfig['orgs']): Promise<AppConfig['orgs']> {
    const { forges, knownOrgs, numbers, self } = this;
    const keyed = await withKeys(orgs, knownOrgs, false);
    if (!self.keepsOrgs) return keyed;
    await within(
      CONNECT_WAIT_MS,
      numbers.recognize(keyed, ({ forge, key }) => forges.reached(forge, key)),
    ).catch(() => undefined);
    return withKeys(orgs, knownOrgs, true);
  }

  /** Forges are connected at the start alone: an organization of another one would get no rules, no polls and no effects. */
  private checkForges({ orgs }: AppConfig): void {
    const started = new Set(this.config.forges.map(({ id }) => id));
    const org = orgs.find(({ forge }) => !started.has(forge));
    if (org)
      throw new UserError(
        'RESTART_NEEDED',
        `nothing was reloaded: ${org.name} is at the forge "${org.forge}", which the config did not have when this process started. Start the bot again`,
      );
  }

  private failed(error: unknown): void {
    if (!(error instanceof BotError)) throw error;
    const problems = error instanceof InvalidFile ? error.problems.map(formatProblem) : [error.message];
    const [first = ''] = problems;
    this.metrics.configReloaded.set(0);
    this.logger.error({ code: error.code, problems: problems.slice(0, LOGGED_PROBLEMS) }, 'config.not-reloaded');
    // Told each time: somebody waits for what the reload was for.
    this.alerts.resolve(this.alertKey);
    this.alerts.raise(this.alertKey, alert('config.broken', { process: this.self.name, first }), {
      problems: problems.length,
    });
  }

  private succeeded(): void {
    this.metrics.configReloaded.set(1);
    this.metrics.configReloadedAt.set(this.clock.now().getTime() / 1000);
    this.alerts.resolve(this.alertKey);
  }

  /** Nobody would resolve them any more. */
  private resolveAlertsOf(removed: readonly string[]): void {
    for (const { key, org } of this.raisedAlerts.raised())
      if (org !== null && removed.includes(org)) this.alerts.resolve(key as AlertKey);
  }

  /** Of this process: each reads its own files. */
  private get alertKey(): AlertKey<'config.broken'> {
    return `config.broken/${this.self.name}`;
  }
}
