import { MAX_LIST } from './meter.js';
import type { Expr } from './parse-expression.js';
import { compileRegex, costOfSearch } from './regex.js';

/** Characters that a text of the forge is taken to have; longer ones are for the meter. */
const TEXT = 4096;
/** Steps of reading a text of that length once, of comparing two values, of searching a list: as the meter charges them. */
const TEXT_STEPS = TEXT / 256;
const COMPARE_STEPS = 100;
const COMPARE_CONSTANT_STEPS = TEXT / 800;
/** A pattern that only the run tells. */
const UNKNOWN_PATTERN_STEPS = 1000;

const COMPARISONS = new Set(['_==_', '_!=_', '@in']);
const FREE = new Set(['_&&_', '_||_', '!_', '_?_:_', '_[_]', '@not_strictly_false', '__not_strictly_false__']);
const GLOBS = new Set(['any_glob', 'all_glob']);
const TEXT_FUNCTIONS = new Set([
  'contains',
  'startsWith',
  'endsWith',
  'replace',
  'split',
  'join',
  'format',
  'lowerAscii',
  'upperAscii',
  'trim',
  'indexOf',
]);

/**
 * The most steps an expression can take, told from its text: every loop walks the longest list that may be walked. What stays below the
 * budget of a decision passes whatever it is given; anything else passes only where the lists turn out short.
 */
export function worstCase(expr: Expr | undefined): number {
  if (!expr) return 0;
  const { exprKind } = expr;
  switch (exprKind.case) {
    case 'selectExpr':
      return worstCase(exprKind.value.operand);
    case 'listExpr':
      return sum(exprKind.value.elements);
    case 'structExpr':
      return exprKind.value.entries.reduce(
        (total, { keyKind, value }) =>
          total + worstCase(value) + (keyKind.case === 'mapKey' ? worstCase(keyKind.value) : 0),
        0,
      );
    case 'callExpr': {
      const { function: name, target, args } = exprKind.value;
      return worstCase(target) + sum(args) + ownCost(name, args);
    }
    case 'comprehensionExpr': {
      const { iterRange, accuInit, loopCondition, loopStep, result } = exprKind.value;
      const turn = 1 + worstCase(loopCondition) + worstCase(loopStep);
      return worstCase(iterRange) + worstCase(accuInit) + turnsOf(iterRange) * turn + worstCase(result);
    }
    default:
      return 0;
  }
}

function sum(all: readonly Expr[]): number {
  return all.reduce((total, one) => total + worstCase(one), 0);
}

/** A list that is written out is as long as it is; of any other the longest is taken. */
function turnsOf(range: Expr | undefined): number {
  const inner =
    range?.exprKind.case === 'callExpr' && range.exprKind.value.function === '@walk'
      ? range.exprKind.value.args[0]
      : range;
  return inner?.exprKind.case === 'listExpr' ? inner.exprKind.value.elements.length : MAX_LIST;
}

function ownCost(name: string, args: readonly Expr[]): number {
  if (FREE.has(name)) return 0;
  if (name === 'matches') return searchCost(args.at(-1));
  if (COMPARISONS.has(name)) return 1 + (args.some((arg) => isConstant(arg)) ? COMPARE_CONSTANT_STEPS : COMPARE_STEPS);
  if (GLOBS.has(name)) return 1 + args.reduce((pairs, arg) => pairs * turnsOf(arg), 1);
  return 1 + (TEXT_FUNCTIONS.has(name) ? TEXT_STEPS : 0);
}

function isConstant({ exprKind }: Expr): boolean {
  return exprKind.case === 'constExpr' || (exprKind.case === 'listExpr' && exprKind.value.elements.every(isConstant));
}

function searchCost(pattern: Expr | undefined): number {
  const kind = pattern?.exprKind.case === 'constExpr' ? pattern.exprKind.value.constantKind : null;
  if (kind?.case !== 'stringValue') return UNKNOWN_PATTERN_STEPS;
  return costOfSearch(compileRegex(kind.value), 'a'.repeat(TEXT));
}
