import type { FileContext } from './file-context.js';
import type { Expression, LookupProgram, RuleProgram, StepProgram, Template } from './program.js';

type Parts = Pick<RuleProgram, 'conditions' | 'lookups' | 'steps' | 'coalesce'>;

const CONDITION =
  '"event == null || …" holds on a tick too, "event != null && …" never does; or make a rule of its own for the schedule';
const VALUE = '"event == null ? … : event.…" says what it is then; or leave the step out with when: event != null';
const READ = '"event == null ? … : event.…" says what it is then; or make a rule of its own for the schedule';

/**
 * A rule with `on` and `schedule` also decides on ticks, where `event` is null: what reads a field of it there would fail each time. Told is
 * what a tick comes to, in the order of deciding: a condition that is then false ends it, and so does the `when` of a step.
 */
export function checkOnTick({ file }: FileContext, { conditions, lookups, steps, coalesce }: Parts): void {
  const tell = (hint: string, ...expressions: readonly Expression[]): void => {
    for (const { compiled, positionOf } of expressions) {
      const { fails } = compiled.whenNull('event');
      if (fails !== null)
        file.problemAt(
          positionOf(fails),
          'on a tick of the schedule there is no event: event is null, and this fails',
          hint,
        );
    }
  };
  if (coalesce) tell('"event == null ? … : event.…" says what it is then', ...inTemplate(coalesce.key));
  // One that waits for a read does not end it before the read is made.
  if (conditions.some(({ expression }) => expression.lookups.size === 0 && onTick(expression) === false)) return;
  tell(CONDITION, ...conditions.map(({ expression }) => expression));
  const needed = new Set(conditions.flatMap(({ expression }) => [...expression.lookups]));
  for (const step of steps) {
    tell(CONDITION, ...present(step.when, step.unless));
    const reached = reachedOnTick(step);
    tell(VALUE, ...reached);
    for (const { lookups: names } of [...present(step.when, step.unless), ...reached])
      for (const name of names) needed.add(name);
  }
  for (const lookup of neededOf(lookups, needed)) tell(READ, ...inLookup(lookup));
}

function onTick({ compiled }: Expression): boolean | null {
  return compiled.whenNull('event').gives;
}

/** What a step evaluates beside its own conditions. */
function reachedOnTick(step: StepProgram): readonly Expression[] {
  const { when, unless, forEach, key, params } = step;
  const isLeftOut = (when && onTick(when) === false) || (unless && onTick(unless) === true);
  // Conditions about the item are asked for each of them: the list is made first.
  const asksItem = present(when, unless).some(({ compiled }) =>
    compiled.paths.some(({ segments }) => segments[0] === 'item'),
  );
  if (isLeftOut) return asksItem ? present(forEach) : [];
  return [
    ...present(forEach),
    ...(key ? inTemplate(key) : []),
    ...params.flatMap(({ template }) => inTemplate(template)),
  ];
}

/** Those named, and those that they wait for. */
function neededOf(lookups: readonly LookupProgram[], names: ReadonlySet<string>): readonly LookupProgram[] {
  const all = new Set(names);
  // Never in a circle, so this many rounds are enough.
  for (const _ of lookups)
    for (const lookup of lookups) if (all.has(lookup.as)) for (const name of lookup.lookups) all.add(name);
  return lookups.filter(({ as }) => all.has(as));
}

function inLookup({ forEach, params }: LookupProgram): readonly Expression[] {
  return [...present(forEach), ...params.flatMap(({ template }) => inTemplate(template))];
}

function inTemplate(template: Template): readonly Expression[] {
  switch (template.kind) {
    case 'expression':
      return [template.expression];
    case 'text':
      return template.parts.filter((part) => typeof part !== 'string');
    case 'list':
      return template.items.flatMap(inTemplate);
    case 'map':
      return template.entries.flatMap(([, value]) => inTemplate(value));
    default:
      return [];
  }
}

function present(...expressions: ReadonlyArray<Expression | null>): readonly Expression[] {
  return expressions.filter((expression) => expression !== null);
}
