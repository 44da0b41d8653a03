import type { ParamProgram, PolicyItem, StepProgram } from '../compile/program.js';
import type { CompiledPolicy, CompiledRule } from '../revision.js';
import type { ActionFacts } from '../catalogue.js';
import type { Position } from '../../../core/problem.js';
import { sameRepository } from './writers.js';

interface CreateProblem {
  readonly position: Position;
  readonly message: string;
  readonly hint: string;
}

/**
 * `issue.label` with `create: true`: labels that a policy defines are made first, as that policy would, each by a step of its own. So a new
 * repository needs no night to pass before rules can label in it, and colours stand in one place.
 */
export function createLabels(
  rules: readonly CompiledRule[],
  policies: readonly CompiledPolicy[],
  ensure: ActionFacts | undefined,
  org: string,
): { rules: CompiledRule[]; problems: CreateProblem[] } {
  const problems: CreateProblem[] = [];
  const made = rules.map((rule) => {
    const steps = rule.program.steps.flatMap((step) => [...before(rule, step), step]);
    const more = steps.length - rule.program.steps.length;
    if (more === 0 || !ensure) return rule;
    const { limits } = rule;
    return {
      ...rule,
      limits: limits && { ...limits, effectsPerRun: limits.effectsPerRun + more },
      operations: rule.disabled === null ? [...new Set([...rule.operations, ...ensure.operations])].sort() : [],
      program: { ...rule.program, steps: steps.map((step, no) => ({ ...step, no })) },
    };
  });
  return { rules: made, problems };

  function before(rule: CompiledRule, step: StepProgram): StepProgram[] {
    const create = step.params.find(({ name }) => name === 'create');
    const wanted = step.params.filter(({ name }) => step.action.params[name]?.refersTo === 'label');
    if (wanted.length === 0 || !create || constantOf(create) === false) return [];
    const names = wanted.flatMap(namesOf);
    if (constantOf(create) !== true || names.includes(null)) {
      problems.push({
        position: create.position,
        message: 'create: true is for labels that are written out',
        hint: 'add: [kind/bug]; other labels are made by label.ensure',
      });
      return [];
    }
    return [...new Set(names)].flatMap((name) => {
      const item = name === null ? undefined : definitionOf(name, rule);
      if (item && ensure) return [stepOf(step, ensure, item, name ?? '')];
      problems.push({
        position: create.position,
        message: `no policy defines the label ${name} for the repositories of this rule`,
        hint: 'policies: [{…, labels: [{name: …, color: …}]}], or leave out create',
      });
      return [];
    });
  }

  function definitionOf(name: string, rule: CompiledRule): PolicyItem | undefined {
    return policies
      .filter(
        ({ program }) => program.scope === 'repository' && sameRepository(program.subjects, rule.program.where, org),
      )
      .flatMap(({ program }) => program.parts.filter(({ section }) => section === 'labels'))
      .flatMap(({ items }) => items)
      .find(
        ({ params }) =>
          params.every(({ template }) => template.kind === 'constant') &&
          params.some((param) => param.name === 'name' && constantOf(param) === name),
      );
  }
}

/** It leaves a label that is there as it is: what differs is for the policy to mend. */
function stepOf(step: StepProgram, action: ActionFacts, { params, position }: PolicyItem, name: string): StepProgram {
  const keep: ParamProgram = {
    name: 'keep',
    type: 'boolean',
    required: false,
    template: { kind: 'constant', value: true },
    position,
  };
  const isEach = step.forEach !== null;
  return {
    ...step,
    id: `${step.id}: label ${name}`,
    action,
    params: [...params.filter((param) => param.name !== 'keep' && param.name !== 'renamed_from'), keep],
    // Whether there is an item at all is not asked: a label that nobody bears yet does no harm.
    when: isEach ? null : step.when,
    unless: isEach ? null : step.unless,
    forEach: null,
    first: null,
    key: null,
  };
}

function constantOf({ template }: ParamProgram): unknown {
  return template.kind === 'constant' ? template.value : undefined;
}

/** Null stands for a name that only the run tells. */
function namesOf(param: ParamProgram): Array<string | null> {
  const { template } = param;
  const written = template.kind === 'list' ? template.items : [template];
  return written
    .flatMap((one) => (one.kind === 'constant' ? one.value : null))
    .map((name) => (typeof name === 'string' ? name : null));
}
