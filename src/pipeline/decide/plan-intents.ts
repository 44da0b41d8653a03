import type { EventActor, EventRepository, ForgeEvent } from '../../core/event.js';
import type { EventKind } from '../../core/event-kinds.js';
import { hashOf } from '../../core/ids.js';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import type { Reason } from '../../core/reason.js';
import type { Ownership } from '../../core/repository-owner.js';
import { orderKeyOf, type Target } from '../../core/target.js';
import type { LaterStep } from '../../rules/language/catalogue.js';
import type { ProposedItem, ProposedStep, Report } from '../../rules/language/revision.js';
import type { RecordedRun } from '../journal-store.port.js';
import { runReason } from '../../core/run-reasons.js';
import type { Cause, CountsFor, Gathering, NewIntent, NewRun } from '../../core/run.js';
import { isSealed, isSecretReference, type Encryptor } from '../../core/encryptor.js';
import { ownValue } from '../../core/table.js';

/** One decision of one rule or policy about one cause and subject. */
/** What a rule or policy said of one cause, with the reason of its run. */
export interface DecidedReport extends Omit<Report, 'reason' | 'held'> {
  readonly reason: Reason;
}

export interface Decision {
  readonly forge: string;
  readonly org: string;
  readonly rule: string;
  readonly kind: 'rule' | 'policy';
  readonly mode: 'live' | 'dry-run' | 'shadow';
  readonly revisionId: string;
  readonly cause: Cause;
  /** The repository it is about; null = the organization. */
  readonly repo: EventRepository | null;
  /** Whose the repository is, as the forge says; absent = nobody asked yet, and a step asks before its write. */
  readonly ownership?: Ownership | null;
  /** Who caused it, where anybody may cause such an event; absent or null = nobody, or somebody who may write there. */
  readonly actor?: EventActor | null;
  /** The event whose delivery alone says who that was; absent or null = the forge confirmed it. */
  readonly claim?: string | null;
  /** The cause is a comment. */
  readonly isAskedFor?: boolean;
  readonly report: DecidedReport;
  readonly steps: readonly ProposedStep[];
  readonly lookups: JsonObject;
  readonly decidedAt: Date;
  /** Above 0: a replay by hand after that many runs of this rule and cause that wanted nothing. */
  readonly replayNo?: number;
  /** Of a run that gathered: the decision is written under its id. */
  readonly runId?: string;
  /** `limits.runs_per_hour`, held by the store. */
  readonly runsPerHour?: number | null;
  /** Entries of the forge on which it stands. Default: none */
  readonly acts?: readonly string[];
}

/** What planning must know of an action; the catalogue of actions fits. */
interface PlannableAction {
  readonly name: string;
  readonly target: Target['kind'];
  readonly params: Readonly<
    Record<string, { readonly facts: { readonly sealed?: boolean; readonly secret?: boolean } }>
  >;
  /** The first one is its write. */
  readonly operations: readonly string[];
  /** Kinds of event after which what waits is looked at again. */
  readonly awaits?: readonly EventKind[];
  /** Steps that follow it. */
  readonly laterSteps?: readonly LaterStep[];
  /** The operation in its effect key, where that is another one. */
  readonly sharesKeyWith?: string;
  /** Natural key as the forge tells two objects apart. */
  keyOf(params: JsonObject): string;
  /** The object that it writes; null = only its effect key says. */
  object(params: JsonObject): string | null;
  /** The other objects that it needs. */
  names(params: JsonObject): readonly string[];
}

export interface PlanTools {
  readonly actions: ReadonlyMap<string, PlannableAction>;
  readonly encryptor: Encryptor;
  readonly newId: () => string;
  /** Login of the bot's own account. */
  readonly account: string;
}

/** Kinds of event that some action waits for. */
export function awaitedKinds({ actions }: Pick<PlanTools, 'actions'>): ReadonlySet<EventKind> {
  return new Set([...actions.values()].flatMap(({ awaits = [] }) => awaits));
}

export interface Plan extends RecordedRun {
  readonly run: NewRun;
  readonly intents: readonly NewIntent[];
}

/** A step that cannot become intents; the run ends as error, with nothing of it done. */
class CannotPlan extends Error {}

/**
 * Turn a decision into a run and what it wants. Pure but for the sealing and the ids: equal decisions have equal keys, whoever makes
 * them and however often.
 */
export function planIntents(decision: Decision, tools: PlanTools): Plan {
  const key = causeKey(decision);
  const run = planRun(decision, key, tools);
  const { findings, verdict } = decision.report;
  // A policy that could be evaluated is looked at by its findings, also where it expects nothing: what is undone again is one.
  const ofPolicy = findings ?? (decision.kind === 'policy' && verdict !== 'error' ? { failing: [], looked: [] } : null);
  const also = ofPolicy
    ? { findings: { ...ofPolicy, subject: decision.repo?.id ?? '', name: decision.repo?.full_name ?? decision.org } }
    : {};
  if (verdict !== 'fired') return { run: { ...run, state: verdict }, intents: [], ...also };
  try {
    const intents = allSteps(decision.steps, tools.actions).flatMap((step) =>
      step.items.map((item) => planItem(decision, run, key, step, item, tools)),
    );
    checkKeys(intents);
    const limit = decision.runsPerHour ?? undefined;
    return {
      run: { ...run, state: intents.length > 0 ? 'open' : 'done' },
      intents,
      ...(limit === undefined ? {} : { runsPerHour: limit }),
      ...(decision.acts?.length ? { acts: decision.acts } : {}),
      ...also,
    };
  } catch (error) {
    if (!(error instanceof CannotPlan)) throw error;
    return {
      run: { ...run, state: 'error', reason: runReason('run.cannot-plan', { because: error.message }) },
      intents: [],
      ...also,
    };
  }
}

/** With the further steps of its verbs, each behind the one before. Who approves the first step of a verb approves all of it. */
function allSteps(steps: readonly ProposedStep[], actions: PlanTools['actions']): ProposedStep[] {
  let further = 0;
  return steps.flatMap((step) => {
    const { laterSteps = [] } = actions.get(step.action) ?? {};
    const first = { ...step, stepNo: step.stepNo + further };
    further += laterSteps.length;
    const later = laterSteps.map(({ action, where }, at): ProposedStep => {
      const items = step.items.filter(({ params }) => where === undefined || (params[where] ?? null) !== null);
      return { stepId: `${step.stepId} (${at + 2})`, stepNo: first.stepNo + at + 1, action, items };
    });
    return [first, ...later];
  });
}

/** A run that is not decided now but when its window is over; what it is about is kept with it. */
export function planGathering(
  decision: Omit<Decision, 'report' | 'steps' | 'lookups'>,
  now: Date | null,
  gathering: Gathering,
  tools: Pick<PlanTools, 'newId'>,
): Plan {
  const { key, windowMs } = gathering;
  const reason = runReason('run.gathering', { seconds: Math.round(windowMs / 1000), key });
  const about: JsonObject = {
    key,
    repo: decision.repo ? ({ ...decision.repo } as JsonObject) : null,
    now: now ? now.toISOString() : null,
  };
  const run = planRun(
    { ...decision, report: { reason, trace: { gathering: about } }, lookups: {} },
    causeKey(decision),
    tools,
  );
  return { run: { ...run, state: 'gathering' }, intents: [], gathering };
}

/** A run that waits for what its event does not know: it is decided once, when a delivery tells it or none came in time. */
export function planWaiting(
  decision: Omit<Decision, 'report' | 'steps' | 'lookups'>,
  { id, source }: Pick<ForgeEvent, 'id' | 'source'>,
  fields: readonly string[],
  waitMs: number,
  tools: Pick<PlanTools, 'newId'>,
): Plan {
  const reason = runReason('run.unknown', { fields: [...fields], source, seconds: Math.ceil(waitMs / 1000) });
  const trace = { waits: { fields: [...fields], source } };
  const run = planRun({ ...decision, report: { reason, trace }, lookups: {} }, causeKey(decision), tools);
  // A key of its own: no other run takes its place.
  const gathering = { key: `unknown ${id}`, windowMs: waitMs };
  return { run: { ...run, state: 'gathering' }, intents: [], gathering };
}

/** What a gathering run is about, as `planGathering` kept it. */
export function readGathering({
  trace,
}: Pick<NewRun, 'trace'>): { repo: EventRepository | null; now: Date | null } | null {
  const gathering = isJsonObject(trace) ? trace['gathering'] : undefined;
  if (!isJsonObject(gathering)) return null;
  const { repo, now } = gathering;
  return {
    repo: isJsonObject(repo) ? (repo as unknown as EventRepository) : null,
    now: typeof now === 'string' ? new Date(now) : null,
  };
}

/** All of a run but how it stands. */
type Planned = Omit<NewRun, 'state'>;

function planRun(
  decision: Omit<Decision, 'report' | 'steps'> & { readonly report: Pick<DecidedReport, 'reason' | 'trace'> },
  key: string,
  tools: Pick<PlanTools, 'newId'>,
): Planned {
  return {
    id: decision.runId ?? tools.newId(),
    forge: decision.forge,
    org: decision.org,
    rule: decision.rule,
    kind: decision.kind,
    revisionId: decision.revisionId,
    cause: decision.cause,
    runKey: decision.replayNo ? hashOf(key, 'replay', String(decision.replayNo)) : key,
    // A shadow never writes: it records, as a dry run does.
    mode: decision.mode === 'live' ? 'live' : 'dry-run',
    reason: decision.report.reason,
    trace: decision.report.trace,
    lookups: decision.lookups,
    decidedAt: decision.decidedAt,
  };
}

/** hash(cause, rule, subject): at most one run each. */
function causeKey({
  cause,
  rule,
  repo,
  forge,
  org,
}: Pick<Decision, 'cause' | 'rule' | 'repo' | 'forge' | 'org'>): string {
  const which = cause.kind === 'event' ? cause.eventId : cause.kind === 'tick' ? cause.tickId : cause.plan;
  const subject = cause.kind === 'event' ? (repo?.id ?? '') : cause.subject;
  return hashOf(forge, org, cause.kind, which, rule, subject);
}

function planItem(
  decision: Decision,
  run: Pick<Planned, 'id' | 'mode'>,
  key: string,
  step: ProposedStep,
  item: ProposedItem,
  tools: PlanTools,
): NewIntent {
  const action = tools.actions.get(step.action);
  if (!action) throw new CannotPlan(`step ${step.stepId}: there is no action ${step.action}`);
  const target = targetOf(action, decision, tools.account, step.stepId);
  const params = sealParams(action, item.params, tools.encryptor, step.stepId);
  return {
    id: tools.newId(),
    runId: run.id,
    forge: decision.forge,
    org: decision.org,
    rule: decision.rule,
    revisionId: decision.revisionId,
    stepId: step.stepId,
    stepNo: step.stepNo,
    itemKey: item.itemKey,
    intentKey: hashOf(key, step.stepId, item.itemKey),
    action: action.name,
    params,
    target,
    orderKey: orderKeyOf(decision.forge, target),
    effectKey: effectKeyOf(decision.forge, action, target, params),
    ...objectsOf(action, params),
    mode: run.mode,
    plannedAt: decision.decidedAt,
    ...(run.mode === 'live' ? { countsFor: countsForOf(decision, step) } : {}),
    ...(decision.cause.kind === 'event' ? {} : { background: true as const }),
    // What is not written anyway needs nobody's consent: a dry run shows all of its steps.
    ...(step.approval && run.mode === 'live' && !isRefused(target)
      ? { approval: 'wanted' as const, ...(step.approval === 'two-people' ? { twoPeople: true as const } : {}) }
      : {}),
  };
}

/** What it writes and what it names, so that only what has to do with it waits where it cannot end. */
function objectsOf(action: PlannableAction, params: JsonObject): Pick<NewIntent, 'object' | 'names'> {
  const object = action.object(params);
  const names = [...new Set(action.names(params))].filter((name) => name !== object);
  return { ...(object === null ? {} : { object }), ...(names.length === 0 ? {} : { names }) };
}

function countsForOf({ kind, actor, claim, isAskedFor }: Decision, { respectsUndo }: ProposedStep): CountsFor {
  return {
    rule: kind === 'rule',
    ...(respectsUndo ? { respectsUndo } : {}),
    actor: actor ? { ...actor } : null,
    ...(actor && claim ? { claim } : {}),
    ...(isAskedFor ? { asked: isAskedFor } : {}),
  };
}

/** operation + numeric target id + natural key. */
export function effectKeyOf(forge: string, action: PlannableAction, target: Target, params: JsonObject): string {
  const id =
    target.kind === 'repository'
      ? numberOf(target)
      : target.kind === 'organization'
        ? (target.id ?? target.name.toLowerCase())
        : target.login.toLowerCase();
  return [
    forge,
    action.sharesKeyWith ?? action.operations[0] ?? action.name,
    `${target.kind} ${id}`,
    action.keyOf(params),
  ].join(' | ');
}

/** A refused target must not hold the key of the repository's owner. */
function numberOf({ id, owner, refused }: Extract<Target, { kind: 'repository' }>): string {
  return refused ? `${id} refused to ${owner.toLowerCase()}` : id;
}

function isRefused(target: Target): boolean {
  return target.kind === 'repository' && target.refused !== undefined;
}

/** Whether a step of the decision acts on its repository. */
export function actsOnRepository(steps: readonly ProposedStep[], actions: PlanTools['actions']): boolean {
  return steps.some(({ action, items }) => items.length > 0 && actions.get(action)?.target === 'repository');
}

function targetOf(
  action: PlannableAction,
  { repo, org, ownership }: Decision,
  account: string,
  stepId: string,
): Target {
  const readFrom = repo ? { readFrom: { id: repo.id, owner: repo.owner, name: repo.name } } : {};
  if (action.target === 'organization') return { kind: 'organization', id: null, name: org, ...readFrom };
  if (action.target === 'account') return { kind: 'account', login: account, ...readFrom };
  if (!repo) throw new CannotPlan(`step ${stepId}: ${action.name} needs a repository, and this run is about none`);
  if (ownership?.is === 'ours') return { kind: 'repository', ...ownership.repository };
  if (ownership?.is === 'refused')
    return { kind: 'repository', id: repo.id, owner: org, name: repo.name, refused: ownership.code };
  return {
    kind: 'repository',
    id: repo.id,
    owner: repo.owner,
    name: repo.name,
    ...(repo.private === undefined ? {} : { private: repo.private }),
    ...(repo.archived === undefined ? {} : { archived: repo.archived }),
  };
}

/** Values of sealed parameters are never stored in clear; secrets stay references. Nulls mean "not given". */
function sealParams(action: PlannableAction, params: JsonObject, encryptor: Encryptor, stepId: string): JsonObject {
  const entries = Object.entries(params).filter(
    (entry): entry is [string, Exclude<Json, null>] => entry[1] !== null && entry[1] !== undefined,
  );
  return Object.fromEntries(
    entries.map(([name, value]): [string, Json] => {
      const facts = ownValue(action.params, name)?.facts;
      if (facts?.secret && !isSecretReference(value))
        throw new CannotPlan(`step ${stepId}: ${name} must be a secret of the config`);
      if (!facts?.sealed || isSealed(value) || isSecretReference(value)) return [name, value];
      if (typeof value === 'object') throw new CannotPlan(`step ${stepId}: ${name} must be text`);
      return [name, { ...encryptor.seal(String(value)) }];
    }),
  );
}

function checkKeys(intents: readonly NewIntent[]): void {
  const seen = new Set<string>();
  for (const { intentKey, stepId, itemKey } of intents) {
    if (seen.has(intentKey)) throw new CannotPlan(`step ${stepId}: two items have the key ${itemKey}`);
    seen.add(intentKey);
  }
}
