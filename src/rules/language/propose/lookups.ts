import type { Json } from '../../../core/json.js';
import type { LookupProgram, RuleProgram } from '../compile/program.js';
import type { LookupAnswers, LookupRequest } from '../revision.js';
import { toJson } from '../values/to-json.js';
import { FACTS, FACTS_USE } from './asked-facts.js';
import type { Bindings } from './bindings.js';
import { evaluateExpression, evaluateParams } from './evaluate-template.js';
import { Misfit } from './misfit.js';

/** Thrown where a decision cannot go on without a read; the caller of the decision gets the request. */
export class NeedsLookup extends Error {
  constructor(readonly request: LookupRequest) {
    // It is thrown on the common way of deciding: a stack would cost more than all the rest, and nobody reads it.
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(`needs ${request.use}`);
    Error.stackTraceLimit = limit;
  }
}

/** What the bot knows of itself: asked for and recorded like any other read, so that a decision can be made again. */
const FACTS_LOOKUP: LookupProgram = {
  as: FACTS,
  use: FACTS_USE,
  params: [],
  onMissing: 'none',
  forEach: null,
  max: null,
  first: null,
  cacheS: null,
  lookups: new Set(),
  position: { file: '', line: 0, col: 0 },
};

/** Reads are made one by one, when something needs them, those they depend on first. */
export class Lookups {
  readonly #programs: ReadonlyMap<string, LookupProgram>;

  constructor(
    program: Pick<RuleProgram, 'lookups'>,
    public answers: LookupAnswers,
  ) {
    this.#programs = new Map([...program.lookups, FACTS_LOOKUP].map((lookup) => [lookup.as, lookup]));
  }

  isAnswered(names: ReadonlySet<string>): boolean {
    for (const name of names) if (!Object.hasOwn(this.answers, name)) return false;
    return true;
  }

  /**
   * @throws NeedsLookup for the first read that has no answer yet
   * @throws Misfit when a read failed, gave more than the rule allows, or what it is about does not exist and the rule says that it must
   */
  require(names: ReadonlySet<string>, bindings: Bindings): void {
    if (names.size === 0) return;
    // In the order in which they are written, whatever the order of use: equal input, equal reads.
    for (const [name, lookup] of this.#programs) if (names.has(name)) this.#requireOne(lookup, bindings);
  }

  #requireOne(lookup: LookupProgram, bindings: Bindings): void {
    this.require(lookup.lookups, bindings);
    const answer = Object.hasOwn(this.answers, lookup.as) ? this.answers[lookup.as] : undefined;
    if (!answer) throw new NeedsLookup(requestOf(lookup, bindings));
    if ('failed' in answer)
      throw new Misfit(`lookup "${lookup.as}" (${lookup.use}) failed: ${answer.failed}`, lookup.position);
    if ('missing' in answer && lookup.onMissing === 'fail') {
      throw new Misfit(
        `lookup "${lookup.as}" (${lookup.use}) found nothing (on_missing: none makes it null)`,
        lookup.position,
      );
    }
    if ('value' in answer && Array.isArray(answer.value) && !lookup.forEach)
      checkMax(lookup, answer.value.length, 'its answer has');
  }
}

function requestOf(lookup: LookupProgram, bindings: Bindings): LookupRequest {
  const { as, use, onMissing, cacheS, first } = lookup;
  const base = {
    as,
    use,
    onMissing,
    ...(cacheS === null ? {} : { maxAgeS: cacheS }),
    ...(first === null ? {} : { first }),
  };
  try {
    if (!lookup.forEach) return { ...base, params: evaluateParams(lookup.params, bindings) };
    return {
      ...base,
      params: {},
      each: itemsOf(lookup, bindings).map((item) => evaluateParams(lookup.params, bindings, bindings.with(item))),
    };
  } catch (error) {
    if (error instanceof Misfit) throw new Misfit(`lookup "${as}": ${error.message}`, error.position, error.unknown);
    throw error;
  }
}

function itemsOf(lookup: LookupProgram, bindings: Bindings): Json[] {
  const { forEach } = lookup;
  const list = forEach && evaluateExpression(forEach, bindings);
  if (!Array.isArray(list))
    throw new Misfit(
      `for_each walks a list, this is ${list === null ? 'null' : 'none'}`,
      forEach?.start ?? lookup.position,
    );
  checkMax(lookup, list.length, 'for_each has');
  return list.map(toJson);
}

/** Cutting would decide on a part without saying so: more than expected is an error that names the count. */
function checkMax({ as, max, position, forEach }: LookupProgram, count: number, has: string): void {
  if (max === null || count <= max) return;
  const what = forEach ? 'items, each of them one read' : 'elements';
  throw new Misfit(
    `${forEach ? '' : `lookup "${as}": `}${has} ${count} ${what}; max is ${max} (raise max, or filter the list)`,
    forEach?.start ?? position,
  );
}

type Answer = LookupAnswers[string];

/**
 * The answers of a `for_each`'s reads as the one answer of its lookup: a list in the order of the items. What is missing is null where
 * the rule allows it; the first read that did not come through stands for all.
 */
export function combineAnswers(
  { onMissing }: Pick<LookupRequest, 'onMissing'>,
  answers: readonly Answer[],
  of = answers.length,
): Answer {
  const values: Json[] = [];
  for (const [index, answer] of answers.entries()) {
    const which = `item ${index + 1} of ${of}`;
    if ('failed' in answer) return { failed: `${which}: ${answer.failed}` };
    if ('missing' in answer && onMissing === 'fail')
      return { failed: `${which} found nothing (on_missing: none makes it null)` };
    values.push('value' in answer ? answer.value : null);
  }
  return { value: values };
}
