import { isSameSetting, normalizeColor } from '../actions/support/compare.js';
import { canonicalJson } from '../core/canonical-json.js';
import { isJsonObject, type Json, type JsonObject } from '../core/json.js';
import type { Reason } from '../core/reason.js';
import type { NewIntent } from '../core/run.js';
import type { JournalStore } from '../pipeline/journal-store.port.js';
import type { CompiledPolicy } from '../rules/language/revision.js';
import type { ActiveRevision } from '../rules/revisions/active-revisions.port.js';
import { planReason } from './policy-plan.js';

type Wish = Pick<NewIntent, 'rule' | 'action' | 'itemKey' | 'params' | 'target' | 'org'>;

/** How an object is found, which is no wish about it. */
const NO_WISH = new Set(['keep', 'renamed_from']);

/** Objects that another policy of this very revision wrote last, and otherwise: each would undo the other at its pass. */
export async function writtenOtherwise(
  journal: Pick<JournalStore, 'lastSettled'>,
  { id, revision }: ActiveRevision,
  intents: readonly NewIntent[],
): Promise<Reason[]> {
  const reasons: Reason[] = [];
  for (const intent of intents) {
    const others = revision.policies.filter(({ id: other }) => other !== intent.rule);
    if (intent.mode !== 'live' || !others.some((other) => mayWrite(other, intent.action))) continue;
    const last = await journal.lastSettled(intent.effectKey);
    if (last?.revisionId !== id || !others.some(({ id: other }) => other === last.rule)) continue;
    reasons.push(...[contradiction(last, intent) ?? []].flat());
  }
  return reasons;
}

/** Wishes of one object that cannot both hold: each is said once. */
export function contradictions(intents: readonly NewIntent[]): Reason[] {
  const byKey = new Map<string, NewIntent[]>();
  for (const intent of intents) byKey.set(intent.effectKey, [...(byKey.get(intent.effectKey) ?? []), intent]);
  return [...byKey.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : others.flatMap((other) => contradiction(first, other) ?? []).slice(0, 1),
  );
}

function contradiction(one: Wish, other: Wish): Reason | null {
  const field = one.action === other.action ? opposed(one.params, other.params) : one.action;
  if (field === undefined) return null;
  const { target } = other;
  return planReason('plan.contradiction', {
    one: one.rule,
    other: other.rule,
    where: target.kind === 'repository' ? `${target.owner}/${target.name}` : other.org,
    object: `${other.action} ${other.itemKey}`,
    field,
  });
}

/** The first parameter in which two wishes of one action and object cannot both hold. */
function opposed(one: JsonObject, other: JsonObject): string | undefined {
  const [a, b] = [comparable(one), comparable(other)];
  return Object.keys(a).find((name) => {
    const [x = null, y = null] = [a[name], b[name]];
    if (x === null || y === null || NO_WISH.has(name)) return false;
    // Members that are put on and taken off one by one: both may hold, unless one takes off what the other puts on.
    if (name === 'add' || name === 'remove') {
      const against = b[name === 'add' ? 'remove' : 'add'];
      return Array.isArray(x) && Array.isArray(against) && x.some((member) => against.includes(member));
    }
    if (name === 'color') return normalizeColor(String(x)) !== normalizeColor(String(y));
    return typeof x === 'object' && !Array.isArray(x)
      ? canonicalJson(x) !== canonicalJson(y)
      : !isSameSetting(name, x, y);
  });
}

function mayWrite({ program }: CompiledPolicy, action: string): boolean {
  return [...program.parts, ...program.fixes.map(({ step }) => step)].some((one) => one.action.name === action);
}

/** Sealing gives another text each time; the hash of what is sealed stays. */
export function comparable(params: Readonly<Record<string, Json>>): JsonObject {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      isJsonObject(value) && '$hash' in value ? (value['$hash'] ?? null) : value,
    ]),
  );
}
