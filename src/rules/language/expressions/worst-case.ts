import type { RuleFunction } from '../functions/define-function.js';
import { chargeOf } from './charges.js';
import { MAX_LIST } from './meter.js';
import type { Expr } from './parse-expression.js';
import { compileRegex, costOfSearch } from './regex.js';

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
    case 'selectExpr':
      return worstCase(exprKind.value.operand, own);
    case 'listExpr':
      return sum(exprKind.value.elements, own);
    case 'structExpr':
      return exprKind.value.entries.reduce(
        (total, { keyKind, value }) =>
          total + worstCase(value, own) + (keyKind.case === 'mapKey' ? worstCase(keyKind.value, own) : 0),
        0,
      );
    case 'callExpr': {
      const { function: name, target, args } = exprKind.value;
      return worstCase(target, own) + sum(args, own) + ownCost(name, target ? [target, ...args] : args, own);
    }
    case 'comprehensionExpr': {
      const { iterRange, accuInit, loopCondition, loopStep, result } = exprKind.value;
      const turn = 1 + worstCase(loopCondition, own) + worstCase(loopStep, own);
      return worstCase(iterRange, own) + worstCase(accuInit, own) + turnsOf(iterRange) * turn + worstCase(result, own);
    }
    default:
      return 0;
  }
}

function sum(all: readonly Expr[], own: Own): number {
  return all.reduce((total, one) => total + worstCase(one, own), 0);
}

/** A list that is written out is as long as it is; of any other the longest is taken. */
function turnsOf(range: Expr | undefined): number {
  const inner =
    range?.exprKind.case === 'callExpr' && range.exprKind.value.function === '@walk'
      ? range.exprKind.value.args[0]
      : range;
  return inner?.exprKind.case === 'listExpr' ? inner.exprKind.value.elements.length : MAX_LIST;
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
  return (
    1 +
    Math.ceil(
      definition ? definition.charge(samples as never[]) : chargeOf(name === 'quote' ? 'strings.quote' : name)(samples),
    )
  );
}

/** A text that is written out, else a long one: what takes no text does not look at it. */
function sampleOf({ exprKind }: Expr): string {
  const kind = exprKind.case === 'constExpr' ? exprKind.value.constantKind : null;
  return kind?.case === 'stringValue' ? kind.value : DEAR_TEXT;
}

function isConstant({ exprKind }: Expr): boolean {
  return exprKind.case === 'constExpr' || (exprKind.case === 'listExpr' && exprKind.value.elements.every(isConstant));
}

function searchCost(pattern: Expr | undefined): number {
  const kind = pattern?.exprKind.case === 'constExpr' ? pattern.exprKind.value.constantKind : null;
  if (kind?.case !== 'stringValue') return UNKNOWN_PATTERN_STEPS;
  return costOfSearch(compileRegex(kind.value), 'a'.repeat(TEXT));
}
