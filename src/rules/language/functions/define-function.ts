/** Types a function may declare, in the words of the language. */
export type FunctionType = 'string' | 'int' | 'bool' | 'timestamp' | 'duration' | 'list' | 'map' | 'dyn';

/** What a parameter or result of each type is in TypeScript. */
interface TypeOf {
  string: string;
  int: bigint;
  bool: boolean;
  timestamp: Date;
  duration: { seconds: bigint; nanos: number };
  list: unknown[];
  map: Record<string, unknown>;
  dyn: unknown;
}

type ValuesOf<Params extends readonly FunctionParam[]> = { [Index in keyof Params]: TypeOf[Params[Index]['type']] };

export interface FunctionParam {
  readonly name: string;
  readonly type: FunctionType;
}

/** What a function may know beside its arguments. */
export interface FunctionContext {
  /** The `now` of this decision. */
  readonly now: Date;
  /**
   * Steps of work whose size shows only on the way, told before that work begins.
   * @throws Error when the decision has none left
   */
  readonly charge: (steps: number) => void;
}

/** An argument that is written out: a text, or the texts that are written out in a list. */
export type Constant = string | readonly string[];

/** A function of the rule language. Pure: equal arguments (and `now`) give equal results. */
export interface RuleFunction {
  readonly name: string;
  readonly summary: string;
  readonly params: readonly FunctionParam[];
  readonly result: FunctionType;
  /** An expression and what it gives, for the documentation; checked by a test. */
  readonly example: readonly [expression: string, result: string];
  /** Message why constant arguments can never work (checked when a rule is loaded); null = they can. Absent ones are undefined. */
  readonly checkConstants?: (constants: ReadonlyArray<Constant | undefined>) => string | null;
  /** Steps of its work beside the call itself, told by the size of its arguments before it begins; see `expressions/charges.ts`. */
  readonly charge: (args: readonly never[]) => number;
  /** Searches with its last argument as a pattern that it may make in one call, in units of one that only tests. Absent = none. */
  readonly searches?: number;
  /** It gives Markdown in which what others wrote does nothing: where it is the whole expression of a Markdown parameter, nothing is escaped again. */
  readonly markdown?: true;
  /** Patterns that it compiles. */
  readonly patterns?: (args: readonly never[]) => readonly unknown[];
  /** @throws Error with a message for the rule's author when the arguments do not fit */
  readonly run: (args: readonly never[], context: FunctionContext) => unknown;
}

export function defineFunction<const Params extends readonly FunctionParam[], Result extends FunctionType>(
  definition: Omit<RuleFunction, 'params' | 'result' | 'run' | 'charge' | 'patterns'> & {
    params: Params;
    result: Result;
    charge: (args: ValuesOf<Params>) => number;
    patterns?: (args: ValuesOf<Params>) => readonly unknown[];
    run: (args: ValuesOf<Params>, context: FunctionContext) => TypeOf[Result];
  },
): RuleFunction {
  return definition as unknown as RuleFunction;
}
