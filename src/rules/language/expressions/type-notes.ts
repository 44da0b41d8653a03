import type { JsonObject } from '../../../core/json.js';
import type { TypeProblem } from '../expression-engine.js';
import type { Expr, ParsedExpression } from './parse-expression.js';
import { firstIn } from './tree.js';
import { fieldOffset } from './words.js';

/** What is wrong in an expression, and what is probably not meant so, each with its place. */
export class TypeNotes {
  readonly problems: TypeProblem[] = [];
  readonly warnings: TypeProblem[] = [];

  constructor(
    readonly parsed: ParsedExpression,
    readonly source: string,
    /** Constants of the file. */
    readonly vars: JsonObject = {},
  ) {}

  offset(expr: Expr): number {
    const at = this.parsed.sourceInfo?.positions[String(expr.id)] ?? 0;
    // The parser counts the space before some operators to them.
    return at + (/^\s*/.exec(this.source.slice(at))?.[0].length ?? 0);
  }

  warn(expr: Expr, message: string, hint: string | null): void {
    const offset = this.offset(firstIn(expr));
    if (!this.warnings.some((one) => one.message === message)) this.warnings.push({ offset, message, hint });
  }

  /** What is a warning where the file was active before: the check is newer than others. */
  newProblem(expr: Expr, message: string, hint: string | null): void {
    const offset = this.offset(expr);
    if (!this.problems.some((one) => one.offset === offset && one.message === message))
      this.problems.push({ offset, message, hint, isNew: true });
  }

  problem(expr: Expr, message: string, hint: string | null = null, field?: string): void {
    const name = field ?? (expr.exprKind.case === 'selectExpr' ? expr.exprKind.value.field : undefined);
    const at = name === undefined ? this.offset(expr) : fieldOffset(this.source, this.offset(expr), name);
    if (!this.problems.some(({ offset, message: other }) => offset === at && other === message))
      this.problems.push({ offset: at, message, hint });
  }
}
