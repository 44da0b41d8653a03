import type { YamlEntry, YamlNode } from '../load/node.js';
import { asMap, readChoice, readKey, readMap, readText, suggest } from '../load/read-shape.js';
import { compileParams } from './compile-params.js';
import type { FileContext, Scope } from './file-context.js';
import type { LookupProgram, ParamProgram, Template } from './program.js';

const MAX_LOOKUPS = 20;

/** `lookup: {name: {use, with, on_missing}}`, or `{name: use}` where nothing needs saying. */
export function compileLookups(context: FileContext, node: YamlNode, scope: Omit<Scope, 'lookups'>): LookupProgram[] {
  const map = asMap(context.file, node, 'lookup');
  if (!map) return [];
  if (map.entries.length > MAX_LOOKUPS) context.file.problem(map.start, `a rule may have ${MAX_LOOKUPS} lookups, this has ${map.entries.length}`);
  const programs: LookupProgram[] = [];
  for (const entry of map.entries) {
    const earlier = new Set(programs.map(({ as }) => as));
    const program = compileLookup(context, entry, { ...scope, lookups: earlier });
    if (program) programs.push(program);
  }
  return programs;
}

/** Names declared under `lookup`, also those that cannot be used: one mistake should not be told twice. */
export function lookupNames(node: YamlNode): ReadonlySet<string> {
  return new Set(node.kind === 'map' ? node.entries.map(({ key }) => key) : []);
}

function compileLookup(context: FileContext, { key: as, keyStart, value }: YamlEntry, scope: Scope): LookupProgram | null {
  const { file } = context;
  if (!/^[A-Za-z_]\w{0,62}$/.test(as)) file.problem(keyStart, `"${as}" cannot name a lookup`, 'letters, digits and _, so that lookups.NAME can be written');
  const written = readUse(context, value);
  if (!written) return null;
  const { use, useStart, keys } = written;
  const facts = context.env.lookups.get(use);
  if (!facts) {
    const isAction = context.env.actions.has(use);
    file.problem(
      useStart,
      `there is no lookup "${use}"`,
      isAction ? 'it is an action: it belongs under do' : suggest(use, [...context.env.lookups.keys()], 'there are'),
    );
    return null;
  }
  checkOffered(context, useStart, use, facts.operations);
  if (!scope.hasRepo && (facts.target ?? 'repository') === 'repository') {
    file.problem(useStart, `${use} reads a repository, and this rule runs once for the organization`, 'to run for each repository say where: {repo: [...]}');
  }
  const withEntry = keys?.get('with');
  const withMap = withEntry ? asMap(file, withEntry.value, 'with') : null;
  if (withEntry && !withMap) return null;
  const params = compileParams(context, withMap?.entries ?? [], useStart, facts, scope);
  const missing = keys?.get('on_missing');
  const onMissing = missing ? readChoice(file, missing.value, 'on_missing', ['none', 'fail']) : 'fail';
  return { as, use, params, onMissing: onMissing ?? 'fail', lookups: lookupsOfParams(params), position: file.position(keyStart) };
}

function readUse(context: FileContext, node: YamlNode): { use: string; useStart: number; keys: ReadonlyMap<string, YamlEntry> | null } | null {
  if (node.kind !== 'map') {
    const use = readText(context.file, node, 'a lookup');
    return use && { use: use.value, useStart: use.start, keys: null };
  }
  const keys = readMap(context.file, node, 'the lookup', { use: 'required', with: 'optional', on_missing: 'optional' });
  const use = keys && readKey(keys, 'use', (value) => readText(context.file, value, 'use'), null);
  return keys && use ? { use: use.value, useStart: use.start, keys } : null;
}

/** A forge that lacks an operation refuses the rule now, not at night. */
export function checkOffered({ env, file }: FileContext, start: number, use: string, operations: readonly string[]): void {
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
