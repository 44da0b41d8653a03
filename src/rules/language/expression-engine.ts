import type { DataType } from '../../core/data-types.js';
import type { JsonObject } from '../../core/json.js';

/** Values an expression sees and gives: whole numbers bigint, times Date, durations in seconds and nanos, null kept, absent fields absent. */
export type ExprValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Date
  | { seconds: bigint; nanos: number }
  | ExprValue[]
  | { [key: string]: ExprValue };

/** Static type as far as it can be told without running; `dyn` = only known at run time. */
export type ExprType =
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'list'
  | 'map'
  | 'null'
  | 'timestamp'
  | 'duration'
  | 'type'
  | 'dyn';

/** A field path in an expression (`event.release.tag_name`), from a variable on; constant keys and indexes count as fields. */
export interface ExprPath {
  readonly segments: readonly string[];
  /** 0-based offset of its first character. */
  readonly offset: number;
  /** False when the expression goes on with a key that only the run tells (`lookups[name]`). */
  readonly complete: boolean;
  /** The expression only asks whether it is there: `has(…)`, `"name" in …`, `… == null`. */
  readonly tested?: true;
}

/** Work that evaluating may still do, in steps of about a microsecond; shared by the expressions of one decision. */
export interface Budget {
  remaining: number;
  /** Set by each evaluation: turns that its loop took, where the whole expression is one (`all`, `exists`, …); engines that cannot tell leave it. */
  turns?: number;
}

export interface CompiledExpression {
  readonly source: string;
  readonly type: ExprType;
  /** Longest paths only, in order of appearance, those inside `all`, `map`, … included unless they start at the loop variable. */
  readonly paths: readonly ExprPath[];
  /** It gives Markdown that is harmless already, or a text of the rule's own. */
  readonly isMarkdown: boolean;
  /** The most steps it can take, whatever it is given; texts are taken to be of usual length. */
  readonly worstCase: number;
  /**
   * @param bindings every variable named at compile time, raw or as given back by `bind`; what is made of a frozen one is kept for the next time
   * @throws ExpressionError when a field is missing, types do not fit or the budget is spent; never returns undefined
   */
  evaluate(bindings: Readonly<Record<string, unknown>>, budget?: Budget): ExprValue;
  /** What it gives and what in it can never work, against what is known of its variables; those not named are not known. */
  check(variables: VariableTypes, guards: Guards): TypeCheck;
  /** How it goes while this variable is null (`event`, on the tick of a schedule). */
  whenNull(variable: string): NullReading;
}

export interface NullReading {
  /** 0-based offset of the first read of the variable that may fail then; null = none can. */
  readonly fails: number | null;
  /** What it gives then in any case; null = that is told by the rest. */
  readonly gives: boolean | null;
}

export type VariableTypes = Readonly<Record<string, DataType>>;

/** What a rule asks before it looks: `has(event.x)` anywhere among its conditions covers `event.x` in all of it. */
export interface Guards {
  readonly paths: ReadonlySet<string>;
  /** It compares these with null: they may be null, and are there. */
  readonly notNull?: ReadonlySet<string>;
  /** It compares `event.kind`, so that a field need not be told by all kinds. */
  readonly asksKind: boolean;
  /** Constants of the file; absent = none. */
  readonly vars?: JsonObject;
  /** The sources that a filter lets through; absent = all. */
  readonly sources?: ReadonlySet<string>;
}

export interface TypeProblem {
  /** 0-based. */
  readonly offset: number;
  readonly message: string;
  readonly hint: string | null;
  /** Where the file was active before, it is a warning: the check is newer than others. */
  readonly isNew?: boolean;
}

/** Must be true of one field for the whole expression to be true; an empty path is the literal itself. */
export interface Claim {
  readonly path: string;
  readonly operator: '==' | '!=' | '<' | '<=' | '>' | '>=' | 'startsWith' | 'endsWith' | 'contains' | 'matches';
  readonly value: string | boolean | bigint | number | null;
  /** 0-based. */
  readonly offset: number;
}

export interface TypeCheck {
  readonly type: DataType;
  readonly problems: readonly TypeProblem[];
  /** What works, and is probably not meant so. */
  readonly warnings: readonly TypeProblem[];
  readonly claims: readonly Claim[];
  /** Where the event may be of several kinds: those for which a condition may be true, and those for which it may be false. */
  readonly kinds?: { readonly ifTrue: readonly string[]; readonly ifFalse: readonly string[] };
}

export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';

  constructor(
    message: string,
    /** 0-based offset into the expression where the fault lies, when known. */
    readonly offset: number | null = null,
    /** What to write instead, where that is known. */
    readonly hint: string | null = null,
    /** Paths of fields whose values it needs and that are not known; empty = it fails for another reason. */
    readonly unknown: readonly string[] = [],
  ) {
    super(message);
  }
}

/** The CEL port: one adapter at a time, a second one may stand behind it for differential tests. */
export interface ExpressionEngine {
  /** @throws ExpressionError when it does not parse, is too large, nests comprehensions deeper than two, or names an unknown variable or function */
  compile(source: string, variables: readonly string[]): CompiledExpression;
  /** Convert JSON-like data once; the answer may be given as a binding any number of times. */
  bind(value: unknown): unknown;
}
