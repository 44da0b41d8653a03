import type { EventKind } from '../../../core/event-kinds.js';
import { WITHOUT_ACTOR } from '../match/led-to.js';
import type { CompiledPolicy, CompiledRule } from '../revision.js';
import { endsAlone, isOpposed, lasting, makesRepository } from './ends-alone.js';
import {
  mayBeSubject,
  mayStart,
  runsOn,
  sameRepository,
  writersOfPolicy,
  writersOfRule,
  type Owner,
  type Writer,
} from './writers.js';

/** Rules and policies that start each other without end: the first one again at the end. */
export interface Loop {
  readonly owners: readonly Owner[];
  /** `a -(branch.create: branch.created)-> a`. */
  readonly text: string;
  /** It needs an event that does not tell who caused it. */
  readonly isWeak: boolean;
}

/** Longer chains are looked at no further: each link needs a rule that listens to the bot itself. */
const MAX_LENGTH = 8;
const MAX_STEPS = 5_000;
/** Nobody reads more of them at once. */
const MAX_LOOPS = 10;
/** More rules than this that take the bot's own acts are refused: the proof is over pairs of them. */
const MAX_LISTENING = 200;
/** Steps in all of them. */
const MAX_WRITERS = 1_000;

interface Link {
  readonly from: Writer;
  readonly kind: EventKind;
  readonly to: Writer;
  readonly isWeak: boolean;
}

/**
 * Cycles of step -> effect -> event -> step that no filter breaks and that do not end by themselves. The bot's own events start a rule only
 * where it says `actor: [bot]`, or `bot:RULE` for those of one rule, so most rules are in none; a policy is started by each repository that
 * is made. Of conditions only what they say of `event.kind` is used; everything else, and names that only the run tells, are taken to let
 * everything through. It stops after each of the steps (`inSlices`).
 */
export function* loopSteps(
  rules: readonly CompiledRule[],
  policies: readonly CompiledPolicy[],
  org: string,
): Generator<void, { loops: readonly Loop[]; isComplete: boolean }> {
  const listening = rules.filter((rule) => rule.mode === 'live' && isListening(rule));
  if (listening.length > MAX_LISTENING) return { loops: [], isComplete: false };
  const all = [
    ...policies.filter(({ mode }) => mode === 'live').flatMap((policy) => writersOfPolicy(policy, org)),
    ...listening.flatMap((rule) => writersOfRule(rule, org)),
  ];
  const writers = lasting(all.filter(({ raises }) => raises.length > 0));
  if (writers.length > MAX_WRITERS) return { loops: [], isComplete: false };
  const byOwner = new Map<Owner, Writer[]>();
  for (const writer of writers) byOwner.set(writer.owner, [...(byOwner.get(writer.owner) ?? []), writer]);
  const links = new Map<Writer, readonly Link[]>();
  for (const writer of writers) {
    links.set(writer, linksFrom(writer, byOwner));
    yield;
  }
  const order = new Map(writers.map((writer, index) => [writer, index]));
  const owners = new Map([...byOwner.keys()].map((owner, index) => [owner, index]));
  const orderOf = (writer: Writer): number => order.get(writer) ?? 0;
  const loops = new Map<string, Loop>();
  let steps = 0;
  const walk = (path: readonly Link[], start: Writer, at: Writer): void => {
    for (const link of links.get(at) ?? []) {
      if ((steps += 1) > MAX_STEPS || loops.size >= MAX_LOOPS) return;
      const longer = [...path, link];
      if (link.to === start) {
        const key = [...new Set(longer.map(({ from }) => owners.get(from.owner) ?? 0))].sort((a, b) => a - b).join();
        if (loops.get(key)?.isWeak !== false && !isBroken(longer)) loops.set(key, describe(longer));
      } else if (
        longer.length < MAX_LENGTH &&
        orderOf(link.to) > orderOf(start) &&
        !longer.some(({ from }) => from === link.to)
      ) {
        walk(longer, start, link.to);
      }
    }
  };
  for (const writer of writers) {
    walk([], writer, writer);
    yield;
  }
  return { loops: [...loops.values()], isComplete: steps <= MAX_STEPS };
}

function isListening({ on, tickScope, schedule, program: { where } }: CompiledRule): boolean {
  if (where.actorIsBot || where.botRules) return true;
  if (schedule && tickScope === 'repository') return true;
  return where.actor === null && on.some((kind) => WITHOUT_ACTOR.test(kind));
}

function linksFrom(from: Writer, byOwner: ReadonlyMap<Owner, readonly Writer[]>): Link[] {
  return [...byOwner].flatMap(([owner, writers]) => {
    const links: Link[] = [];
    if (makesRepository(from) && owner.takesSubjects && mayBeSubject(from, owner))
      links.push(...writers.map((to): Link => ({ from, kind: 'repository.created', to, isWeak: false })));
    for (const kind of from.raises) {
      const start = startsBy(from, kind, owner);
      if (start === null || !mayStart(from, kind, owner)) continue;
      links.push(
        ...writers.filter((to) => runsOn(to, kind)).map((to): Link => ({ from, kind, to, isWeak: start === 'weak' })),
      );
    }
    return links;
  });
}

/** Whether the bot's own event of the kind starts it, for all that its filter of actors says. */
function startsBy({ owner: from }: Writer, kind: EventKind, { rule }: Owner): 'sure' | 'weak' | null {
  if (!rule || !rule.on.includes(kind)) return null;
  const { actorIsBot, botRules, actor } = rule.program.where;
  if (actorIsBot || botRules?.includes(from.id)) return 'sure';
  if (botRules) return null;
  // What it asks of the run may well leave out those of the bot.
  const asks = rule.program.conditions.length > 0;
  return actor === null && !asks && WITHOUT_ACTOR.test(kind) ? 'weak' : null;
}

/** A chain ends when one of its steps writes the same each time, and none of the others writes otherwise. */
function isBroken(links: readonly Link[]): boolean {
  if (!everyPairMeets(links)) return true;
  const writers = links.map(({ from }) => from);
  const grows = writers.some(makesRepository);
  return writers.some((writer) => {
    if (grows && !makesRepository(writer)) return false;
    return endsAlone(writer) && !isOpposed(writer, writers);
  });
}

/** Links on one repository stay in it. */
function everyPairMeets(links: readonly Link[]): boolean {
  if (links.some(({ from }) => from.action.target !== 'repository')) return true;
  return links.every((a) =>
    links.every((b) => sameRepository(a.from.owner.where, b.from.owner.where, a.from.owner.org)),
  );
}

function describe(links: readonly Link[]): Loop {
  const owners = [...new Set(links.map(({ from }) => from.owner))];
  const [first] = owners;
  const text =
    links.map(({ from, kind }) => `${from.owner.id} -(${from.action.name}: ${kind})-> `).join('') + (first?.id ?? '');
  return { owners, text, isWeak: links.some(({ isWeak }) => isWeak) };
}
