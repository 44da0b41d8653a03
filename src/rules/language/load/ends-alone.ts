import { canonicalJson } from '../../../core/canonical-json.js';
import type { ActionFacts } from '../catalogue.js';
import type { ParamProgram, Template } from '../compile/program.js';
import { constantIn, writtenInputs } from './raised-kinds.js';
import type { Writer } from './writers.js';

/**
 * Those that can be in an endless chain. Effects are only made where something differs, so a step that writes the same each time makes one
 * effect, unless another one writes otherwise. Where repositories are made, there is always a new place to write to.
 */
export function lasting(writers: readonly Writer[]): Writer[] {
  const grows = writers.some((writer) => makesRepository(writer) && !endsAlone(writer));
  return writers.filter((writer) =>
    makesRepository(writer) || !grows ? !endsAlone(writer) || isOpposed(writer, writers) : true,
  );
}

/** Its second time changes nothing, as long as nobody else writes there. */
export function endsAlone({ action, params }: Writer): boolean {
  const { endsAlone: byItself, makesOnly } = action.effect ?? {};
  if (byItself) return byItself(writtenInputs(params));
  if (makesOnly)
    return params.filter(({ name }) => isKeyOf(action, name)).every(({ template }) => isConstant(template));
  return params.filter(({ name }) => !isNaming(action, name)).every(({ template }) => isConstant(template));
}

/** One makes what the other takes away. */
export function undoEachOther(one: ActionFacts, other: ActionFacts): boolean {
  return one.effect?.undoes === other.name || other.effect?.undoes === one.name;
}

/** Another one writes the same thing otherwise. */
export function isOpposed(writer: Writer, others: readonly Writer[]): boolean {
  const { name, effect } = writer.action;
  return (
    others.some(({ action, params }) => {
      return undoEachOther(action, writer.action) && !areApart(writer, { action, params });
    }) ||
    (!effect?.makesOnly &&
      others.some((other) => other !== writer && other.action.name === name && !writesAlike(writer, other)))
  );
}

/** What both say they say alike: writing one after the other changes nothing. */
function writesAlike({ action, params }: Writer, other: Writer): boolean {
  const written = params.filter(({ name }) => !isNaming(action, name));
  const theirs = other.params.filter(({ name }) => !isNaming(action, name));
  if (action.params['add']) return !listsOppose(params, other.params);
  const { absent } = action.effect ?? {};
  if (absent) return absent.every((name) => isSameOrAbsent(name, params, other.params));
  // Two comments or statuses of other keys do not touch each other.
  if (areApart({ action, params }, other)) return true;
  return written.every(({ name, template }) => {
    const same = theirs.find((one) => one.name === name)?.template;
    return same === undefined || (isConstant(template) && isConstant(same) && sameConstant(template, same));
  });
}

/** They are about two things, by keys that are known. */
function areApart(one: Pick<Writer, 'action' | 'params'>, other: Pick<Writer, 'action' | 'params'>): boolean {
  const keys = [one, other].map(({ action, params }) => constantIn(params, action.naturalKey));
  return keys.every((key) => key !== undefined) && keys[0] !== keys[1];
}

function isSameOrAbsent(name: string, ours: readonly ParamProgram[], theirs: readonly ParamProgram[]): boolean {
  const [left, right] = [ours, theirs].map((all) => all.find((param) => param.name === name)?.template ?? null);
  if (!left || !right) return left === right;
  return sameConstant(left, right);
}

/** One puts on what the other takes off. */
function listsOppose(ours: readonly ParamProgram[], theirs: readonly ParamProgram[]): boolean {
  return takesOff(ours, theirs) || takesOff(theirs, ours);
}

/** Null = only the run tells. */
function namesIn(params: readonly ParamProgram[], name: string): readonly string[] | null {
  const template = params.find((one) => one.name === name)?.template;
  if (!template) return [];
  return template.kind === 'constant' ? [template.value].flat().map(String) : null;
}

function takesOff(ours: readonly ParamProgram[], theirs: readonly ParamProgram[]): boolean {
  const has = (name: string): boolean => ours.some((one) => one.name === name);
  const added = theirs.some(({ name }) => name === 'set') ? namesIn(theirs, 'set') : namesIn(theirs, 'add');
  if (added !== null && added.length === 0) return false;
  const ownLabels = has('set') ? namesIn(ours, 'set') : namesIn(ours, 'add');
  if (has('set')) return added === null || ownLabels === null || added.some((name) => !ownLabels.includes(name));
  const [removed, within] = [namesIn(ours, 'remove'), has('within') ? constantIn(ours, 'within') : null];
  if (removed === null || within === undefined || added === null) return has('remove') || has('within');
  return added.some(
    (name) =>
      removed.includes(name) ||
      (within !== null && name.startsWith(String(within)) && ownLabels?.includes(name) !== true),
  );
}

function sameConstant(a: Template, b: Template): boolean {
  return a.kind === 'constant' && b.kind === 'constant' && canonicalJson(a.value) === canonicalJson(b.value);
}

/** What tells two things apart that the action makes. */
function isKeyOf({ naturalKey, itemBy = [naturalKey] }: ActionFacts, param: string): boolean {
  return itemBy.includes(param);
}

/** Says which thing of those that are there is written to. */
function isNaming({ effect }: ActionFacts, param: string): boolean {
  return ['number', 'id', 'sha', 'run', effect?.refs?.tag, effect?.refs?.branch].includes(param);
}

function isConstant(template: Template | null): boolean {
  return template?.kind === 'constant';
}

export function makesRepository({ action }: Writer): boolean {
  return action.effect?.makesRepository === true;
}
