import type { EventKind } from '../../../core/event-kinds.js';
import type { Position } from '../../../core/problem.js';
import { WITHOUT_ACTOR } from '../match/led-to.js';
import type { CompiledPolicy, CompiledRule } from '../revision.js';
import { constantIn, knownKindsOf, writtenInputs } from './raised-kinds.js';
import { mayStart, ownerOf, runsOn, writersOfPolicy, writersOfRule, type Owner, type Writer } from './writers.js';

/** A rule that takes events of anybody but the bot, and events that effects of others raise. */
export interface UnaskedRule {
  readonly position: Position;
  readonly message: string;
  readonly hint: string;
}

/** Pairs of a rule and an effect that are compared; no set of rules has so many. */
const MAX_PAIRS = 20_000;
/** Names in one message. */
const MAX_NAMED = 3;
/** Whoever answers comments means those of people: a comment of the bot is hardly ever an order to itself. */
const OF_PEOPLE: ReadonlySet<EventKind> = new Set(['comment.created', 'comment.edited', 'comment.deleted']);

/**
 * The bot's own acts start no rule unless it says so; who named no actor at all may not have thought of them. It stops after each of the steps (`inSlices`).
 */
export function* unaskedRules(
  rules: readonly CompiledRule[],
  policies: readonly CompiledPolicy[],
  org: string,
): Generator<void, readonly UnaskedRule[]> {
  const writers = [
    ...policies.filter(({ mode }) => mode === 'live').flatMap((policy) => writersOfPolicy(policy, org)),
    ...rules
      .filter(({ mode, disabled }) => mode === 'live' && disabled === null)
      .flatMap((rule) => writersOfRule(rule, org)),
  ];
  const byKind = new Map<EventKind, Writer[]>();
  for (const writer of writers)
    for (const kind of writer.raises) byKind.get(kind)?.push(writer) ?? byKind.set(kind, [writer]);
  const unasked: UnaskedRule[] = [];
  let pairs = 0;
  for (const rule of rules.filter(namesNoActor)) {
    yield;
    const waiting = ownerOf(rule, org);
    const steps = writersOfRule(rule, org);
    const causes: Cause[] = [];
    for (const kind of rule.on.filter((one) => !OF_PEOPLE.has(one) && !WITHOUT_ACTOR.test(one)))
      for (const from of byKind.get(kind) ?? []) {
        if ((pairs += 1) > MAX_PAIRS) return unasked;
        if (from.owner.id === rule.id || !isMeant(from, kind, waiting)) continue;
        if (steps.some((step) => runsOn(step, kind))) causes.push({ kind, from });
      }
    if (causes.length > 0) unasked.push(describe(rule, causes));
  }
  return unasked;
}

interface Cause {
  readonly kind: EventKind;
  readonly from: Writer;
}

function namesNoActor({ disabled, program: { where } }: CompiledRule): boolean {
  return disabled === null && where.actor === null && !where.actorIsBot && where.botRules === null;
}

/** Of labels, those that the rule asks for by their name. */
function isMeant(from: Writer, kind: EventKind, waiting: Owner): boolean {
  const { rule } = waiting;
  if (!mayStart(from, kind, waiting)) return false;
  if (from.action.effect?.isExpected?.(kind, writtenInputs(from.params)) === false) return false;
  if (!/\.(?:labeled|labels_cleared)$/.test(kind)) return true;
  const steps = rule?.program.steps ?? [];
  const sources = [
    ...(rule?.program.conditions ?? []).map(({ expression }) => expression),
    ...steps.flatMap(({ when }) => when ?? []),
  ].map(({ compiled }) => compiled.source);
  const required = steps.flatMap(({ action, params }) =>
    params.filter(({ name, type }) => type === 'string' && action.params[name]?.refersTo === 'label'),
  );
  const asks = [...sources, ...required.flatMap((param) => constantIn([param], param.name) ?? []).map(String)];
  const written = from.params.flatMap(({ name }) => constantIn(from.params, name) ?? []).flat();
  const asksForLabels = required.length > 0 || sources.some((source) => source.includes('label'));
  return !asksForLabels || asks.some((text) => written.some((name) => text.includes(String(name))));
}

function describe({ id, position, program: { where } }: CompiledRule, causes: readonly Cause[]): UnaskedRule {
  const kinds = [...new Set(causes.map(({ kind }) => kind))];
  const owners = [...new Set(causes.map(({ from }) => from.owner.id))];
  const traceable = owners.filter((owner) =>
    causes.filter(({ from }) => from.owner.id === owner).every(({ kind, from }) => knownKindsOf(from).includes(kind)),
  );
  const whose = traceable.length === owners.length && owners.length <= MAX_NAMED;
  const own = whose ? `, or ["*", ${owners.map((owner) => `"bot:${owner}"`).join(', ')}] for these alone` : '';
  return {
    position: where.positions['on'] ?? position,
    message: `"${id}" waits for ${named(kinds)}, which ${named(owners.map((owner) => `"${owner}"`))} ${owners.length === 1 ? 'causes' : 'cause'}: the bot's own acts start no rule`,
    hint: `where: {actor: ["*", bot]}${own}; actor: "*" says that they are not meant`,
  };
}

function named(names: readonly string[]): string {
  const first = names.slice(0, MAX_NAMED);
  const rest = names.length - first.length;
  return rest > 0 ? `${first.join(', ')} and ${rest} more` : first.join(' and ');
}
