import type { EventKind } from '../../../core/event-kinds.js';
import type { Json } from '../../../core/json.js';
import type { ParamProgram, StepProgram } from '../compile/program.js';
import type { CompiledPolicy, CompiledRule } from '../revision.js';

/** Something that is written, and the conditions of it alone. */
type Step = Pick<StepProgram, 'action' | 'params' | 'when' | 'unless'>;

/** Steps of a rule, or what all sections of a policy write. */
export function stepsOf({ program }: CompiledRule | CompiledPolicy): Step[] {
  if ('steps' in program) return [...program.steps];
  const written = program.parts.flatMap(({ action, items }) =>
    items.map(({ params }): Step => ({ action, params, when: null, unless: null })),
  );
  return [...written, ...program.fixes.map(({ step }) => step)];
}

/** Of what its action may raise, what it does raise with these values. */
export function raisesOf({ action: { name, raises = [] }, params }: Step): readonly EventKind[] {
  const has = (param: string): boolean => params.some((one) => one.name === param);
  const keep = (pattern: RegExp): readonly EventKind[] => raises.filter((kind) => pattern.test(kind));
  if (name === 'issue.state') {
    const state = constantIn(params, 'state');
    return state === 'closed' ? keep(/closed$/) : state === 'open' ? keep(/reopened$/) : raises;
  }
  if (name === 'issue.assign' && !has('remove')) return keep(/\.assigned$/);
  if (name === 'issue.milestone' && has('title')) return keep(/\.milestoned$/);
  if (name === 'issue.milestone') return keep(/\.demilestoned$/);
  if (name === 'pull_request.merge' && (!has('delete_branch') || constantIn(params, 'delete_branch') === false))
    return keep(/^(?!branch\.deleted$)/);
  return raises;
}

/** The same, of a step of a rule: what names its issue or pull request may tell which of both it is. */
export function raisesIn(step: Step, on: readonly EventKind[]): readonly EventKind[] {
  const number = step.params.find(({ name }) => name === 'number')?.template;
  const source = number?.kind === 'expression' ? number.expression.compiled.source.trim() : '';
  const areAll = (pattern: RegExp): boolean => on.length > 0 && on.every((kind) => pattern.test(kind));
  const isOfEvent = source === 'event.number';
  const isPull = source === 'event.pull_request.number' || (isOfEvent && areAll(/^(?:pull_request|review)\./));
  const isIssue = (isOfEvent || source === 'event.issue.number') && areAll(/^issue\./);
  const other = isPull ? 'issue.' : isIssue ? 'pull_request.' : null;
  return raisesOf(step).filter((kind) => other === null || !kind.startsWith(other));
}

/** Of these, the kinds that can be told to be its own. The commits of a rebase name neither the pull request nor its head. */
export function knownKindsOf(step: Step): readonly EventKind[] {
  const { name, echoes = [] } = step.action;
  const isRebase = name === 'pull_request.merge' && constantIn(step.params, 'method') === 'rebase';
  return raisesOf(step).filter((kind) => echoes.includes(kind) && !(isRebase && kind === 'push'));
}

export function constantIn(params: readonly ParamProgram[], name: string): Json | undefined {
  const template = params.find((one) => one.name === name)?.template;
  return template?.kind === 'constant' ? template.value : undefined;
}
