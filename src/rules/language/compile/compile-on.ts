import { didYouMean } from '../../../core/did-you-mean.js';
import { START_KINDS, isPushPart, isStartKind } from '../../../core/event-kinds.js';
import type { EventKind, StartKind } from '../../../core/event-kinds.js';
import { habitOf } from '../habits/habits.js';
import type { YamlNode } from '../load/node.js';
import { readTexts, suggest } from '../load/read-shape.js';
import type { WhereFilter } from '../match/where-filter.js';
import type { FileContext } from './file-context.js';

/** The words of `on`, each once. */
export function readStarts({ file }: FileContext, node: YamlNode): StartKind[] {
  if (node.kind === 'map') return tellKindsOfMap(file, node);
  const texts = readTexts(file, node, 'on') ?? [];
  const kinds = new Set<StartKind>();
  for (const { value, start } of texts) {
    if (value === 'hook.tested' || value === 'unrecognized')
      file.problem(
        start,
        `no rule can be started by ${value}`,
        value === 'hook.tested' ? 'test calls of a hook are recorded only' : undefined,
      );
    else if (isStartKind(value)) {
      if (kinds.has(value)) file.warn(start, `${value} stands here twice`, 'take one out');
      kinds.add(value);
    } else {
      const habit = habitOf('kind', value);
      file.problem(
        start,
        `there is no event kind "${value}"`,
        habit ? `write ${habit}` : (kindsLike(value) ?? suggest(value, START_KINDS, 'there are')),
      );
      // The rest is looked at as if the nearest kind stood here.
      const suggestion = habit ?? didYouMean(value, START_KINDS);
      if (suggestion !== null && isStartKind(suggestion)) kinds.add(suggestion);
    }
  }
  // All pushes are those of branches and those of tags as well.
  return kinds.has('push') ? [...kinds].filter((kind) => !isPushPart(kind)) : [...kinds];
}

/** A pattern is no kind: those that it would match are named one by one. */
function kindsLike(value: string): string | null {
  if (!value.includes('*')) return null;
  const start = value.slice(0, value.indexOf('*'));
  const alike = START_KINDS.filter((kind) => kind.startsWith(start));
  return `kinds are named one by one: on: [${(alike.length > 0 ? alike : START_KINDS).slice(0, 4).join(', ')}, …]`;
}

/** `on: {pull_request: {types: [opened]}}`, as workflows of Actions have it. */
function tellKindsOfMap(file: FileContext['file'], node: Extract<YamlNode, { kind: 'map' }>): StartKind[] {
  const kinds: string[] = [];
  for (const { key, keyStart, value } of node.entries) {
    const types = value.kind === 'map' ? value.entries.find((entry) => entry.key === 'types')?.value : undefined;
    const words = (types?.kind === 'list' ? types.items : types ? [types] : []).flatMap((item) =>
      item.kind === 'scalar' ? [String(item.value)] : [],
    );
    const written = words.length > 0 ? words.map((one) => `${key}.${one}`) : [key];
    const suggestions = written.map((one) => (isStartKind(one) ? one : (habitOf('kind', one) ?? one)));
    kinds.push(...suggestions);
    const hint =
      key === 'schedule'
        ? 'schedule is a key of the rule: schedule: "0 4 * * *"'
        : `on: [${suggestions.join(', ')}]; filters stand in where`;
    file.problem(keyStart, 'on is a list of event kinds, this is a map', hint);
  }
  if (node.entries.length === 0) file.problem(node.start, 'on is empty', 'on: push');
  return kinds.filter(isStartKind);
}

/** Kinds as events have them: a push is one, whatever it is of. */
export function kindsOf(starts: readonly StartKind[]): EventKind[] {
  return [...new Set(starts.map((start): EventKind => (isPushPart(start) ? 'push' : start)))];
}

/** Of which pushes the rule takes one part alone. */
export function pushPart(starts: readonly StartKind[]): WhereFilter['pushOf'] {
  const [only, ...more] = starts.filter(isPushPart);
  return only === undefined || more.length > 0 ? null : only === 'push.branch' ? 'branch' : 'tag';
}

/** What a filter leaves of the pushes. */
export function narrowed(starts: readonly StartKind[], { branch, tag }: WhereFilter): StartKind[] {
  return starts.map((start) =>
    start !== 'push' || (branch && tag) ? start : branch ? 'push.branch' : tag ? 'push.tag' : start,
  );
}
