import type { RuleFunction } from '../functions/define-function.js';
import { chargeOf } from './charges.js';
import { MAX_LIST } from './meter.js';
import type { Expr } from './parse-expression.js';
import { WALK } from './functions.js';
import { compileRegex, costOfSearch } from './regex.js';
import { callOf, childrenOf, constantText, elementsOf } from './tree.js';

/** Characters that a text of the forge is taken to have; longer ones are for the meter. */
const TEXT = 4096;
/** The signs of it are taken to be those that are dear. */
const DEAR_TEXT = '}'.repeat(TEXT);
/** Steps of comparing two values and of searching a list, as the meter charges them for usual ones. */
const COMPARE_STEPS = 100;
const COMPARE_CONSTANT_STEPS = TEXT / 800;
/** Of matching a path of usual length. */
const PATH_STEPS = 4;
/** A pattern that only the run tells. */
const UNKNOWN_PATTERN_STEPS = 1000;

const COMPARISONS = new Set(['_==_', '_!=_', '@in']);
/** Functions of ours, by name. */
type Own = ReadonlyMap<string, RuleFunction>;

const FREE = new Set(['_&&_', '_||_', '!_', '_?_:_', '_[_]', '@not_strictly_false', '__not_strictly_false__']);
const GLOBS = new Set(['any_glob', 'all_glob']);

/**
 * The most steps an expression can take, told from its text: every loop walks the longest list that may be walked. What stays below the
 * budget of a decision passes whatever it is given; anything else passes only where the lists turn out short.
 */
export function worstCase(expr: Expr | undefined, own: Own): number {
  if (!expr) return 0;
  const { exprKind } = expr;
  switch (exprKind.case) {
    case 'callExpr':
      return sum(childrenOf(expr), own) + ownCost(exprKind.value.function, childrenOf(expr), own);
    case 'comprehensionExpr': {
      const { iterRange, accuInit, loopCondition, loopStep, result } = exprKind.value;
      const turn = 1 + worstCase(loopCondition, own) + worstCase(loopStep, own);
      return worstCase(iterRange, own) + worstCase(accuInit, own) + turnsOf(iterRange) * turn + worstCase(result, own);
    }
    default:
      return sum(childrenOf(expr), own);
  }
}

function sum(all: readonly Expr[], own: Own): number {
  return all.reduce((total, one) => total + worstCase(one, own), 0);
}

/** A list that is written out is as long as it is; of any other the longest is taken. */
function turnsOf(range: Expr | undefined): number {
  const call = callOf(range);
  return elementsOf(call?.function === WALK ? call.args[0] : range)?.length ?? MAX_LIST;
}

function ownCost(name: string, args: readonly Expr[], own: Own): number {
  if (FREE.has(name)) return 0;
  if (name === 'matches') return searchCost(args.at(-1));
  if (COMPARISONS.has(name)) return 1 + (args.some((arg) => isConstant(arg)) ? COMPARE_CONSTANT_STEPS : COMPARE_STEPS);
  if (GLOBS.has(name)) return 1 + args.reduce((pairs, arg) => pairs * turnsOf(arg), 1);
  if (name === 'glob') return 1 + PATH_STEPS;
  if (!/^[a-z]/i.test(name)) return 1;
  const samples = args.map(sampleOf);
  const definition = own.get(name);
  if (definition?.searches !== undefined) return definition.searches * searchCost(args.at(-1));
  return (
    1 +
    Math.ceil(
      definition ? definition.charge(samples as never[]) : chargeOf(name === 'quote' ? 'strings.quote' : name)(samples),
    )
  );
}

/** A text that is written out, else a long one: what takes no text does not look at it. */
function sampleOf(expr: Expr): string {
  return constantText(expr) ?? DEAR_TEXT;
}

function isConstant(expr: Expr): boolean {
  return expr.exprKind.case === 'constExpr' || elementsOf(expr)?.every(isConstant) === true;
}

function searchCost(pattern: Expr | undefined): number {
  const text = constantText(pattern);
  return text === undefined ? UNKNOWN_PATTERN_STEPS : costOfSearch(compileRegex(text), 'a'.repeat(TEXT));
}
