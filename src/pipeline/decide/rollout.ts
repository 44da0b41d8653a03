import { Injectable } from '@nestjs/common';
import type { RuleStages, StagedRule } from '../../rules/revisions/rule-stages.port.js';
import { alert, type AlertKey, Alerts } from '../../core/alerts.js';
import { Clock } from '../../core/clock.js';
import { UserError } from '../../core/errors.js';
import type { EventRepository } from '../../core/event.js';
import { hashOf, newId } from '../../core/ids.js';
import type { JsonObject } from '../../core/json.js';
import { textOf as reasonText } from '../../core/reason.js';
import { type RolloutEvidence, type RolloutRow, RolloutStore } from '../rollout-store.port.js';
import type { Candidate } from '../rule-engine.port.js';

/** A canary with so many errors among so many of its newest decisions falls back. */
const MAX_ERRORS = 2;
const WINDOW = 20;
/** A hash gives this many places; a percent is a hundred of them. */
const PLACES = 10_000;

interface Resolved {
  readonly mode: Candidate['mode'];
  /** For the reason of the run; null where the file alone decided. */
  readonly note: string | null;
}

/** Which of its modes a rule has now, for which repository: what its file says, and what people and errors made of it since. */
@Injectable()
export class Rollout implements RuleStages {
  constructor(
    private readonly store: RolloutStore,
    private readonly clock: Clock,
    private readonly alerts: Alerts,
  ) {}

  /** Costs nothing for rules that are neither shadow nor canary. */
  async resolve(org: string, rule: StagedRule, repo: EventRepository | null): Promise<Resolved> {
    if (!isStaged(rule)) return { mode: rule.mode, note: null };
    const row = await this.settled(org, rule);
    if (row.stage === 'live') return { mode: 'live', note: `promoted to live by ${row.by}` };
    if (row.stage === 'shadow')
      return { mode: 'shadow', note: row.kind === 'file' ? null : 'its canary fell back to shadow' };
    if (isInCanary(rule.id, repo, row.percent ?? 0)) return { mode: 'live', note: `canary ${row.percent}%` };
    return {
      mode: 'shadow',
      note: `canary ${row.percent}%: only recorded, ${repo ? 'this repository is not in it' : 'it is about no repository'}`,
    };
  }

  async mayWrite(org: string, rule: StagedRule): Promise<boolean> {
    if (!isStaged(rule)) return rule.mode === 'live';
    return (await this.settled(org, rule)).stage !== 'shadow';
  }

  /** The stage of a rule; begins that of its file when this text is new. */
  async stage(org: string, rule: StagedRule): Promise<RolloutRow> {
    for (;;) {
      const newest = await this.store.newest(org, rule.id);
      const ruleHash = rule.ruleHash ?? '';
      if (newest?.ruleHash === ruleHash) return newest;
      const percent = rule.canary ?? null;
      const stage = percent === null ? 'shadow' : 'canary';
      const row: RolloutRow = {
        ...this.head(org, rule),
        kind: 'file',
        stage,
        percent,
        by: 'the rule file',
        evidence: {},
        forced: false,
      };
      if (await this.store.add(row, newest?.id ?? null)) return row;
    }
  }

  /**
   * Let a rule do more: by a person, on evidence of what it decided since its stage began.
   * @param to percent of repositories, or all of them
   * @throws UserError when there is too little evidence or there were errors, unless forced
   */
  async promote(
    org: string,
    rule: StagedRule,
    to: number | 'live',
    by: string,
    { force, minDecisions }: { force: boolean; minDecisions: number },
  ): Promise<RolloutRow> {
    if (!isStaged(rule)) {
      const why = rule.mode === 'dry-run' ? 'is in mode dry-run: its file says so' : 'is live already';
      throw new UserError(
        'NOTHING_TO_PROMOTE',
        `${rule.id} ${why}; only a rule in mode shadow or with a canary can be promoted`,
      );
    }
    const row = await this.settled(org, rule);
    const evidence = await this.store.evidence(org, rule.id, row.at, WINDOW);
    const reason = whyNot(evidence, minDecisions);
    if (reason && !force)
      throw new UserError(
        'NOT_ENOUGH_EVIDENCE',
        `${rule.id} stays ${textOf(row)}: ${reason} (--force promotes it anyway, and is recorded)`,
      );
    const next: RolloutRow = {
      ...this.head(org, rule),
      kind: 'promoted',
      stage: to === 'live' ? 'live' : 'canary',
      percent: to === 'live' ? null : to,
      by,
      evidence: { from: textOf(row), since: row.at.toISOString(), ...asJson(evidence) },
      forced: force && reason !== null,
    };
    if (!(await this.store.add(next, row.id)))
      throw new UserError('CHANGED_MEANWHILE', `the stage of ${rule.id} has just changed: check it and try again`);
    this.alerts.resolve(alertKey(org, rule.id));
    return next;
  }

  /** The stage after a look at the errors: a canary that made too many is shadow from here on, once and for all of its text. */
  private async settled(org: string, rule: StagedRule): Promise<RolloutRow> {
    const row = await this.stage(org, rule);
    if (row.stage !== 'canary') return row;
    const evidence = await this.store.evidence(org, rule.id, row.at, WINDOW);
    const errors = evidence.newest.filter(({ isError }) => isError);
    if (errors.length < MAX_ERRORS) return row;
    const fallback: RolloutRow = {
      ...this.head(org, rule),
      kind: 'fallback',
      stage: 'shadow',
      percent: null,
      by: 'forgehand',
      evidence: { from: textOf(row), since: row.at.toISOString(), ...asJson(evidence) },
      forced: false,
    };
    if (!(await this.store.add(fallback, row.id))) return this.stage(org, rule);
    this.alerts.raise(
      alertKey(org, rule.id),
      alert('canary.fell-back', { org, rule: rule.id, errors: errors.length, of: evidence.newest.length }),
      {
        org,
        rule: rule.id,
        errors: errors.length,
        of: evidence.newest.length,
        first: errors.map(({ reason }) => reasonText(reason)).at(-1) ?? null,
      },
    );
    return fallback;
  }

  private head(org: string, { id, ruleHash }: StagedRule): Pick<RolloutRow, 'id' | 'org' | 'rule' | 'ruleHash' | 'at'> {
    return { id: newId(), org, rule: id, ruleHash: ruleHash ?? '', at: this.clock.now() };
  }
}

/** Rules whose file says that they are tried first. */
export function isStaged({ kind, mode, canary }: StagedRule): boolean {
  return kind === 'rule' && (mode === 'shadow' || (mode === 'live' && canary !== undefined && canary !== null));
}

/**
 * By a hash of the rule's id and the repository's numeric id: the same in every process and after every start, other repositories for
 * another rule. A canary that grows keeps those it had.
 */
export function isInCanary(rule: string, repo: Pick<EventRepository, 'id'> | null, percent: number): boolean {
  if (!repo) return false;
  return Number.parseInt(hashOf('canary', rule, repo.id).slice(0, 12), 16) % PLACES < percent * (PLACES / 100);
}

export function textOf({ stage, percent }: Pick<RolloutRow, 'stage' | 'percent'>): string {
  return stage === 'canary' ? `canary ${percent}%` : stage;
}

function whyNot({ decisions, errors, newest }: RolloutEvidence, minDecisions: number): string | null {
  const first = newest.find(({ isError }) => isError);
  if (errors > 0)
    return `${errors} of its ${decisions} decisions were errors${first ? ` (run ${first.runId}: ${reasonText(first.reason)})` : ''}`;
  return decisions < minDecisions
    ? `it made ${decisions} ${decisions === 1 ? 'decision' : 'decisions'} since its stage began, ${minDecisions} are wanted`
    : null;
}

function asJson({ decisions, fired, notFired, errors, live, recorded }: RolloutEvidence): JsonObject {
  return { decisions, fired, not_fired: notFired, errors, live, recorded: { ...recorded } };
}

function alertKey(org: string, rule: string): AlertKey<'canary.fell-back'> {
  return `canary.fell-back/${org}/${rule}`;
}
