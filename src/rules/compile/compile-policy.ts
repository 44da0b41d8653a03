import type { JsonObject } from '../../core/json.js';
import type { YamlEntry, YamlNode } from '../load/node.js';
import { asList, asMap, readBoolean, readChoice, readKey, readMap } from '../load/read-shape.js';
import type { Keys } from '../load/read-shape.js';
import type { CompiledPolicy, ScheduleSpec } from '../revision.js';
import { compileParams } from './compile-params.js';
import { MODES, readRuleId } from './compile-rule.js';
import { compilePolicyLimits, compileSchedule } from './compile-schedule.js';
import { NO_FILTER, compileSubjects } from './compile-where.js';
import type { FileContext, Scope } from './file-context.js';
import type { PolicyItem, PolicyPart } from './program.js';
import { NO_GUARDS, variableTypes } from './variable-types.js';

const KEYS: Keys = {
  id: 'required',
  mode: 'optional',
  schedule: 'optional',
  subjects: 'required',
  assume_absent: 'optional',
  limits: 'optional',
  approval: 'optional',
  labels: 'optional',
  milestones: 'optional',
  push_mirrors: 'optional',
  override: 'optional',
};
const APPROVALS = ['required', 'none'] as const;
/** Once a day in the quiet hours, spread so that organizations do not all come at once. */
const DAILY: ScheduleSpec = { cron: '0 3 * * *', tz: 'UTC', jitterS: 3600 };

const SECTIONS = [
  { section: 'labels', action: 'label.ensure', lookup: { use: 'labels.list', params: {} as JsonObject } },
  { section: 'milestones', action: 'milestone.ensure', lookup: { use: 'milestones.list', params: { state: 'all' } as JsonObject } },
  { section: 'push_mirrors', action: 'push_mirror.ensure', lookup: { use: 'push_mirrors.list', params: {} as JsonObject } },
] as const;

/** A policy says an outcome; its settings are the parameters of the action that brings it about. */
const SCOPE: Scope = { hasEvent: false, hasRepo: true, hasItem: false, lookups: null };

function scopeOf({ env, vars }: FileContext): Scope {
  return env.checkTypes ? { ...SCOPE, types: { variables: variableTypes([], vars, new Map()), guards: NO_GUARDS } } : SCOPE;
}

export function compilePolicy(context: FileContext, node: YamlNode): CompiledPolicy | null {
  const { file, env } = context;
  const keys = readMap(file, node, 'a policy', KEYS);
  if (!keys) return null;
  const id = readRuleId(context, keys.get('id'));
  const mode = readKey(keys, 'mode', (value) => readChoice(file, value, 'mode', MODES), 'live');
  readKey(keys, 'override', (value) => readBoolean(file, value, 'override'), null);
  const schedule = readKey(keys, 'schedule', (value) => compileSchedule(context, value), DAILY);
  const subjects = readKey(keys, 'subjects', (value) => compileSubjects(context, value), NO_FILTER);
  const assumeAbsent = readKey(keys, 'assume_absent', (value) => readBoolean(file, value, 'assume_absent'), false);
  const limits = readKey(keys, 'limits', (value) => compilePolicyLimits(context, value), null);
  const approval = readKey(keys, 'approval', (value) => readChoice(file, value, 'approval', APPROVALS), 'none');
  const parts = SECTIONS.flatMap(({ section, action, lookup }) => {
    const entry = keys.get(section);
    const part = entry && compilePart(context, entry, section, action, lookup);
    return part ? [part] : [];
  });
  if (!SECTIONS.some(({ section }) => keys.has(section))) file.problem(node.start, 'a policy needs labels, milestones or push_mirrors: it says nothing');
  if (id === null || !schedule) return null;
  const operations = parts.flatMap(({ action, lookup }) => [...action.operations, ...(env.lookups.get(lookup.use)?.operations ?? [])]);
  return {
    id,
    mode: mode ?? 'shadow',
    schedule,
    limits,
    approval: approval !== 'none',
    position: file.position(node.start),
    operations: [...new Set(operations)].sort(),
    program: { org: env.org, subjects, vars: context.vars, parts, assumeAbsent: assumeAbsent ?? false },
  };
}

function compilePart(
  context: FileContext,
  entry: YamlEntry,
  section: PolicyPart['section'],
  actionName: string,
  lookup: PolicyPart['lookup'],
): PolicyPart | null {
  const action = context.env.actions.get(actionName);
  if (!action) {
    context.file.problem(entry.keyStart, `${section} needs the action ${actionName}, which is not there`);
    return null;
  }
  const list = asList(context.file, entry.value, section);
  if (!list) return null;
  const items = list.items.flatMap((item): PolicyItem[] => {
    const map = asMap(context.file, item, `an entry of ${section}`);
    if (!map) return [];
    return [
      {
        params: compileParams(context, map.entries, map.start, action, scopeOf(context)),
        position: context.file.position(map.start),
        allowPrivate: saysPrivate(map.entries),
      },
    ];
  });
  return { section, action, lookup, items };
}

function saysPrivate(entries: readonly YamlEntry[]): boolean {
  const value = entries.find(({ key }) => key === 'private')?.value;
  return value?.kind === 'scalar' && value.value === true;
}
