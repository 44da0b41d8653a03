import { DYN, listOf } from '../../../core/data-types.js';
import type { DataType } from '../../../core/data-types.js';
import type { LookupFacts } from '../catalogue.js';
import type { YamlEntry, YamlNode } from '../load/node.js';
import type { Named } from '../load/read-map.js';
import { asMap, readWhole, suggest } from '../load/read-shape.js';
import { compileList } from './compile-expression.js';
import { compileParams } from './compile-params.js';
import { habitOf } from '../habits/habits.js';
import type { FileContext, Scope } from './file-context.js';
import type { LookupProgram, ParamProgram, Template } from './program.js';
import { withItem } from './variable-types.js';

/** Reads of one `for_each` that `max` may allow; of elements of an answer it may allow more. */
const MAX_READS = 100;
/** Of a `for_each` that does not say. */
const DEFAULT_READS = 20;

/** @param node where the names stand, also those that cannot be used */
export function compileLookups(
  context: FileContext,
  read: ReadonlyArray<Named<'lookup'>>,
  node: YamlNode | undefined,
  scope: Omit<Scope, 'lookups'>,
): LookupProgram[] {
  const names = lookupNames(node);
  const programs = read.flatMap((one) => compileLookup(context, one, { ...scope, lookups: names }) ?? []);
  checkCircles(context, programs);
  return programs;
}

/** Lookups may be written in any order; one that needs its own answer could never be read. */
function checkCircles({ file }: FileContext, programs: readonly LookupProgram[]): void {
  const byName = new Map(programs.map((program) => [program.as, program]));
  const done = new Set<string>();
  const follow = (program: LookupProgram, path: readonly string[]): void => {
    const at = path.indexOf(program.as);
    if (at !== -1) {
      const circle = [...path.slice(at), program.as].join(' -> ');
      file.problemAt(
        program.position,
        `lookups wait for each other in a circle: ${circle}`,
        'one of them must do without the others',
      );
      return;
    }
    if (done.has(program.as)) return;
    for (const name of program.lookups) {
      const next = byName.get(name);
      if (next) follow(next, [...path, program.as]);
    }
    done.add(program.as);
  };
  for (const program of programs) follow(program, []);
}

/** Names declared under `lookup`, also those that cannot be used: one mistake should not be told twice. */
export function lookupNames(node: YamlNode | undefined): ReadonlySet<string> {
  return new Set(node?.kind === 'map' ? node.entries.map(({ key }) => key) : []);
}

/** What each lookup answers, as far as its `use` can be read. */
export function lookupTypes(
  node: YamlNode | undefined,
  lookups: ReadonlyMap<string, LookupFacts>,
): ReadonlyMap<string, DataType> {
  const entries = node?.kind === 'map' ? node.entries : [];
  return new Map(
    entries.map(({ key, value }) => {
      const answer = lookups.get(useOf(value))?.answer ?? DYN;
      const isEach = value.kind === 'map' && value.entries.some((entry) => entry.key === 'for_each');
      return [key, isEach ? listOf(answer) : answer];
    }),
  );
}

/** Those that say `on_missing: none`: they are null where there is nothing. */
export function lookupsMissing(node: YamlNode | undefined): ReadonlySet<string> {
  const says = ({ value }: YamlEntry): boolean =>
    value.kind === 'map' &&
    value.entries.some(
      (one) => one.key === 'on_missing' && one.value.kind === 'scalar' && one.value.value === 'none',
    ) &&
    !value.entries.some(({ key }) => key === 'for_each');
  return new Set(node?.kind === 'map' ? node.entries.filter(says).map(({ key }) => key) : []);
}

function useOf(node: YamlNode): string {
  const use = node.kind === 'map' ? node.entries.find(({ key }) => key === 'use')?.value : node;
  return use?.kind === 'scalar' && typeof use.value === 'string' ? use.value : '';
}

function compileLookup(
  context: FileContext,
  { name: as, keyStart, map: lookup }: Named<'lookup'>,
  scope: Scope,
): LookupProgram | null {
  const { file } = context;
  if (!/^[A-Za-z_]\w{0,62}$/.test(as))
    file.problem(
      keyStart,
      `"${as}" cannot name a lookup`,
      'letters, digits and _, so that lookups.NAME can be written',
    );
  const written = lookup?.value('use');
  if (!lookup || !written) return null;
  const { value: use, start: useStart } = written;
  const facts = context.env.lookups.get(use);
  if (!facts) {
    const isAction = context.env.actions.has(use);
    file.problem(
      useStart,
      `there is no lookup "${use}"`,
      isAction ? 'it is an action: it belongs under do' : lookupHint(context, use),
    );
    return null;
  }
  checkOffered(context, useStart, use, facts.operations);
  if (!scope.hasRepo && (facts.target ?? 'repository') === 'repository') {
    file.problem(
      useStart,
      `${use} reads a repository, and this rule runs once for the organization`,
      'to run for each repository say where: {repo: [...]}',
    );
  }
  const withNode = lookup.node('with');
  const withMap = withNode ? asMap(file, withNode, 'with') : null;
  if (withNode && !withMap) return null;
  const hasItem = lookup.has('for_each');
  const eachText = lookup.value('for_each');
  const forEach = eachText ? compileList(context, eachText, scope) : null;
  const params = compileParams(context, withMap?.entries ?? [], useStart, facts, {
    ...scope,
    hasItem,
    types: withItem(scope.types, forEach?.type),
  });
  const maxNode = lookup.node('max');
  const firstEntry = lookup.entries.get('first');
  if (firstEntry && hasItem)
    file.problem(
      firstEntry.keyStart,
      'first bounds one read, and for_each makes several',
      'cut the list that it walks',
    );
  else if (firstEntry && facts.answer !== undefined && facts.answer.kind !== 'list')
    file.problem(firstEntry.keyStart, `first cuts a list, and ${use} answers one object`, 'leave it out');
  return {
    as,
    use,
    params,
    onMissing: lookup.value('on_missing') ?? 'fail',
    forEach,
    max: !hasItem ? lookup.value('max') : maxNode ? readWhole(file, maxNode, 'max', 1, MAX_READS) : DEFAULT_READS,
    first: hasItem ? null : lookup.value('first'),
    cacheS: lookup.value('cache'),
    lookups: new Set([...lookupsOfParams(params), ...(forEach?.lookups ?? [])]),
    position: file.position(keyStart),
  };
}

function lookupHint({ env }: FileContext, name: string): string | undefined {
  const habit = habitOf('lookup name', name);
  return habit ? `write ${habit}` : suggest(name, [...env.lookups.keys()], 'there are');
}

/** A forge that lacks an operation refuses the rule now, not at night. */
export function checkOffered(
  { env, file }: FileContext,
  start: number,
  use: string,
  operations: readonly string[],
): void {
  const { offered } = env;
  const missing = offered ? operations.filter((operation) => !offered.has(operation)) : [];
  if (missing.length > 0) file.problem(start, `${use} needs ${missing.join(', ')}, which this forge does not offer`);
}

export function lookupsOfParams(params: readonly ParamProgram[]): ReadonlySet<string> {
  return new Set(params.flatMap(({ template }) => [...lookupsOfTemplate(template)]));
}

export function lookupsOfTemplate(template: Template): string[] {
  switch (template.kind) {
    case 'expression':
      return [...template.expression.lookups];
    case 'text':
      return template.parts.flatMap((part) => (typeof part === 'string' ? [] : [...part.lookups]));
    case 'list':
      return template.items.flatMap(lookupsOfTemplate);
    case 'map':
      return template.entries.flatMap(([, value]) => lookupsOfTemplate(value));
    default:
      return [];
  }
}
