import type { Message } from '../../core/message.js';
import { Inject, Injectable } from '@nestjs/common';
import { ForgeOwners } from '../../forge/forge-owners.js';
import { lookup } from 'node:dns/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Reason } from '../../core/reason.js';
import { intentReason } from '../../core/run-reasons.js';
import {
  UNDONE,
  type ActionContext,
  type AnyAction,
  type EarlierStep,
  type Memory,
  type OpenWish,
} from '../../actions/define-action.js';
import { isSealed, isSecretReference, type Encryptor } from '../../core/encryptor.js';
import { BotError, ForgeError } from '../../core/errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import type { Clock } from '../../core/clock.js';
import type { EventActor } from '../../core/event.js';
import type { Intent, NewIntent } from '../../core/run.js';
import { Secret } from '../../core/secret.js';
import type { Target } from '../../core/target.js';
import type { ForgeClient } from '../../forge/forge-client.js';
import type { OperationName } from '../../forge/operations.js';
import { pauseOf, type JournalStore } from '../journal-store.port.js';
import type { RecoveryStore } from '../recovery-store.port.js';
import type { ForgeAccess, Forges, OrgDirectory, OrgSettings, OrgLimits } from './forge-access.js';
import type { GuardedForge } from './guarded-forge.js';
import { comparable } from './objections.js';
import { classifyError, type Ending } from './settle.js';
import {
  ownershipReason,
  WRITE_TRUST_MS,
  type OwnershipRefusal,
  type RepositoryOwners,
} from '../../core/repository-owner.js';

export interface PrepareDeps {
  readonly journal: Pick<JournalStore, 'lastSettled' | 'attemptsOfIntent' | 'intentsOfRun' | 'openInOrder' | 'paused'>;
  readonly recovery: Pick<RecoveryStore, 'sentOfEffects'>;
  readonly actions: ReadonlyMap<string, AnyAction>;
  readonly forges: Forges;
  readonly orgs: OrgDirectory;
  readonly encryptor: Encryptor;
  readonly targets: Pick<TargetResolver, 'resolve'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** What is to be done. */
type Wanted = Pick<
  NewIntent,
  | 'id'
  | 'forge'
  | 'org'
  | 'action'
  | 'params'
  | 'target'
  | 'effectKey'
  | 'intentKey'
  | 'countsFor'
  | 'runId'
  | 'stepNo'
  | 'itemKey'
  | 'orderKey'
> &
  Partial<Pick<Intent, 'result'>>;

/** What an intent is done with. */
export interface Means {
  readonly action: AnyAction;
  readonly access: ForgeAccess;
  readonly settings: OrgSettings;
}

/** Why an intent has no means. `power`: the one that the operator did not grant. */
interface NoMeans {
  readonly lacks: Reason;
  readonly power?: string;
}

export function findMeans({ actions, orgs, forges }: PrepareDeps, intent: Wanted): Means | NoMeans {
  const { forge, org } = intent;
  const action = actions.get(intent.action);
  if (!action) return { lacks: intentReason('intent.no-action', { action: intent.action }) };
  const settings = orgs.get(org);
  if (!settings) return { lacks: intentReason('intent.no-org', { org }) };
  const { power } = action;
  if (power && !settings.powers.includes(power))
    return { lacks: intentReason('intent.no-power', { power, org }), power };
  const access = forges.get(forge, org);
  if (!access) return { lacks: intentReason('intent.no-forge', { forge }) };
  return { action, access, settings };
}

/**
 * What was tried before: calls of this intent, those of them that may still come through, and the mark that a further call bears. `earlierSteps`: where
 * the journal does not hold its run.
 */
export type Earlier = Pick<ActionContext<never, never, never>, 'earlierCalls' | 'openCalls' | 'mark'> &
  Partial<Pick<ActionContext<never, never, never>, 'earlierSteps' | 'overtakenBy'>>;

/** An effect up to its action: the parameters opened, the target found, and all that the action may use. */
interface Prepared {
  readonly target: Target;
  readonly params: never;
  readonly context: ActionContext<never, never, never>;
}

/**
 * The one preparation of an effect, for doing it and for rehearsing it.
 * @param via reads whose the target is, and what its visibility is
 * @returns what the operator's limits forbid, or the effect
 * @throws BadParams, TargetRefused; ForgeError while the forge cannot be asked
 */
export async function prepareEffect(
  {
    journal,
    recovery,
    encryptor,
    targets,
    clock,
  }: Pick<PrepareDeps, 'journal' | 'recovery' | 'encryptor' | 'targets' | 'clock'>,
  intent: Wanted,
  { action, access, settings }: Means,
  guard: Pick<GuardedForge, 'client' | 'send' | 'remember'>,
  via: ForgeAccess,
  earlier: Earlier,
): Promise<Prepared | Limited> {
  const params = resolveParams(action, intent.params, settings.secrets, encryptor);
  const { forge, org } = intent;
  const target = await targets.resolve(via, forge, org, intent.target);
  const limited = await beyondLimit({ action, target, forge, org }, settings.limits, targets, via);
  if (limited) return limited;
  const context = {
    target,
    forge: pick(guard.client, action, access),
    recall: () => recall(journal, intent),
    earlierSteps: () => earlierSteps(journal, intent),
    overtakenBy: null,
    ...earlier,
    noted: notedIn(intent),
    openBefore: () => openBefore(journal, intent),
    now: clock.now(),
    isOurs: (user: EventActor) => access.isOurs?.(user) ?? null,
    lastMade: () => lastMade(recovery, intent),
    isAsked: isAsked(intent),
    made: () => madeBy(journal, recovery, intent.effectKey),
    hashOf: (value: Secret | string) => encryptor.hash(value),
    mirrorHosts: settings.mirrorHosts,
    notifyHosts: settings.notifyHosts,
    mail: settings.mail ?? null,
    mergesOwnApprovals: settings.limits?.approveAndMerge ?? true,
    key: intent.intentKey,
    // Services are told the name.
    send: (message: Message, addresses: readonly string[] | null) =>
      guard.send(
        { ...message, facts: { ...message.facts, org: access.orgName ?? message.facts['org'] ?? '' } },
        addresses,
      ),
    addressesOf: settings.addressesOf ?? addressesOf,
    remember: (snapshot: JsonObject) => guard.remember(snapshot),
  };
  return { target, params: params as never, context: context as unknown as ActionContext<never, never, never> };
}

/** The forge connects by itself, perhaps by names of its own: one that does not resolve here is left to it. */
async function addressesOf(host: string): Promise<string[]> {
  const addresses = await lookup(host, { all: true }).catch(() => []);
  return addresses.map(({ address }) => address);
}

/** The parameters of an intent cannot be used; the message is fit for people and holds no value. */
class BadParams extends BotError {
  constructor(reason: Reason) {
    super('BAD_PARAMS', reason);
  }
}

/**
 * The parameters as the action sees them: references looked up, sealed values opened, all checked. Done right before the call, so that
 * values live in memory for that moment only.
 * @throws BadParams when a secret is not defined or a value does not fit; BotError SEAL_BROKEN
 */
export function resolveParams(
  action: AnyAction,
  params: JsonObject,
  secrets: Readonly<Record<string, Secret>>,
  encryptor: Encryptor,
): Record<string, unknown> {
  const resolved: Record<string, unknown> = {};
  for (const [name, param] of Object.entries(action.params)) {
    const value = open(params[name], secrets, encryptor, param.facts.sealed === true);
    const checked = param.schema.safeParse(value);
    if (!checked.success) {
      const problem = checked.error.issues[0]?.message ?? 'is not valid';
      throw new BadParams(intentReason('intent.bad-param', { param: name, problem }));
    }
    if (checked.data !== undefined) resolved[name] = checked.data;
  }
  const unknown = Object.keys(params).find((name) => !Object.hasOwn(action.params, name));
  if (unknown !== undefined)
    throw new BadParams(intentReason('intent.unknown-param', { param: unknown, action: action.name }));
  return resolved;
}

function open(
  value: Json | undefined,
  secrets: Readonly<Record<string, Secret>>,
  encryptor: Encryptor,
  isSealedParam: boolean,
): unknown {
  if (isSecretReference(value)) {
    const secret = Object.hasOwn(secrets, value.$secret) ? secrets[value.$secret] : undefined;
    if (!secret) throw new BadParams(intentReason('intent.no-secret', { secret: value.$secret }));
    return secret;
  }
  if (isSealed(value)) return encryptor.unseal(value);
  if (value === null) return undefined;
  return isSealedParam && typeof value === 'string' ? new Secret(value) : value;
}

/** Only what the action names, and of the optional ones only what the forge is not known to lack. */
function pick(client: ForgeClient, action: AnyAction, access: Pick<ForgeAccess, 'offers'>): Partial<ForgeClient> {
  const names: readonly OperationName[] = [
    ...action.operations,
    ...action.whereOffered.filter((name) => access.offers(name)),
  ];
  return Object.fromEntries(names.map((name) => [name, client[name]])) as Partial<ForgeClient>;
}

/** The newest settled intent of the same effect key, compared with this one. */
async function recall(
  journal: Pick<JournalStore, 'lastSettled'>,
  intent: Pick<Intent, 'effectKey' | 'params'>,
): Promise<Memory | null> {
  const settled = await journal.lastSettled(intent.effectKey);
  if (!settled) return null;
  const isSameWish = isDeepStrictEqual(comparable(settled.params), comparable(intent.params));
  return { isSameWish, params: settled.params, detail: notedIn(settled) };
}

/** What the action itself told with its last outcome. */
export function notedIn({ result }: Partial<Pick<Intent, 'result'>>): JsonObject {
  const detail = isJsonObject(result) ? result['detail'] : null;
  return isJsonObject(detail) ? detail : {};
}

async function openBefore(
  journal: Pick<JournalStore, 'openInOrder' | 'paused'>,
  { id, action, orderKey }: Wanted,
): Promise<OpenWish[]> {
  const open = await journal.openInOrder(orderKey, action);
  const own = open.findIndex((one) => one.id === id);
  const before = open.slice(0, own < 0 ? undefined : own).filter(({ mode }) => mode === 'live');
  const pauses = before.length > 0 ? await journal.paused() : [];
  return before.map((one) => ({
    params: one.params,
    noted: notedIn(one),
    isPaused: pauseOf(pauses, one) !== undefined,
  }));
}

async function earlierSteps(
  journal: Pick<JournalStore, 'intentsOfRun'>,
  { runId, stepNo, itemKey }: Wanted,
): Promise<EarlierStep[]> {
  const ofItem = (await journal.intentsOfRun(runId)).filter((one) => one.stepNo < stepNo && one.itemKey === itemKey);
  return ofItem
    .sort((a, b) => a.stepNo - b.stepNo)
    .map(({ action, state, reason }) => ({
      action,
      state,
      code: reason?.code ?? null,
      ...(reason ? { params: reason.params } : {}),
    }));
}

/** Those under way and those that changed nothing stand between. */
const LOOKED_AT = 8;

async function lastMade(recovery: Pick<RecoveryStore, 'sentOfEffects'>, wanted: Wanted): Promise<Date | null> {
  const { id, action, effectKey, countsFor } = wanted;
  if (!(countsFor?.rule || countsFor?.respectsUndo) || isAsked(wanted)) return null;
  const sent = await recovery.sentOfEffects([effectKey], LOOKED_AT);
  const newest = sent.find(({ intent }) => intent.id !== id && intent.state === 'done');
  // What another action took away since then, nobody undid.
  return newest?.intent.action === action ? newest.sentAt : null;
}

function isAsked({ countsFor, result }: Wanted): boolean {
  return countsFor?.asked === true || wasLetGo(result);
}

/** It ended since its effect was undone, and is tried again: only a person does that. */
function wasLetGo(result: Json | undefined): boolean {
  return isJsonObject(result) && isJsonObject(result['detail']) && result['detail']['code'] === UNDONE;
}

/** More than ever made one object of a name again. */
const MADE_LOOKED_AT = 50;

/** Numbers of the objects that intents of this effect key made. What was there and was changed alone is not among them. */
async function madeBy(
  journal: Pick<JournalStore, 'attemptsOfIntent'>,
  recovery: Pick<RecoveryStore, 'sentOfEffects'>,
  effectKey: string,
): Promise<ReadonlySet<string>> {
  const made = new Set<string>();
  for (const { intent } of await recovery.sentOfEffects([effectKey], MADE_LOOKED_AT)) {
    const last = intent.state === 'done' ? (await journal.attemptsOfIntent(intent.id)).at(-1) : undefined;
    if (!last?.operation.startsWith('create')) continue;
    // An answer that was lost told no number: the read that found the effect did.
    const read = isJsonObject(intent.result) ? intent.result['objectId'] : null;
    const id = last.objectId ?? (typeof read === 'string' ? read : null);
    if (id !== null) made.add(id);
  }
  return made;
}

/** An effect that the operator's limits do not allow. */
interface Limited {
  readonly code: 'limit.merges' | 'limit.private_mirrors' | 'limit.private_reads';
  readonly reason: Reason;
}

interface LimitedEffect {
  readonly action: Pick<AnyAction, 'name' | 'operations'>;
  readonly target: Target;
  readonly forge: string;
  readonly org: string;
}

/**
 * Whether the operator's limits (orgs[].limits) forbid an effect. The forge tells the visibility of source and target now; a repository of which it tells
 * none counts as private. Those who read an effect on the run's repository may read that repository anyway; variables of the organization and things of
 * the bot's account have other readers.
 * @returns null when the effect is allowed
 * @throws ForgeError while the forge cannot be asked
 */
export async function beyondLimit(
  { action, target, forge, org }: LimitedEffect,
  limits: OrgLimits | undefined,
  targets: Pick<TargetResolver, 'resolve'>,
  access: ForgeAccess,
): Promise<Limited | null> {
  if (!limits) return null;
  if (!limits.merges && action.operations.includes('mergePull'))
    return {
      code: 'limit.merges',
      reason: intentReason('intent.limit.merges', { org }),
    };
  if (target.kind === 'repository') {
    if (limits.privateMirrors || !action.operations.includes('createPushMirror') || target.private === false)
      return null;
    return {
      code: 'limit.private_mirrors',
      reason: intentReason('intent.limit.private-mirrors', { isPrivate: isPrivate(target) }),
    };
  }
  if (limits.privateReads || !target.readFrom) return null;
  const pinned: Target = { kind: 'repository', ...target.readFrom };
  const source = await targets.resolve(access, forge, org, pinned).catch((error: unknown) => {
    // A repository that is gone, or not the organization's, tells no visibility.
    if (error instanceof ForgeError || !(error instanceof BotError)) throw error;
    return pinned;
  });
  if (source.kind === 'repository' && source.private === false) return null;
  const repo = `${target.readFrom.owner}/${target.readFrom.name}`;
  return {
    code: 'limit.private_reads',
    reason: intentReason('intent.limit.private-reads', { action: action.name, repo, isPrivate: isPrivate(source) }),
  };
}

/** Null = the forge does not tell. */
function isPrivate(target: Target): true | null {
  return target.kind === 'repository' && target.private === true ? true : null;
}

/** What is asked to find a target, where nobody asked for it lately. */
export function readsOfTarget({ offers }: Pick<ForgeAccess, 'offers'>, { kind }: Target): OperationName[] {
  return kind === 'repository' && offers('getRepoById') ? ['getRepoById'] : [];
}

/** The pinned repository may not be acted on for this organization. `code` says why. */
export class TargetRefused extends BotError {
  constructor(
    refusal: OwnershipRefusal,
    { org, target }: { org: string; target: Extract<Target, { kind: 'repository' }> },
  ) {
    super(refusal, ownershipReason(refusal, { org, id: target.id }));
  }
}

/**
 * Names change, and a name may be taken over by somebody else; the number stays. A write goes to the repository of the
 * pinned number, under the name that the forge gives it now, and only while it belongs to the organization of the run.
 */
@Injectable()
export class TargetResolver {
  constructor(@Inject(ForgeOwners) private readonly owners: RepositoryOwners) {}

  /**
   * @throws TargetRefused when the repository is gone, or is not the organization's
   * @throws ForgeError when the forge cannot be asked now
   */
  async resolve(access: ForgeAccess, forge: string, org: string, target: Target): Promise<Target> {
    if (target.kind !== 'repository') return target;
    if (target.refused) throw new TargetRefused(target.refused, { org, target });
    const { id, name } = target;
    const read = access.offers('getRepoById') ? access.client.getRepoById : undefined;
    const ownership = await this.owners.of({ forge, org, id, name }, { maxAgeMs: WRITE_TRUST_MS, read });
    if (ownership.is === 'refused') throw new TargetRefused(ownership.code, { org, target });
    return { ...target, ...ownership.repository };
  }

  /** A call to the target failed so that the forge is to be asked again: it was redirected, or nothing was found under the name. */
  doubt(forge: string, target: Target, cause: 'moved' | 'missing'): void {
    if (target.kind !== 'repository') return;
    if (cause === 'moved') this.owners.forget(forge, target.id);
    else this.owners.doubt(forge, target.id);
  }
}

/** Decided about a repository that was not the organization's: nothing is asked and nothing waits. */
export function refusalOf({ org, target }: { readonly org: string; readonly target: Intent['target'] }): Ending | null {
  if (target.kind !== 'repository' || !target.refused) return null;
  return classifyError(new TargetRefused(target.refused, { org, target }), null);
}
