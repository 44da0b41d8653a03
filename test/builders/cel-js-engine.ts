import { Environment } from '@marcbachmann/cel-js';
import { ExpressionError } from '../../src/rules/language/expression-engine.js';
import type { CompiledExpression, ExpressionEngine, ExprValue } from '../../src/rules/language/expression-engine.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { convert, fromCel } from '../../src/rules/language/expressions/cel-values.js';
import { ruleFunctions } from '../../src/rules/language/functions/index.js';

const TYPES: Readonly<Record<string, string>> = {
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
};

interface Span {
  readonly seconds: bigint;
  readonly nanos: number;
}

/** The library exports no durations: its own function gives the class. */
const DurationOf = new Environment().evaluate('duration("1s")').constructor as new (
  seconds: bigint,
  nanos: number,
) => Span;

/**
 * The other CEL library behind the same port, for the differential test and the bench. What an expression is (its paths, types, limits) is
 * told by our own engine, which has the checks that this library lacks; what it gives, by the library. It has no meter and no linear patterns,
 * so nothing of strangers may be run on it.
 */
export class CelJsEngine implements ExpressionEngine {
  readonly #ours = new CelEngine();
  readonly #environment = new Environment({ unlistedVariablesAreDyn: true, enableOptionalTypes: false });
  #now = new Date(0);

  constructor() {
    for (const { name, params, result, run } of ruleFunctions) {
      const signature = `${name}(${params.map(({ type }) => TYPES[type] ?? type).join(', ')}): ${TYPES[result] ?? result}`;
      this.#environment.registerFunction(signature, (...args: unknown[]) =>
        toTheirs(fromCel(convert(run(args.map(fromTheirs) as never[], { now: this.#now, charge: () => undefined })))),
      );
    }
    // Of CEL's functions over texts, this one is missing.
    this.#environment.registerFunction(
      'string.replace(string, string): string',
      (text: string, from: string, to: string) => text.replaceAll(from, () => to),
    );
  }

  compile(source: string, variables: readonly string[]): CompiledExpression {
    const told = this.#ours.compile(source, variables);
    const run = this.#environment.parse(source);
    return {
      ...told,
      evaluate: (bindings) => {
        if (bindings['now'] instanceof Date) this.#now = bindings['now'];
        try {
          return fromTheirs(run(bindings as Record<string, unknown>));
        } catch (error) {
          throw new ExpressionError((error as Error).message);
        }
      },
    };
  }

  bind(value: unknown): unknown {
    return toTheirs(fromCel(convert(value)));
  }
}

function toTheirs(value: ExprValue): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (Array.isArray(value)) return value.map(toTheirs);
  if (isSpan(value)) return new DurationOf(value.seconds, Number(value.nanos));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toTheirs(item)]));
}

function fromTheirs(value: unknown): ExprValue {
  if (typeof value !== 'object' || value === null || value instanceof Date) return value as ExprValue;
  if (value instanceof DurationOf) return { seconds: value.seconds, nanos: value.nanos };
  if (Array.isArray(value)) return value.map(fromTheirs);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fromTheirs(item)]));
}

function isSpan(value: object): value is Span {
  return 'seconds' in value && typeof value.seconds === 'bigint' && 'nanos' in value && Object.keys(value).length === 2;
}
