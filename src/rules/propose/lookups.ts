import type { JsonObject } from '../../core/json.js';
import type { LookupProgram, RuleProgram } from '../compile/program.js';
import type { LookupAnswers, LookupRequest } from '../revision.js';
import type { Bindings } from './bindings.js';
import { evaluateParams } from './evaluate-template.js';
import { Misfit } from './misfit.js';

/** Thrown where a decision cannot go on without a read; the caller of the decision gets the request. */
export class NeedsLookup extends Error {
  constructor(readonly request: LookupRequest) {
    super(`needs ${request.use}`);
  }
}

/** Reads are made one by one, when something needs them, those they depend on first. */
export class Lookups {
  readonly #programs: ReadonlyMap<string, LookupProgram>;

  constructor(
    program: RuleProgram,
    readonly answers: LookupAnswers,
  ) {
    this.#programs = new Map(program.lookups.map((lookup) => [lookup.as, lookup]));
  }

  isAnswered(names: ReadonlySet<string>): boolean {
    return [...names].every((name) => Object.hasOwn(this.answers, name));
  }

  /**
   * @throws NeedsLookup for the first read that has no answer yet
   * @throws Misfit when a read failed, or what it is about does not exist and the rule says that it must
   */
  require(names: ReadonlySet<string>, bindings: Bindings): void {
    // In the order in which they are written, whatever the order of use: equal input, equal reads.
    for (const [name, lookup] of this.#programs) if (names.has(name)) this.#requireOne(lookup, bindings);
  }

  #requireOne(lookup: LookupProgram, bindings: Bindings): void {
    this.require(lookup.lookups, bindings);
    const answer = Object.hasOwn(this.answers, lookup.as) ? this.answers[lookup.as] : undefined;
    if (!answer) throw new NeedsLookup({ as: lookup.as, use: lookup.use, params: paramsOf(lookup, bindings), onMissing: lookup.onMissing });
    if ('failed' in answer) throw new Misfit(`lookup "${lookup.as}" (${lookup.use}) failed: ${answer.failed}`, lookup.position);
    if ('missing' in answer && lookup.onMissing === 'fail') {
      throw new Misfit(`lookup "${lookup.as}" (${lookup.use}) found nothing (on_missing: none makes it null)`, lookup.position);
    }
  }
}

function paramsOf(lookup: LookupProgram, bindings: Bindings): JsonObject {
  try {
    return evaluateParams(lookup.params, bindings);
  } catch (error) {
    if (error instanceof Misfit) throw new Misfit(`lookup "${lookup.as}": ${error.message}`, error.position);
    throw error;
  }
}
