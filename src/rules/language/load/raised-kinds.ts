import type { EventKind } from '../../../core/event-kinds.js';
import type { Json } from '../../../core/json.js';
import type { ParamProgram, StepProgram } from '../compile/program.js';
import { emptyTable } from '../../../core/table.js';
import type { WrittenInputs, WrittenParam } from '../catalogue.js';
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
export function raisesOf({ action: { raises = [], effect }, params }: Step): readonly EventKind[] {
  const { mayRaise } = effect ?? {};
  if (!mayRaise) return raises;
  const inputs = writtenInputs(params);
  return raises.filter((kind) => mayRaise(kind, inputs));
}

/** Parameters, as far as they are known before a run. */
export function writtenInputs(params: readonly ParamProgram[]): WrittenInputs {
  const inputs = emptyTable<WrittenParam>();
  for (const { name, template } of params) {
    const [first] = template.kind === 'text' ? template.parts : [];
    inputs[name] =
      template.kind === 'constant' ? { value: template.value } : { prefix: typeof first === 'string' ? first : '' };
  }
  return inputs;
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

/** Of these, the kinds that can be told to be its own. */
export function knownKindsOf(step: Step): readonly EventKind[] {
  const { echoes = [], effect } = step.action;
  const inputs = writtenInputs(step.params);
  return raisesOf(step).filter((kind) => echoes.includes(kind) && effect?.isKnown?.(kind, inputs) !== false);
}

export function constantIn(params: readonly ParamProgram[], name: string): Json | undefined {
  const template = params.find((one) => one.name === name)?.template;
  return template?.kind === 'constant' ? template.value : undefined;
}
