import pLimit from 'p-limit';
import { Inject, Injectable } from '@nestjs/common';
import { alert, type AlertKey, Alerts } from '../../core/alerts.js';
import { Clock } from '../../core/clock.js';
import { BotError, InvalidFile } from '../../core/errors.js';
import { hashOf, revisionId } from '../../core/ids.js';
import { Logger } from '../../core/logger.js';
import { OperatorStore } from '../../core/operator-store.port.js';
import { approversOf } from '../../core/operators.js';
import { formatProblem, type Problem } from '../../core/problem.js';
import { within } from '../../core/within.js';
import { hashOfFiles } from '../language/load/load-rules.js';
import type { Revision, RuleFile } from '../language/revision.js';
import { LateLoads } from './late-loads.js';
import { RevisionStore } from './revision-store.port.js';
import type { RuleOrigin } from '../sources/rule-repository.port.js';
import { RuleSources, type KeptOrg, type RuleSource } from '../sources/rule-sources.js';
import { RuleLoader } from './rule-loader.port.js';

export interface KeptRevision {
  /** The same for the same files, in every process. */
  readonly id: string;
  readonly revision: Revision;
  readonly loadedAt: Date;
}

/** How often the bot looks whether something outside of the files asks for another load. */
const LOOK_EVERY_MS = 5_000;
/** Loads wait for files, store and thread. More of them at once would hold other work up. */
const LOADS_AT_ONCE = 4;

type Activated = (org: string, active: KeptRevision) => void | Promise<void>;

/** Said of a proposal whose problems all depend on what stands elsewhere. */
const UNTOLD =
  'they do not fit what they extend, or what the operator allows; forgehand check beside the bot says more';
/** Said of a proposal from outside that is not tried. Fits into a commit status. */
const UNTRIED = 'they extend shared files, which no fork may try: push the branch to this repository';

/** What would become of proposed files. */
export interface ProposedRules {
  readonly files: readonly RuleFile[];
  /** False = nobody tried whether they would be taken. */
  readonly isTried: boolean;
  /** Why they would not be taken, or were not tried; empty = they would. */
  readonly problems: readonly string[];
}

/**
 * Holds the active revision of each organization. A broken state of the files is told (log, alert, status) and stored, and never
 * replaces the running one, not even over a restart: then the last good one comes from the store.
 */
@Injectable()
export class RevisionKeeper {
  private readonly revisions = new Map<string, KeptRevision>();
  private readonly heldBackProblems = new Map<string, string[]>();
  private readonly seenHash = new Map<string, string>();
  /** What lay outside when the load refused the files. Absent while nothing is refused, or for another reason. */
  private readonly heldUnder = new Map<string, string>();
  private readonly late: LateLoads;
  private readonly listeners: Activated[] = [];
  private readonly loading = new Map<string, Promise<void>>();
  /** Who waits for the first end of a load, by organization. */
  private readonly waiting = new Map<string, Array<() => void>>();
  private orgs: readonly KeptOrg[];
  private lookTimer: NodeJS.Timeout | null = null;
  private isFollowing = false;

  constructor(
    @Inject(RuleSources) private readonly sources: Pick<RuleSources, 'all'>,
    private readonly loader: RuleLoader,
    @Inject(OperatorStore) private readonly operators: Pick<OperatorStore, 'list'>,
    private readonly store: RevisionStore,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly alerts: Alerts,
  ) {
    this.orgs = sources.all;
    this.late = new LateLoads(clock);
  }

  onActivated(listener: Activated): void {
    this.listeners.push(listener);
  }

  /** Load every organization once, then follow the files. */
  async start(): Promise<void> {
    this.isFollowing = true;
    this.orgs = this.sources.all;
    await this.follow(this.orgs);
    const look = (): unknown => [this.tryHeldAgain(), this.tryLateAgain(), this.lookAtStore()];
    this.lookTimer = setInterval(look, LOOK_EVERY_MS).unref();
  }

  /**
   * The organizations of the config changed: forget those that went, load those that are new or say something else. What one may use may have changed as
   * well, so its files are tried again even if they did not change; until then, and where they are refused, its revision stays.
   */
  async followConfig(): Promise<void> {
    const before = this.orgs;
    this.orgs = this.sources.all;
    const [existed, stays, names] = [new Set(before), new Set(this.orgs), new Set(this.orgs.map(({ name }) => name))];
    for (const { source } of before.filter((org) => !stays.has(org))) source.close();
    for (const { name } of before) if (!names.has(name)) await this.forget(name);
    const fresh = this.orgs.filter((org) => !existed.has(org));
    fresh.forEach(({ name }) => this.seenHash.delete(name));
    await this.follow(fresh);
  }

  async stop(): Promise<void> {
    if (this.lookTimer) clearInterval(this.lookTimer);
    for (const org of this.orgs) org.source.close();
    this.isFollowing = false;
    await Promise.all(this.loading.values());
    for (const org of this.waiting.keys()) this.wake(org);
  }

  active(org: string): Promise<KeptRevision | null> {
    return Promise.resolve(this.revisions.get(org) ?? null);
  }

  /** The active revision, as soon as there is one. Null: its files were refused, or could not be read within `ms`. */
  async loaded(org: string, ms: number): Promise<KeptRevision | null> {
    await this.loading.get(org);
    if (!this.isLoaded(org)) {
      const end = new Promise<void>((resolve) => this.waiting.set(org, [...(this.waiting.get(org) ?? []), resolve]));
      await within(ms, end).catch(() => undefined);
    }
    return this.active(org);
  }

  /** The commit that holds the files of the active revision; null when none is known. */
  async commit(org: string): Promise<string | null> {
    const [current, entry] = [this.revisions.get(org), this.orgs.find(({ name }) => name === org)];
    return (current && (await entry?.source.commitOf?.(current.revision.hash))) ?? null;
  }

  /** Problems of a newer state of the files that was not taken. */
  heldBack(org: string): readonly string[] {
    return this.heldBackProblems.get(org) ?? [];
  }

  /** Read an organization's files now. What is wrong with them is in `heldBack` then. */
  async lookAgain(org: string): Promise<void> {
    for (const entry of this.orgs) if (entry.name === org) await this.reload(entry);
  }

  /** Something happened in a repository of the organization (or anywhere: null); sources that read from one look again soon. */
  nudge(org: string, repositoryId: string | null): void {
    this.orgs.find(({ name }) => name === org)?.source.nudge?.(repositoryId);
  }

  /** Whether the organization's rules come from this repository. */
  async comesFrom(org: string, repositoryId: string): Promise<boolean> {
    const source = this.orgs.find(({ name }) => name === org)?.source;
    return (await source?.liesIn?.(repositoryId)) ?? false;
  }

  /**
   * What would become of the rules that a commit of their repository proposes; nothing of it is kept. Null where they do not come from there.
   * Everybody may propose, and read what is said of it: a problem is told if the proposed files show it alone, in the words for it then. A message
   * about a shared file has words of that file, and a hint may name what the operator defined. Whether rules fit what they extend says something of it
   * too, and whoever may try again and again reads it: nothing from outside is tried with shared files. The built-in sets are no secret: they count as
   * part of what is proposed.
   * @param isOutside of a fork, or nobody knows
   * @throws BotError when the files cannot be read
   */
  async proposed(org: string, repositoryId: string, commit: string, isOutside: boolean): Promise<ProposedRules | null> {
    const source = this.orgs.find(({ name }) => name === org)?.source;
    const files = (await source?.proposed?.(repositoryId, commit)) ?? null;
    if (!files) return null;
    const own = files.filter(({ shared, isPublic }) => shared === undefined || isPublic === true);
    if (isOutside && own.length < files.length) return { files, isTried: false, problems: [UNTRIED] };
    const result = await this.loader.load(org, files, false);
    if (result.ok) return { files, isTried: true, problems: [] };
    const alone = await this.loader.load(org, own, false, true);
    const isReal = (problem: Problem): boolean => result.problems.some((one) => isSameProblem(one, problem));
    const ownProblems = alone.ok ? [] : alone.problems.filter(isReal).map(formatProblem);
    return { files, isTried: true, problems: ownProblems.length > 0 ? ownProblems : [UNTOLD] };
  }

  /** Files that were refused for what lies outside of them, such as the number of operators, are good once that has changed. */
  private async tryHeldAgain(): Promise<void> {
    const heldOrgs = this.orgs.filter(({ name }) => this.heldUnder.has(name));
    if (heldOrgs.length === 0) return;
    const now = await this.outside().catch(() => null);
    for (const org of heldOrgs) {
      if (now === null || this.heldUnder.get(org.name) === now) continue;
      this.seenHash.delete(org.name);
      await this.reload(org);
    }
  }

  /** What a load depends on beside the files, as a text; while it changes, files that were not taken are tried again. */
  private async outside(): Promise<string> {
    return String(approversOf(await this.operators.list(), this.clock.now()));
  }

  private async tryLateAgain(): Promise<void> {
    for (const org of this.orgs) {
      if (!this.late.isDue(org.name)) continue;
      this.seenHash.delete(org.name);
      await this.reload(org);
    }
  }

  /** One statement for all organizations. Where a revision is missing, its files are read, and it is stored again. */
  private async lookAtStore(): Promise<void> {
    const ids = [...this.revisions.values()].map(({ id }) => id);
    const missing = ids.length > 0 ? await this.store.missing(ids).catch(() => []) : [];
    for (const org of this.orgs) if (missing.includes(this.revisions.get(org.name)?.id ?? '')) await this.reload(org);
  }

  private async follow(orgs: readonly KeptOrg[]): Promise<void> {
    const slots = pLimit(LOADS_AT_ONCE);
    await Promise.all(
      orgs.map((org) =>
        slots(async () => {
          await this.reload(org);
          if (this.isFollowing) org.source.watch(() => void this.reload(org));
        }),
      ),
    );
  }

  private async forget(org: string): Promise<void> {
    await this.loading.get(org);
    const { revisions, heldBackProblems, seenHash, heldUnder, late, loading } = this;
    for (const map of [revisions, heldBackProblems, seenHash, heldUnder, late, loading]) map.delete(org);
    this.alerts.resolve(alertKey(org));
    this.wake(org);
  }

  private reload(org: KeptOrg): Promise<void> {
    const before = this.loading.get(org.name) ?? Promise.resolve();
    const next = before
      .then(() => this.loadNow(org))
      .catch((error: unknown) => this.logger.error({ org: org.name, error }, 'rules.not-loaded'))
      .then(() => (this.isLoaded(org.name) ? this.wake(org.name) : undefined));
    this.loading.set(org.name, next);
    return next;
  }

  private isLoaded(org: string): boolean {
    return this.revisions.has(org) || this.heldBackProblems.has(org);
  }

  private wake(org: string): void {
    const waiting = this.waiting.get(org) ?? [];
    this.waiting.delete(org);
    for (const resolve of waiting) resolve();
  }

  private async loadNow(org: KeptOrg): Promise<void> {
    let files: RuleFile[];
    try {
      files = await org.source.read();
    } catch (error) {
      return this.refuse(org, error, []);
    }
    const hash = hashOfFiles(files);
    if (this.seenHash.get(org.name) === hash) {
      org.source.concluded?.({ problems: this.heldBack(org.name), isTransient: false });
      return this.keepStored(org, hash, files);
    }
    const wasActive = (await this.store.active(org.name))?.hash === hash;
    // Asked before the load: what changes while it runs is noticed at the next try.
    const outside = await this.outside();
    const result = await this.loader.load(org.name, files, wasActive);
    this.late.note(org.name, !result.ok && result.wasLate === true);
    if (!result.ok) {
      this.heldUnder.set(org.name, outside);
      const problems = result.problems.map(formatProblem);
      await this.hold(org.name, hash, files, problems);
      org.source.concluded?.({ problems, isTransient: false });
      return undefined;
    }
    try {
      await org.source.confirm?.();
    } catch (error) {
      return this.refuse(org, error, files);
    }
    await this.activate(org, hash, files, result.revision);
    const [first] = result.warnings ?? [];
    if (first)
      this.logger.warn(
        { org: org.name, warnings: result.warnings?.length, first: formatProblem(first) },
        'rules.warnings',
      );
    org.source.concluded?.({ problems: [], isTransient: false });
  }

  /** A place that cannot be asked now says nothing about its files; one that is not as it must be does. */
  private async refuse(org: KeptOrg, error: unknown, files: RuleFile[]): Promise<void> {
    if (!(error instanceof BotError)) throw error;
    const isTransient = error.retry !== 'permanent';
    const problems = error instanceof InvalidFile ? error.problems.map(formatProblem) : [error.message];
    if (!isTransient) {
      this.logger.warn({ org: org.name, code: error.code, reason: error.message }, 'rules.refused');
      this.heldUnder.delete(org.name);
      await this.hold(org.name, hashOf(...problems), files, problems, error.code);
    } else {
      this.logger.warn({ org: org.name, reason: error.message }, 'rules.not-read');
      if (!this.revisions.has(org.name)) await this.takeFromStore(org.name);
    }
    org.source.concluded?.({ problems, isTransient, code: error.code });
  }

  private async activate(
    { name: org, source }: KeptOrg,
    hash: string,
    files: RuleFile[],
    revision: Revision,
  ): Promise<void> {
    const id = revisionId(org, hash);
    await this.store.save({
      id,
      org,
      hash,
      files,
      state: 'active',
      problems: [],
      loadedAt: this.clock.now(),
      ...originIn(source, hash),
    });
    // The stored time is that of the process which loaded it first: the one tick of a new revision must be the same for all.
    const stored = await this.store.byId(id);
    const active = { id, revision, loadedAt: stored?.loadedAt ?? this.clock.now() };
    this.revisions.set(org, active);
    this.seenHash.set(org, hash);
    this.heldBackProblems.delete(org);
    this.heldUnder.delete(org);
    this.alerts.resolve(alertKey(org));
    this.logger.info(
      { org, revision: active.id, rules: revision.rules.length, policies: revision.policies.length },
      'revision.active',
    );
    for (const listener of this.listeners) await listener(org, active);
  }

  /** A store that was put back to an earlier time (a failover that lost its end) knows nothing of what is active here: it is told again. */
  private async keepStored({ name: org, source }: KeptOrg, hash: string, files: RuleFile[]): Promise<void> {
    const active = this.revisions.get(org);
    if (active?.id !== revisionId(org, hash) || (await this.store.byId(active.id))) return;
    await this.store.save({
      id: active.id,
      org,
      hash,
      files,
      state: 'active',
      problems: [],
      loadedAt: active.loadedAt,
      ...originIn(source, hash),
    });
    this.logger.warn({ org, revision: active.id }, 'revision.stored-again');
  }

  private async hold(
    org: string,
    hash: string,
    files: RuleFile[],
    problems: string[],
    code: string | null = null,
  ): Promise<void> {
    if (this.seenHash.get(org) === hash) return;
    this.heldBackProblems.set(org, problems);
    this.alerts.raise(alertKey(org), alert('rules.broken', { org }), {
      org,
      code,
      problems: problems.length,
      first: problems[0] ?? null,
    });
    if (!this.revisions.has(org)) await this.takeFromStore(org);
    await this.store.save({
      id: revisionId(org, hash),
      org,
      hash,
      files,
      state: 'broken',
      problems,
      loadedAt: this.clock.now(),
    });
    this.seenHash.set(org, hash);
  }

  private async takeFromStore(org: string): Promise<void> {
    const stored = await this.store.active(org);
    const result = stored ? await this.loader.load(org, stored.files, true) : null;
    if (!stored || !result?.ok) return;
    const active = { id: stored.id, revision: result.revision, loadedAt: stored.loadedAt };
    this.revisions.set(org, active);
    this.logger.warn({ org, revision: active.id }, 'revision.last-good');
    for (const listener of this.listeners) await listener(org, active);
  }
}

function originIn(source: RuleSource, hash: string): { origin?: RuleOrigin } {
  const origin = source.originOf?.(hash);
  return origin ? { origin } : {};
}

function alertKey(org: string): AlertKey<'rules.broken'> {
  return `rules.broken/${org}`;
}

function isSameProblem(one: Problem, other: Problem): boolean {
  return one.file === other.file && one.line === other.line && one.col === other.col && one.message === other.message;
}
