import { canonicalJson } from '../core/canonical-json.js';
import type { Clock } from '../core/clock.js';
import type { ForgeError } from '../core/errors.js';
import type { EventRepository } from '../core/event.js';
import { goPast } from '../core/go-past.js';
import { hashOf } from '../core/ids.js';
import { isJsonObject, type Json } from '../core/json.js';
import { textOf, type Reason } from '../core/reason.js';
import type { RepositoryInventory } from '../core/repository-owner.js';
import { isHeld, isReason } from '../core/run-reasons.js';
import type { Cause, NewIntent } from '../core/run.js';
import type { CandidateDecider } from '../pipeline/decide/decide-candidate.js';
import type { Rehearsal, Rehearser } from '../pipeline/execute/rehearse.js';
import type { JournalStore, RecordedRun } from '../pipeline/journal-store.port.js';
import type { RuleEngine } from '../pipeline/rule-engine.port.js';
import type { CompiledPolicy } from '../rules/language/revision.js';
import type { CapabilityCheck } from '../rules/requirements/capability-check.js';
import type { ActiveRevision } from '../rules/revisions/active-revisions.port.js';
import { comparable, contradictions, writtenOtherwise } from './contradictions.js';
import {
  overCap,
  type Before,
  type FieldChange,
  type HeldPolicy,
  type KeptPlan,
  type PlanCaps,
  type PlanLine,
  type PlanNote,
  type PolicyPlan,
} from './policy-plan.js';
import type { Pace, RehearsedRun } from './predicted-calls.js';
import type { TrustedPolicies } from './trusted-policies.js';

export interface PlannedOrg {
  readonly forge: string;
  readonly org: string;
  /** Policies that are new to the store need no approval. */
  readonly trusted: boolean;
  /** What the operator allows a policy that has no caps of its own. */
  readonly caps: PlanCaps;
  readonly pace: Pace;
}

export type PlanScope = Pick<PolicyPlan, 'policy' | 'about'>;

export interface Pass {
  readonly lines: PlanLine[];
  readonly runs: ReadonlyArray<{
    readonly run: RecordedRun;
    readonly writes: readonly NewIntent[];
    readonly rehearsed: RehearsedRun;
  }>;
  readonly findings: PolicyPlan['findings'];
  readonly notes: PlanNote[];
  /** The forge could not tell about some subjects: nothing of them is in the runs, and a note names each. */
  readonly failure: ForgeError | null;
  /** What was looked at, by `subjectKey`. */
  readonly looked: readonly string[];
  /** All that the organization has. */
  readonly repositories: readonly EventRepository[];
  readonly subjects: number;
  readonly overCaps: readonly Reason[];
  readonly needsApproval: boolean;
  readonly twoPeople: boolean;
  readonly newPolicies: readonly string[];
  readonly heldBack: readonly HeldPolicy[];
}

/** A run, and the repository that it is about; null = the organization. */
interface Decided {
  readonly run: RecordedRun;
  readonly repo: EventRepository | null;
}

/** What policies want now, subject by subject, and what the forge would be asked to write for it. Writes nothing. */
export class PolicyRehearsal {
  constructor(
    private readonly inventory: RepositoryInventory,
    private readonly rules: Pick<RuleEngine, 'find' | 'subjects'>,
    private readonly decider: Pick<CandidateDecider, 'decide'>,
    private readonly rehearser: Pick<Rehearser, 'rehearse'>,
    private readonly capabilities: Pick<CapabilityCheck, 'heldNow'>,
    private readonly journal: Pick<JournalStore, 'lastSettled'>,
    private readonly trusted: TrustedPolicies,
    private readonly clock: Clock,
  ) {}

  async pass(
    where: PlannedOrg,
    active: ActiveRevision,
    { policy, about }: PlanScope,
    now: Date,
    cause: Extract<Cause, { kind: 'apply' }>,
  ): Promise<Pass> {
    const { inventory, rules, decider } = this;
    const repositories = await inventory.list(where.forge, where.org, about ?? []);
    const parts: Pass[] = [];
    const reasons = await this.capabilities.heldNow(where.org);
    const heldBack: HeldPolicy[] = [];
    for (const { id } of active.revision.policies) {
      const candidate = policy === null || policy === id ? rules.find(active.revision, id) : null;
      if (!candidate) continue;
      const reason = reasons.get(id);
      if (reason !== undefined) {
        heldBack.push({ policy: id, reason: textOf(reason), code: reason.code });
        continue;
      }
      const all = rules.subjects(active.revision, candidate, repositories);
      const subjects = about === null ? all : all.filter((repo) => repo !== null && about.includes(repo.id));
      const decided: Decided[] = [];
      const failed = await goPast(subjects, async (repo) => {
        const run = await decider.decide(active, candidate, {
          forge: where.forge,
          org: where.org,
          cause: { ...cause, subject: repo?.id ?? '', ...(repo ? { repo: repo.full_name } : {}) },
          event: null,
          repo,
          // A plan is asked for by somebody who waits: a forge that cannot be asked is told at once.
          since: this.clock.now(),
          now,
        });
        decided.push({ run, repo });
      });
      const part = await this.rehearseAll(
        active,
        where,
        decided,
        subjects.length,
        about === null ? subjects.length : null,
      );
      parts.push({
        ...part,
        notes: [...part.notes, ...failed.map(({ one, error }) => unreadNote(id, one, error))],
        failure: failed[0]?.error ?? part.failure,
        looked: subjects.map((repo) => subjectKey({ policy: id, repo: placeOf(repo) })),
      });
    }
    const writes = parts.flatMap(({ runs }) => runs.flatMap((run) => run.writes));
    return {
      lines: parts.flatMap(({ lines }) => lines),
      runs: parts.flatMap(({ runs }) => runs),
      findings: parts.flatMap(({ findings }) => findings),
      notes: parts.flatMap(({ notes }) => notes),
      failure: parts.find(({ failure }) => failure !== null)?.failure ?? null,
      looked: parts.flatMap(({ looked }) => looked),
      repositories,
      subjects: parts.reduce((sum, { subjects }) => sum + subjects, 0),
      overCaps: [
        ...parts.flatMap(({ overCaps }) => overCaps),
        ...contradictions(writes),
        ...(await writtenOtherwise(this.journal, active, writes)),
      ],
      needsApproval: parts.some(({ needsApproval }) => needsApproval),
      twoPeople: parts.some(({ twoPeople }) => twoPeople),
      newPolicies: parts.flatMap(({ newPolicies }) => newPolicies),
      heldBack,
    };
  }

  /** @param share of how many subjects the percentage is taken; null = it is not asked */
  async rehearseAll(
    active: ActiveRevision,
    where: PlannedOrg,
    decided: readonly Decided[],
    subjects: number,
    share: number | null,
  ): Promise<Pass> {
    const passRuns: Array<Pass['runs'][number]> = [];
    const lines: PlanLine[] = [];
    let asks = false;
    let two = false;
    const news = new Set<string>();
    const rehearsed: Decided[] = [];
    const failed = await goPast(decided, async ({ run, repo }) => {
      const writes: NewIntent[] = [];
      const rehearsals: Array<RehearsedRun['writes'][number]> = [];
      const own: Array<{ intent: NewIntent; rehearsal: Rehearsal }> = [];
      for (const intent of run.intents) own.push({ intent, rehearsal: await this.rehearser.rehearse(intent) });
      rehearsed.push({ run, repo });
      for (const { intent, rehearsal } of own) {
        if (rehearsal.does === 'nothing') continue;
        lines.push(await this.lineOf(run, intent, rehearsal));
        if (rehearsal.does !== 'write') continue;
        writes.push(intent);
        rehearsals.push({ mode: intent.mode, rehearsal });
        if (intent.mode === 'live' && (await this.trusted.isNew(where, intent.rule))) news.add(intent.rule);
        const approval = policyOf(active, intent.rule)?.approval ?? false;
        asks ||= intent.mode === 'live' && (intent.approval === 'wanted' || approval !== false);
        two ||= intent.mode === 'live' && (intent.twoPeople === true || approval === 'two-people');
      }
      passRuns.push({
        run,
        writes,
        rehearsed: { policy: run.run.rule, repo: repositoryOf(writes[0]), writes: rehearsals },
      });
    });
    const ids = [...new Set(rehearsed.map(({ run: { run } }) => run.rule))];
    return {
      lines,
      runs: passRuns,
      subjects,
      findings: rehearsed.flatMap(({ run: { run, findings: policyFindings }, repo }) =>
        (policyFindings?.failing ?? []).map((finding) => ({ ...finding, policy: run.rule, repo: placeOf(repo) })),
      ),
      notes: [
        ...rehearsed.flatMap(({ run: { run }, repo }) =>
          run.state === 'error' || isHeld(run.reason) || isReason(run.reason, 'run.fired.in-part')
            ? [{ policy: run.rule, repo: repo?.full_name ?? null, reason: textOf(run.reason), code: run.reason.code }]
            : [],
        ),
        ...failed.map(({ one: { run, repo }, error }) => unreadNote(run.run.rule, repo, error)),
      ],
      failure: failed[0]?.error ?? null,
      looked: [],
      repositories: [],
      overCaps: ids.flatMap((id) => overCap(id, lines, share, capsOf(policyOf(active, id), where.caps)) ?? []),
      needsApproval: asks || news.size > 0,
      twoPeople: two,
      newPolicies: [...news],
      heldBack: [],
    };
  }

  private async lineOf(
    { run }: RecordedRun,
    intent: NewIntent,
    rehearsal: Exclude<Rehearsal, { does: 'nothing' }>,
  ): Promise<PlanLine> {
    const last =
      rehearsal.does === 'write' && !rehearsal.isReadable ? await this.journal.lastSettled(intent.effectKey) : null;
    const differences = driftIn(run.trace, intent);
    const before = (field: string): Before => {
      if (differences) return { is: 'value', value: differences.get(field) ?? null };
      if (rehearsal.does !== 'write') return { is: 'other' };
      if (!rehearsal.isReadable)
        return {
          is: 'not-readable',
          last: last && { value: withoutSecrets(last.params[field] ?? null), at: last.updatedAt.toISOString() },
        };
      return rehearsal.operation.startsWith('create') ? { is: 'absent' } : { is: 'other' };
    };
    const names = differences ? [...differences.keys()] : Object.keys(intent.params);
    return {
      policy: intent.rule,
      mode: intent.mode,
      repo: repositoryOf(intent),
      step: intent.stepId,
      action: intent.action,
      key: intent.itemKey,
      does: rehearsal.does === 'write' ? 'write' : 'cannot',
      operation: rehearsal.does === 'write' ? rehearsal.operation : null,
      reason: rehearsal.does === 'write' ? null : textOf(rehearsal.reason),
      fields: names.map((field): FieldChange => ({
        field,
        before: before(field),
        after: withoutSecrets(intent.params[field] ?? null),
      })),
      valueHash: hashOf('values', canonicalJson(comparable(intent.params))).slice(0, 16),
    };
  }
}

export function policyOf({ revision }: ActiveRevision, id: string): CompiledPolicy | undefined {
  return revision.policies.find((policy) => policy.id === id);
}

export function capsOf(policy: CompiledPolicy | undefined, caps: PlanCaps): PlanCaps {
  return {
    effectsPerPlan: policy?.limits?.effectsPerPlan ?? caps.effectsPerPlan,
    percentOfSubjects: policy?.limits?.percentOfSubjects ?? caps.percentOfSubjects,
  };
}

export function subjectKey({ policy, repo }: Pick<PlanLine, 'policy' | 'repo'>): string {
  return `${policy} ${repo?.id ?? ''}`;
}

function placeOf(repo: EventRepository | null): PlanLine['repo'] {
  return repo && { id: repo.id, name: repo.full_name };
}

function unreadNote(policy: string, repo: EventRepository | null, { message }: ForgeError): PlanNote {
  return { policy, repo: repo?.full_name ?? null, reason: message, code: 'plan.unread' };
}

function repositoryOf(intent: NewIntent | undefined): PlanLine['repo'] {
  const target = intent?.target;
  return target?.kind === 'repository' ? { id: target.id, name: `${target.owner}/${target.name}` } : null;
}

/** Values found at the forge, where the policy compared them itself (see `evaluate-policy`). */
function driftIn(trace: Json, { stepId, itemKey }: NewIntent): Map<string, Json> | null {
  const section = isJsonObject(trace) ? trace[stepId] : undefined;
  const drift = isJsonObject(section) && Array.isArray(section['drift']) ? section['drift'] : [];
  const own = drift.find((one) => isJsonObject(one) && one['key'] === itemKey);
  const differences =
    isJsonObject(own) && Array.isArray(own['differences']) ? own['differences'].filter(isJsonObject) : [];
  return differences.length === 0
    ? null
    : new Map(differences.map((difference) => [String(difference['field']), difference['found'] ?? null]));
}

/** Secrets by their name, sealed values as a word. */
function withoutSecrets(value: Json): Json {
  if (!isJsonObject(value)) return value;
  if (typeof value['$secret'] === 'string') return `secrets.${value['$secret']}`;
  return typeof value['$sealed'] === 'string' ? '(sealed)' : value;
}

/** Held policies without which a plan is not what it says: those it has lines of, or all of them when it has nothing else. */
export function heldOf({ lines }: KeptPlan, { heldBack }: Pass): HeldPolicy[] {
  const isEmpty = !lines.some(({ does }) => does === 'write');
  return heldBack.filter((one) => isEmpty || lines.some(({ policy }) => policy === one.policy));
}

/** Subjects with lines in the plan about which nothing could be decided now: their lines are neither done nor changed. */
export function undecidedSince({ lines, notes }: KeptPlan, pass: Pass): PlanNote[] {
  const isOf = (note: PlanNote, line: PlanLine): boolean =>
    line.policy === note.policy && (line.repo?.name ?? null) === note.repo;
  return pass.notes.filter(
    (note) =>
      lines.some((line) => isOf(note, line)) &&
      !notes.some(({ policy, repo, code }) => policy === note.policy && repo === note.repo && code === note.code),
  );
}
