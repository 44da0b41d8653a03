import type { DataType, ObjectType } from '../../../core/data-types.js';
import { isDelivered, sourcesWithout } from '../../../core/event-sources.js';
import type { EventSource } from '../../../core/event.js';
import { ownValue } from '../../../core/table.js';
import type { Guards, VariableTypes } from '../expression-engine.js';
import { kindNames } from './event-kinds-of.js';
import type { Expr } from './parse-expression.js';
import { pathOf } from './tree.js';
import type { TypeNotes } from './type-notes.js';
import { nameSome } from './words.js';

/** Types of the variables of loops. */
export type Loop = ReadonlyMap<string, DataType>;

/** What is known where an expression stands. */
export interface ReadingContext {
  readonly notes: TypeNotes;
  readonly variables: VariableTypes;
  /** What the rule asks before it looks. */
  readonly guards: Guards;
}

const SOURCE_NAMES: Readonly<Record<EventSource, string>> = {
  webhook: 'a delivery',
  feed: 'the feed',
  tasks: 'the task list',
  lists: 'a list of issues',
};

/** Of a push, one of both is missing each time. */
const OFTEN_MISSING = new Set(['branch', 'tag']);

/** Null again and again, and not only where a source is short of words. */
const NULLABLE = new Set(['milestone', 'assignee', 'merged_by', 'head_commit', 'requested_reviewer', 'command']);

/** A lookup that must be there is compared with null. */
export function warnOfSure(
  context: ReadingContext,
  args: readonly Expr[],
  left: DataType,
  right: DataType,
  isEqual: boolean,
): void {
  const at = left.kind === 'null' ? 1 : right.kind === 'null' ? 0 : -1;
  const [root, name, ...more] = (args[at] && pathOf(args[at]))?.split('.') ?? [];
  const lookups = ownValue(context.variables, 'lookups');
  const field = lookups?.kind === 'object' && name !== undefined ? ownValue(lookups.fields, name) : undefined;
  if (at === -1 || root !== 'lookups' || more.length > 0 || !field || field.optional || !args[at]) return;
  context.notes.warn(
    args[at],
    `lookups.${name} is never null, so this ${isEqual ? 'never' : 'always'} holds: where there is nothing, the run ends with an error`,
    'on_missing: none in the lookup',
  );
}

/** Reading on from what may be missing or null ends the decision with an error. */
export function warnOfNothing(context: ReadingContext, operand: Expr | undefined, loop: Loop): void {
  const path = operand ? pathOf(operand) : null;
  if (!operand || path === null || loop.has(path.split('.')[0] ?? '')) return;
  if (!mayBeNothing(context, path) || isAsked(context, path)) return;
  context.notes.warn(
    operand,
    `${path} may be missing or null: reading on from it is an error then`,
    `ask first: ${hasFirst(path)}`,
  );
}

/** A field that events of a kind need not have: of the event itself, since those of the forge's objects may all be missing. */
export function warnOfOwn(context: ReadingContext, expr: Expr, type: DataType, name: string, loop: Loop): void {
  const path = pathOf(expr);
  if (path !== `event.${name}` || loop.has('event') || isAsked(context, path)) return;
  const types = type.kind === 'object' ? [type] : type.kind === 'either' ? type.of.map((one) => one.type) : [];
  const lacking = types.filter((one) => ownValue(one.fields, name)?.optional === true);
  if (!OFTEN_MISSING.has(name) || !lacking.some(isPush)) return warnOfOptional(context, expr, lacking, name);
  context.notes.warn(
    expr,
    `a push need not have ${path}: it is of a branch or of a tag`,
    `on: push.${name}; or ask first: ${hasFirst(path)}`,
  );
}

function warnOfOptional(context: ReadingContext, expr: Expr, lacking: readonly ObjectType[], name: string): void {
  // Every event has a repository; who did it is asked for below, by field.
  if (name === 'repo' || name === 'actor' || NULLABLE.has(name)) return;
  const isByDelivery = context.guards.sources?.size === 1 && context.guards.sources.has('webhook');
  const kinds = lacking.flatMap(kindNames).filter((kind) => !isByDelivery || !isDelivered(kind, name));
  if (kinds.length === 0) return;
  context.notes.warn(
    expr,
    `event.${name} may be missing: ${nameSome(kinds)} may lack it`,
    `ask first: ${hasFirst(`event.${name}`)}`,
  );
}

/** Not every source tells the objects of an event whole. */
export function warnOfUntold(context: ReadingContext, expr: Expr, event: DataType, loop: Loop): void {
  const [root, object, field, ...more] = pathOf(expr)?.split('.') ?? [];
  if (root !== 'event' || !object || !field || more.length > 0 || loop.has('event')) return;
  const path = object === 'actor' ? 'event.actor' : `event.${object}.${field}`;
  // What is null again and again is told of where it is read on.
  if (isAsked(context, path) || NULLABLE.has(field)) return;
  const types = event.kind === 'object' ? [event] : event.kind === 'either' ? event.of.map(({ type }) => type) : [];
  const { sources } = context.guards;
  const lacking = types.flatMap(kindNames).flatMap((kind) => {
    const without = sourcesWithout(kind, object, field).filter((source) => sources?.has(source) ?? true);
    return without.length > 0 ? [{ kind, without }] : [];
  });
  if (lacking.length === 0) return;
  const from = [...new Set(lacking.flatMap(({ without }) => without))].map((source) => SOURCE_NAMES[source]);
  context.notes.warn(
    expr,
    `${path} is missing where ${from.join(' or ')} reported ${nameSome(lacking.map(({ kind }) => kind))}`,
    `ask first: has(${path}) && …; or where: {source: webhook}`,
  );
}

function isAsked(context: ReadingContext, path: string): boolean {
  const { paths, notNull } = context.guards;
  return [...paths, ...(notNull ?? [])].some((one) => one === path || one.startsWith(`${path}.`));
}

function mayBeNothing(context: ReadingContext, path: string): boolean {
  const [root = '', name = '', ...more] = path.split('.');
  const of = ownValue(context.variables, root);
  if (root === 'lookups')
    return more.length === 0 && of?.kind === 'object' && ownValue(of.fields, name)?.optional === true;
  if (root !== 'event') return false;
  const last = more.at(-1) ?? name;
  return NULLABLE.has(last);
}

function isPush({ fields }: ObjectType): boolean {
  return Object.hasOwn(fields, 'branch') && Object.hasOwn(fields, 'tag');
}

function hasFirst(path: string): string {
  return path.startsWith('lookups.') ? `${path} != null && …` : `has(${path}) && ${path} != null && …`;
}
