import { canonicalJson } from '../../../core/canonical-json.js';
import type { Json } from '../../../core/json.js';
import type { ParamProgram, PolicyItem, PolicyPart } from '../compile/program.js';
import type { CompiledPolicy, CompiledRule } from '../revision.js';
import type { Position } from '../../../core/problem.js';
import { undoEachOther } from './ends-alone.js';
import { sameRepository } from './writers.js';
import { constantIn } from './raised-kinds.js';

/** What is wrong with parts that are right by themselves. */
export interface Together {
  readonly position: Position;
  readonly message: string;
  readonly hint: string;
  readonly isWarning: boolean;
}

/** Of sections with one entry for each thing; the others are one list or one set of settings. */
const COMPARED = new Set<PolicyPart['section']>([
  'labels',
  'milestones',
  'branches',
  'enforced_protections',
  'push_mirrors',
  'variables',
  'settings',
  'topics',
]);
/** There is one of it in each repository. */
const SINGLE = new Set<PolicyPart['section']>(['settings', 'topics']);
/** Pairs that are compared, and entries of which each is compared with each; nobody has so many. */
const MAX_PAIRS = 20_000;
const MAX_EACH = 300;

interface Entry {
  readonly policy: CompiledPolicy;
  readonly part: PolicyPart;
  readonly item: PolicyItem;
  readonly key: string;
}

/** Policies that contradict each other or themselves, and rules that write other values to one thing at one event. */
export function* checkTogether(
  rules: readonly CompiledRule[],
  policies: readonly CompiledPolicy[],
  org: string,
): Generator<Together, void> {
  const live = policies.filter(({ mode }) => mode === 'live');
  const entries = live.flatMap((policy) =>
    policy.program.parts.flatMap((part) =>
      part.items.flatMap((item): Entry[] => {
        const key = SINGLE.has(part.section) ? part.section : keyTextIn(item.params, part.action.naturalKey);
        if (typeof key !== 'string') return [];
        return [{ policy, part, item, key: SINGLE.has(part.section) ? key : nameOf(part.action, key) }];
      }),
    ),
  );
  yield* contradictions(entries, org);
  yield* circles(entries);
  yield* privateMirrors(live);
  yield* sameVariables(
    rules.filter(({ mode }) => mode === 'live'),
    org,
  );
  yield* unknownLabels(rules, entries);
  yield* againstPolicies(
    rules.filter(({ mode }) => mode === 'live'),
    entries,
    org,
  );
}

/** As the action tells two objects apart: some names differ by their case. */
function nameOf({ keyOf, naturalKey }: PolicyPart['action'], written: string): string {
  return keyOf === undefined ? written.trim() : keyOf({ [naturalKey]: written });
}

/** A key that only the run tells is the same for two entries that write it in the same words. */
function keyTextIn(params: readonly ParamProgram[], name: string): Json | undefined {
  const template = params.find((param) => param.name === name)?.template;
  if (template?.kind === 'expression') return `\${{ ${template.expression.compiled.source.trim()} }}`;
  if (template?.kind !== 'text') return constantIn(params, name);
  return template.parts
    .map((part) => (typeof part === 'string' ? part : `\${{ ${part.compiled.source.trim()} }}`))
    .join('');
}

function* contradictions(entries: readonly Entry[], org: string): Generator<Together, void> {
  let pairs = 0;
  const byKey = new Map<string, Entry[]>();
  for (const entry of entries) {
    const { name, effect } = entry.part.action;
    const key = `${effect?.undoes ?? name} ${entry.key}`;
    const sameKey = byKey.get(key) ?? [];
    for (const other of sameKey) {
      if ((pairs += 1) > MAX_PAIRS) return;
      const contradiction = against(other, entry, org);
      if (contradiction) yield contradiction;
    }
    byKey.set(key, [...sameKey, entry]);
  }
}

function against(first: Entry, second: Entry, org: string): Together | null {
  if (
    first.policy !== second.policy &&
    !sameRepository(first.policy.program.subjects, second.policy.program.subjects, org)
  )
    return null;
  const where =
    first.policy === second.policy
      ? `line ${first.item.position.line}`
      : `"${first.policy.id}", line ${first.item.position.line}`;
  const at = {
    position: second.item.position,
    hint: 'leave one of them out, or narrow the subjects',
    isWarning: false,
  };
  if (first.part.section !== second.part.section)
    return {
      ...at,
      message: `"${second.key}" is to be there and to be taken away (${where}): they undo each other for ever`,
    };
  const isOfTopics = second.part.section === 'topics';
  const topic = isOfTopics ? contestedTopic(first.item.params, second.item.params) : null;
  if (topic !== null)
    return {
      ...at,
      message: `the topic "${topic}" is to be there and to be taken away (${where}): they undo each other for ever`,
    };
  if (
    !COMPARED.has(second.part.section) ||
    [first, second].some(({ item }) => constantIn(item.params, 'keep') === true)
  )
    return null;
  const other = isOfTopics ? null : differing(second.item.params, first.item.params, keyIn(second.part));
  if (other !== null)
    return {
      ...at,
      message: `"${second.key}" has another ${other} here than at ${where}: they undo each other for ever`,
    };
  return first.policy === second.policy && first.key === second.key
    ? { ...at, message: `"${second.key}" stands here twice (${where})`, isWarning: true }
    : null;
}

/** Colours are one in any case and length; all other texts differ by their case, as at the forge. */
function normal(name: string, value: Json): Json {
  return name === 'color' && typeof value === 'string'
    ? value.toLowerCase().replace(/^#?([0-9a-f])([0-9a-f])([0-9a-f])$/, '#$1$1$2$2$3$3')
    : value;
}

/** `a` was `b` before, and `b` was `a`. */
function* circles(entries: readonly Entry[]): Generator<Together, void> {
  const earlier = (entry: Entry): string[] => {
    const names = constantIn(entry.item.params, 'renamed_from');
    return (Array.isArray(names) ? names : [names]).filter((name) => typeof name === 'string');
  };
  const renamed = entries.filter((entry) => earlier(entry).length > 0);
  if (renamed.length > MAX_EACH) return;
  for (const [index, entry] of renamed.entries()) {
    const other = renamed
      .slice(0, index)
      .find(
        (one) =>
          one.part.section === entry.part.section &&
          earlier(one).includes(entry.key) &&
          earlier(entry).includes(one.key),
      );
    if (other)
      yield {
        position: entry.item.position,
        message: `"${entry.key}" is to be renamed to "${other.key}", and "${other.key}" to "${entry.key}" (line ${other.item.position.line})`,
        hint: 'take one renamed_from out',
        isWarning: true,
      };
  }
  const wanted = new Map(entries.map((entry) => [`${entry.part.section} ${entry.key}`, entry]));
  for (const entry of renamed) {
    const oldName = earlier(entry).find(
      (name) => wanted.get(`${entry.part.section} ${name}`)?.policy === entry.policy && name !== entry.key,
    );
    if (oldName !== undefined && !earlier(wanted.get(`${entry.part.section} ${oldName}`) ?? entry).includes(entry.key))
      yield {
        position: entry.item.position,
        message: `"${oldName}" is to be renamed to "${entry.key}", and to be there as well`,
        hint: `leave "${oldName}" out, or take it out of renamed_from`,
        isWarning: true,
      };
  }
}

/** Its contents leave the forge only where somebody says so. */
function* privateMirrors(policies: readonly CompiledPolicy[]): Generator<Together, void> {
  for (const { program } of policies)
    for (const { section, items } of program.parts)
      for (const item of items)
        if (
          section === 'push_mirrors' &&
          program.subjects.private === true &&
          !item.allowPrivate &&
          item.params.every(({ name }) => name !== 'private')
        )
          yield {
            position: item.position,
            message:
              'all subjects are private, and a private repository is not mirrored unless the entry says so: this does nothing',
            hint: 'private: true, when its contents may leave the forge',
            isWarning: true,
          };
}

/** The last one wins, and which one that is nobody can tell. */
function* sameVariables(rules: readonly CompiledRule[], org: string): Generator<Together, void> {
  const writes = rules.flatMap((rule) =>
    rule.program.steps.flatMap((step) => {
      const { action, params, when, unless, forEach } = step;
      const key = constantIn(params, action.naturalKey);
      const isAlone = !when && !unless && !forEach && rule.program.conditions.length === 0;
      return action.target !== 'account' && typeof key === 'string' && isAlone ? [{ rule, step, key }] : [];
    }),
  );
  if (writes.length > MAX_EACH) return;
  for (const [index, { rule, step, key }] of writes.entries()) {
    const other = writes
      .slice(0, index)
      .find(
        (one) =>
          one.key === key &&
          one.step.action === step.action &&
          one.rule.on.some((kind) => rule.on.includes(kind)) &&
          sameRepository(one.rule.program.where, rule.program.where, org) &&
          (step.action.target === 'organization'
            ? canonicalJson(constantIn(one.step.params, 'value') ?? null) !==
              canonicalJson(constantIn(step.params, 'value') ?? null)
            : differing(one.step.params, step.params, step.action.naturalKey) !== null),
      );
    if (other)
      yield {
        position: step.position,
        message: `"${rule.id}" and "${other.rule.id}" (line ${other.step.position.line}) set ${key} to other values at the same event: which one stays is chance`,
        hint: 'make one rule of them, or give each its own events',
        isWarning: true,
      };
  }
}

/** A rule that writes what a policy writes otherwise: the policy repairs it at its next pass. */
function* againstPolicies(
  rules: readonly CompiledRule[],
  entries: readonly Entry[],
  org: string,
): Generator<Together, void> {
  const byKey = new Map<string, Entry[]>();
  for (const entry of entries) {
    const key = `${entry.part.section} ${entry.key}`;
    byKey.set(key, [...(byKey.get(key) ?? []), entry]);
  }
  if (byKey.size === 0) return;
  const sections = new Map(entries.map(({ part }) => [part.action.name, part.section]));
  for (const rule of rules)
    for (const { action, params, position } of rule.program.steps) {
      const own = sections.get(action.name);
      const isSingle = own !== undefined && SINGLE.has(own);
      const written = isSingle ? own : constantIn(params, action.naturalKey);
      const key = typeof written !== 'string' || isSingle ? written : nameOf(action, written);
      const undone = entries.find(({ part }) => undoEachOther(part.action, action))?.part.section;
      const about = (section: string | undefined): readonly Entry[] =>
        section === undefined || typeof key !== 'string' ? [] : (byKey.get(`${section} ${key}`) ?? []);
      const other = [
        ...about(undone),
        ...about(own).filter(({ part, item }) => COMPARED.has(part.section) && opposes(params, item.params, part)),
      ].find(({ policy }) => sameRepository(rule.program.where, policy.program.subjects, org));
      const topic = other && own === 'topics' ? contestedTopic(params, other.item.params) : null;
      if (other)
        yield {
          position,
          message: `the policy "${other.policy.id}" (line ${other.item.position.line}) keeps ${topic === null ? '' : 'the topic '}"${topic ?? other.key}" otherwise: it undoes this at its next pass`,
          hint: 'leave one of them out, or let them never take the same repository',
          isWarning: true,
        };
    }
}

/** A step of a rule writes otherwise what an entry of a policy keeps. */
function opposes(ours: readonly ParamProgram[], theirs: readonly ParamProgram[], part: PolicyPart): boolean {
  return (part.section === 'topics' ? contestedTopic(ours, theirs) : differing(ours, theirs, keyIn(part))) !== null;
}

/** The parameter that names an entry; null = there is one entry alone. */
function keyIn({ section, action }: PolicyPart): string | null {
  return SINGLE.has(section) ? null : action.naturalKey;
}

/** A topic that one of both puts on and the other takes off; null = none that can be told before a run. */
function contestedTopic(ours: readonly ParamProgram[], theirs: readonly ParamProgram[]): string | null {
  const takenTopic = (keeps: readonly ParamProgram[], takes: readonly ParamProgram[]): string | undefined => {
    const [only, removed] = [topicsIn(takes, 'set'), topicsIn(takes, 'remove')];
    const wantedTopics = topicsIn(keeps, 'set') ?? topicsIn(keeps, 'add');
    return wantedTopics?.find((topic) => (only ? !only.includes(topic) : removed?.includes(topic) === true));
  };
  return takenTopic(ours, theirs) ?? takenTopic(theirs, ours) ?? null;
}

function topicsIn(params: readonly ParamProgram[], name: string): string[] | null {
  const value = constantIn(params, name);
  return value === undefined ? null : [value].flat().filter((topic) => typeof topic === 'string');
}

/** The first parameter, beside the key, of which both say something, and not the same; null = none. */
function differing(ours: readonly ParamProgram[], theirs: readonly ParamProgram[], key: string | null): string | null {
  const param = ours.find(({ name }) => {
    const [one, other] = [constantIn(ours, name), constantIn(theirs, name)];
    return (
      name !== key &&
      name !== 'renamed_from' &&
      one !== undefined &&
      other !== undefined &&
      canonicalJson(normal(name, one)) !== canonicalJson(normal(name, other))
    );
  });
  return param?.name ?? null;
}

/** A label of almost the same name is made by a policy: nobody makes the one that is named here. */
function* unknownLabels(rules: readonly CompiledRule[], entries: readonly Entry[]): Generator<Together, void> {
  const made = new Set(entries.filter(({ part }) => part.section === 'labels').map(({ key }) => key));
  if (made.size === 0) return;
  const alike = new Map([...made].map((name) => [squeezed(name), name]));
  for (const { program } of rules)
    for (const { action, params } of program.steps)
      for (const { name, template, position } of params) {
        if (action.params[name]?.refersTo !== 'label' || template.kind !== 'constant') continue;
        for (const label of [template.value].flat()) {
          if (typeof label !== 'string' || made.has(label)) continue;
          const near = alike.get(squeezed(label));
          if (near !== undefined)
            yield {
              position,
              message: `no policy makes the label "${label}"`,
              hint: `did you mean "${near}"?`,
              isWarning: true,
            };
        }
      }
}

function squeezed(name: string): string {
  return name.toLowerCase().replace(/[\s_/:-]+/g, '');
}
