import { canonicalJson } from '../../../core/canonical-json.js';
import { nodeToJson } from '../load/node.js';
import type { YamlEntry, YamlMap, YamlNode } from '../load/node.js';
import { isWordOf, readMap } from '../load/read-map.js';
import type { ReadMap } from '../load/read-map.js';
import { asMap, isRefused } from '../load/read-shape.js';
import type { Text } from '../load/read-shape.js';
import { GRAMMAR } from '../grammar.js';
import { habitOf } from '../habits/habits.js';
import { actionsAbout, meantAction } from '../habits/meant-action.js';
import type { ActionFacts } from '../catalogue.js';
import { compileCondition, compileList } from './compile-expression.js';
import { checkOffered } from './compile-lookup.js';
import { compileParams } from './compile-params.js';
import { checkStepConstants, itemParams, usesItem } from './check-constants.js';
import { looksLikeExpression } from './looks-like-expression.js';
import { compileTemplate } from './compile-template.js';
import type { FileContext, Scope } from './file-context.js';
import type { Expression, StepProgram } from './program.js';
import { where, withItem } from './variable-types.js';

const MAX_STEPS = 50;
/** A message names so many actions, and no more. */
const MANY_ACTIONS = 30;

/** `do` and `fix`: one step or a list of them. */
export function compileSteps(
  context: FileContext,
  node: YamlNode,
  scope: Omit<Scope, 'hasItem'>,
  shape: 'step' | 'fix' = 'step',
): StepProgram[] {
  const nodes = node.kind === 'list' ? node.items : [node];
  if (node.kind === 'list' && nodes.length === 0)
    context.file.problem(node.start, 'do is an empty list: the rule would do nothing');
  if (nodes.length > MAX_STEPS)
    context.file.problem(node.start, `a rule may have ${MAX_STEPS} steps, this has ${nodes.length}`);
  const ids = new Set<string>();
  warnOfTwins(context.file, nodes);
  return nodes.flatMap((step, no) => {
    const program = compileStep(context, step, no, ids, scope, shape);
    return program ? [program] : [];
  });
}

/** The second of two equal steps finds what the first has done. */
function warnOfTwins(file: FileContext['file'], nodes: readonly YamlNode[]): void {
  const seen = new Map<string, number>();
  for (const node of nodes) {
    const text = canonicalJson(nodeToJson(node));
    const first = seen.get(text);
    if (first === undefined) seen.set(text, node.start);
    else if (node.kind === 'map')
      file.warn(node.start, `this step is the same as the one in line ${file.position(first).line}`, 'take one out');
  }
}

interface WrittenStep {
  action: string;
  actionStart: number;
  params: readonly YamlEntry[];
  keys: ReadMap<'step' | 'fix'>;
}

function compileStep(
  context: FileContext,
  node: YamlNode,
  no: number,
  ids: Set<string>,
  outer: Omit<Scope, 'hasItem'>,
  shape: 'step' | 'fix',
): StepProgram | null {
  const { file } = context;
  const written = readStep(context, node, shape);
  if (!written) return null;
  const { keys } = written;
  const action = findAction(context, written, outer);
  if (action?.sends && shape === 'fix')
    file.problem(
      written.actionStart,
      `a policy would ${action.name} again with each of its plans`,
      'use a rule: it sends once for each event, or for each run of its schedule',
    );
  if (action?.laterSteps && shape === 'fix')
    file.problem(
      written.actionStart,
      `${action.name} has several steps, and a policy does all at once`,
      'use a rule: each of its steps waits for the one before',
    );
  const scope: Scope = { ...outer, hasItem: false };
  const read = (text: Text | null, of: Scope, compile: typeof compileCondition): Expression | null =>
    text && compile(context, text, of);
  const forEach = read(keys.value('for_each'), scope, compileList);
  const item: Scope = { ...outer, hasItem: keys.has('for_each'), types: withItem(outer.types, forEach?.type) };
  const when = read(keys.value('when'), item, compileCondition);
  const unless = read(keys.value('unless'), item, compileCondition);
  const inside: Scope = { ...item, types: where(where(item.types, when, true), unless, false) };
  const keyEntry = keys.entries.get('key');
  if (keyEntry && !keys.has('for_each'))
    file.problem(keyEntry.keyStart, 'key names the items of for_each, and there is none');
  const keyText = keys.value('key');
  const key = keyText && compileTemplate(context, keyText, inside);
  const firstEntry = keys.entries.get('first');
  if (firstEntry && !keys.has('for_each'))
    file.problem(firstEntry.keyStart, 'first cuts the items of for_each, and there is none');
  const first = keys.value('first');
  const id = uniqueId(context, keys.value('id'), action?.name ?? written.action, ids, node.start);
  const approval = readApproval(context, keys.node('approval'));
  if (!action) return null;
  const params = compileParams(context, written.params, written.actionStart, action, inside);
  const listEntry = keys.entries.get('for_each');
  const own = itemParams(action, params);
  if (listEntry && keyEntry === undefined && action.params[action.naturalKey] === undefined) {
    file.problem(
      listEntry.keyStart,
      `${action.name} has no parameter that distinguishes the items`,
      'add key: "${{ … }}"',
    );
  }
  const step = {
    id,
    no,
    action,
    params,
    when,
    unless,
    forEach,
    first,
    key,
    approval,
    position: file.position(node.start),
  };
  const isSameEach =
    ![key, ...params.map(({ template }) => template)].some((template) => template && usesItem(template)) &&
    ![when, unless].some((condition) => condition?.compiled.paths.some(({ segments: [root] }) => root === 'item'));
  if (forEach && isSameEach && written.params.length > 0)
    context.file.warnAt(
      forEach.start,
      'nothing in this step reads item: it does the same for each item of for_each',
      '"${{ item… }}" in a parameter, or no for_each',
    );
  else if (forEach && keyEntry === undefined && own.length > 0 && !own.some(({ template }) => usesItem(template)))
    context.file.warnAt(
      forEach.start,
      `each item has the same key (${own.map(({ name }) => name).join(', ')}): with two items the run ends with an error`,
      'distinguish them: key: "${{ item… }}"',
    );
  checkStepConstants(context, step, { entries: written.params, start: written.actionStart });
  if (key?.kind === 'constant' && keyEntry && listEntry)
    file.newProblem(
      keyEntry.value.start,
      'key is the same for each item of for_each',
      looksLikeExpression(String(key.value))?.write ?? 'distinguish them: key: "${{ item… }}"',
    );
  return step;
}

/** `{use, with, …}`, or the short form `{label.ensure: {…}}` with the same modifiers beside it: the action with a place of its own. */
function readStep(context: FileContext, node: YamlNode, shape: 'step' | 'fix'): WrittenStep | null {
  const { file, env } = context;
  const map = asMap(file, node, 'a step');
  if (!map) return null;
  const short = map.entries.filter(({ key }) => key.includes('.') || env.actions.has(key));
  const [action, second] = short;
  if (action) {
    const others = map.entries.filter((entry) => !short.includes(entry));
    return readShort(context, { ...map, entries: others }, shape, action, second);
  }
  // A word that is no key may be an action of another tool.
  const foreignWord = map.entries.some(({ key }) => key === 'use')
    ? undefined
    : map.entries.find(
        ({ key }) => !Object.hasOwn(GRAMMAR[shape].keys, key) && !isWordOf(shape, key) && isLikeAction(env, key),
      );
  if (foreignWord) {
    file.problem(foreignWord.keyStart, `there is no action "${foreignWord.key}"`, actionHint(env, foreignWord.key));
    return null;
  }
  const keys = readMap(file, map, shape);
  const use = keys?.value('use');
  if (!keys || !use) return null;
  const withNode = keys.node('with');
  const params = withNode ? asMap(file, withNode, 'with') : null;
  return withNode && !params
    ? null
    : { action: use.value, actionStart: use.start, params: params?.entries ?? [], keys };
}

function readShort(
  { file }: FileContext,
  others: YamlMap,
  shape: 'step' | 'fix',
  action: YamlEntry,
  second: YamlEntry | undefined,
): WrittenStep | null {
  const use = others.entries.find(({ key }) => key === 'use');
  const another = second ?? use;
  if (another)
    file.problem(
      another.keyStart,
      'a step does one thing',
      'put the second action into a step of its own: do is a list then',
    );
  const parameters = others.entries.find(({ key }) => key === 'with');
  if (parameters)
    file.problem(parameters.keyStart, `with belongs to use: here the parameters stand under ${action.key}`);
  const { key, keyStart: start } = action;
  const name: YamlEntry = { key: 'use', keyStart: start, value: { kind: 'scalar', start, value: key, style: 'plain' } };
  const entries = [name, ...others.entries.filter((entry) => entry !== use && entry !== parameters)];
  const keys = readMap(file, { ...others, entries }, shape);
  if (!keys || isRefused(action.value)) return null;
  const isEmpty = action.value.kind === 'scalar' && action.value.value === null;
  const params = isEmpty ? null : asMap(file, action.value, key);
  return params || isEmpty ? { action: key, actionStart: start, params: params?.entries ?? [], keys } : null;
}

function isLikeAction({ actions }: FileContext['env'], name: string): boolean {
  return habitOf('action', name) !== null || meantAction(name, [...actions.keys()]) !== null;
}

/** What is meant, else what there is about the same object, else all. */
function actionHint({ actions }: FileContext['env'], name: string): string | undefined {
  const habit = habitOf('action', name);
  if (habit) return `write ${habit}`;
  const names = [...actions.keys()];
  const nearest = meantAction(name, names);
  if (nearest !== null) return `did you mean "${nearest}"?`;
  const about = actionsAbout(name, names);
  const choices = about.length > 0 ? about : names;
  return choices.length > 0 && choices.length <= MANY_ACTIONS ? `there are: ${choices.join(', ')}` : undefined;
}

function findAction(
  context: FileContext,
  { action: name, actionStart }: WrittenStep,
  scope: Omit<Scope, 'hasItem'>,
): ActionFacts | null {
  const { env, file } = context;
  const action = env.actions.get(name);
  if (!action) {
    const isLookup = env.lookups.has(name);
    file.problem(
      actionStart,
      `there is no action "${name}"`,
      isLookup ? 'it is a lookup: it belongs under lookup' : actionHint(env, name),
    );
    return null;
  }
  checkPower(context, actionStart, action);
  checkOffered(context, actionStart, name, action.requires ?? []);
  if (action.target === 'repository' && !scope.hasRepo) {
    file.problem(
      actionStart,
      `${name} acts on a repository, and this rule runs once for the organization`,
      'to run for each repository say where: {repo: [...]}',
    );
  }
  return action;
}

export function checkPower({ file, env }: FileContext, start: number, { name, power }: ActionFacts): void {
  if (power === undefined || env.powers.has(power)) return;
  const hint = `orgs[].powers: [${power}] in the operator's config`;
  file.problem(start, `${name} needs the power "${power}", which the operator did not grant to ${env.org}`, hint);
}

/** `owners`, `plan` and `true` say the same: whoever may give orders to the bot; in a policy it is the plan that is approved. */
function readApproval(context: FileContext, value: YamlNode | undefined): StepProgram['approval'] {
  if (!value) return false;
  const { file } = context;
  if (value.kind === 'scalar' && value.value === 'two-people') {
    checkApprovers(context, value.start);
    return 'two-people';
  }
  if (
    value.kind === 'scalar' &&
    (typeof value.value === 'boolean' || value.value === 'owners' || value.value === 'plan')
  )
    return value.value !== false;
  if (!isRefused(value))
    file.problem(value.start, 'approval must be "owners", "two-people", true or false', 'approval: owners');
  return true;
}

/** A second person can only approve where there are two who may. */
export function checkApprovers({ file, env }: FileContext, start: number): void {
  const { approvers } = env;
  if (approvers === undefined || approvers >= 2) return;
  const count = approvers === 1 ? 'only one operator' : 'no operator';
  file.problem(
    start,
    `approval: two-people takes two operators who may approve, and there is ${count}`,
    'forgehand operators add NAME --scopes approve',
  );
}

function uniqueId({ file }: FileContext, text: Text | null, action: string, ids: Set<string>, start: number): string {
  let id = text?.value ?? action;
  if (ids.has(id) && text) file.problem(text.start, `two steps have the id "${id}"`);
  for (let n = 2; ids.has(id) && !text; n += 1) id = `${action}-${n}`;
  if (ids.size > 10 * MAX_STEPS) file.problem(start, 'too many steps');
  ids.add(id);
  return id;
}
