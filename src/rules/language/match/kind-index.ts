import type { ForgeEvent } from '../../../core/event.js';
import { isUnknown } from '../../../core/event-knowledge.js';
import type { CompiledRule } from '../revision.js';
import type { GlobPattern } from './glob.js';
import { NameIndex } from './name-index.js';
import type { WhereFilter } from './where-filter.js';

/** Names an event can be found by, as the index keeps them. */
type Dimension = 'fullName' | 'name' | 'actor' | 'branch' | 'tag';

/** A rule with its place in the revision: rules run in the order in which they are written. */
interface Entry {
  readonly rule: CompiledRule;
  readonly order: number;
}

/**
 * Rules of one event kind. Each stands under the one name that says most about it (a literal, else the longest literal beginning or end of its
 * patterns), so that an event meets those that could match, however many others there are.
 */
export class KindIndex {
  readonly #names = new Map<Dimension, NameIndex<Entry>>();
  /** Nothing in their filters is literal: they are looked at for each event of the kind. */
  readonly #everywhere: Entry[] = [];

  constructor(readonly org: string) {}

  add(rule: CompiledRule, order: number): void {
    const entry = { rule, order };
    const path = bestPath(rule.program.where, this.org);
    if (!path) {
      this.#everywhere.push(entry);
      return;
    }
    for (const key of path.keys) {
      const index = this.#indexOf(key.dimension);
      if (key.how === 'literal') index.addLiteral(key.text, entry);
      else if (key.how === 'prefix') index.addPrefix(key.text, entry);
      else index.addSuffix(key.text, entry);
    }
  }

  /** Rules whose literal parts fit the event, in the order of the files; the whole filter is still to be asked. */
  find(event: ForgeEvent): CompiledRule[] {
    const matches = new Set<Entry>(this.#everywhere);
    for (const [dimension, index] of this.#names) {
      const name = nameOf(event, dimension);
      if (name !== null) index.find(name, matches);
      else if (isUnknown(event, dimension)) index.all(matches);
    }
    return [...matches].sort((a, b) => a.order - b.order).map(({ rule }) => rule);
  }

  #indexOf(dimension: Dimension): NameIndex<Entry> {
    let index = this.#names.get(dimension);
    if (!index) this.#names.set(dimension, (index = new NameIndex()));
    return index;
  }
}

interface IndexKey {
  dimension: Dimension;
  how: 'literal' | 'prefix' | 'suffix';
  text: string;
  /** The more, the fewer events it fits. */
  score: number;
}

function bestPath(where: WhereFilter, org: string): { keys: IndexKey[] } | null {
  let best: { keys: IndexKey[]; score: number } | null = null;
  for (const keys of [
    keysOf(where.repo, 'repo', org),
    keysOf(where.branch, 'branch', org),
    keysOf(where.tag, 'tag', org),
    where.actorIsBot || where.botRules ? null : keysOf(where.actor, 'actor', org),
  ]) {
    if (!keys) continue;
    const score = Math.min(...keys.map((key) => key.score));
    if (score > (best?.score ?? 0)) best = { keys, score };
  }
  return best;
}

/** @returns null when one of the alternatives has nothing literal to be found by */
function keysOf(patterns: readonly GlobPattern[] | null, filter: 'repo' | Dimension, org: string): IndexKey[] | null {
  if (!patterns || patterns.length === 0) return null;
  const keys = patterns.map((pattern) =>
    keyOf(pattern, filter === 'repo' ? (pattern.source.includes('/') ? 'fullName' : 'name') : filter, org),
  );
  return keys.every((key) => key !== null) ? keys : null;
}

const LITERAL_SCORE = 1000;

function keyOf({ literal, prefix, suffix }: GlobPattern, dimension: Dimension, org: string): IndexKey | null {
  if (literal !== null) return { dimension, how: 'literal', text: literal, score: LITERAL_SCORE };
  // `acme/` begins every repository of the organization: only what comes after it tells anything.
  const common = dimension === 'fullName' && prefix.startsWith(`${org.toLowerCase()}/`) ? org.length + 1 : 0;
  if (prefix.length - common >= suffix.length && prefix.length > common)
    return { dimension, how: 'prefix', text: prefix, score: prefix.length - common };
  return suffix.length > 0 ? { dimension, how: 'suffix', text: suffix, score: suffix.length } : null;
}

function nameOf(event: ForgeEvent, dimension: Dimension): string | null {
  switch (dimension) {
    case 'fullName':
      return event.repo?.full_name.toLowerCase() ?? null;
    case 'name':
      return event.repo?.name.toLowerCase() ?? null;
    case 'actor':
      return event.actor?.login.toLowerCase() ?? null;
    case 'branch':
    case 'tag': {
      const name = event.data[dimension];
      return typeof name === 'string' ? name : null;
    }
  }
}
