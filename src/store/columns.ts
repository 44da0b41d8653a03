import { hash } from 'node:crypto';
import type { ValueTransformer } from 'typeorm';
import { hashOf } from '../core/ids.js';
import { type JsonObject, parseJson, stringifyJson } from '../core/json.js';
import type { Reason } from '../core/reason.js';

/**
 * Names of any length as a key of 32 bytes: an index entry of PostgreSQL holds at most 2.7 kB, and a ref or a title is as long as its
 * author likes.
 */
export function keyOf(...parts: readonly string[]): Buffer {
  return Buffer.from(hashOf(...parts), 'hex');
}

/** Key of an advisory lock: 64 bits, as the decimal string that `bigint` takes. */
export function lockKeyOf(...parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'buffer').readBigInt64BE(0).toString();
}

/**
 * JSON lives in `text` columns, not `jsonb`: jsonb refuses `\u0000`, which anybody may put into a title, and `pg` would round
 * whole numbers above 2^53 on the way back.
 */
export const jsonText: ValueTransformer = {
  to: (value: unknown) => (value === undefined ? undefined : stringifyJson(value)),
  from: (text: string | null) => (text === null ? null : parseJson(text)),
};

/** A reason as a row has it: code and parameters; both null = none. */
export interface ReasonColumns {
  readonly reasonCode: string | null;
  readonly reasonParams: string | null;
}

/** Of a run, which always has one. */
export interface ReasonOfRun {
  readonly reasonCode: string;
  readonly reasonParams: string;
}

/** Values of the columns `reason_code` and `reason_params`. */
export function reasonColumns(reason: Reason | null): ReasonColumns {
  return { reasonCode: reason?.code ?? null, reasonParams: reason && stringifyJson(reason.params) };
}

export function reasonOf({ reasonCode, reasonParams }: ReasonColumns): Reason | null {
  return reasonCode === null || reasonParams === null ? null : runReasonOf({ reasonCode, reasonParams });
}

export function runReasonOf({ reasonCode: code, reasonParams }: ReasonOfRun): Reason {
  return { code, params: parseJson(reasonParams) as JsonObject };
}

type Decode = (stored: string | null) => unknown;

/** For columns of JSON text. */
export const asJson: Decode = jsonText.from;

/** The columns of a table for statements that are written by hand, and their rows: to have TypeORM read them costs a query of its own. */
export class RowDecoder<Row extends object> {
  /** As the entity names them. */
  readonly names: readonly string[];
  private readonly decoders: ReadonlyArray<[name: string, decode: Decode]>;

  /**
   * @param names of all columns, as the entity names them, with white space between
   * @param decoders of those that are not taken as `pg` reads them
   */
  constructor(names: string, decoders: { readonly [Name in keyof Row]?: Decode } = {}) {
    this.names = names.trim().split(/\s+/);
    this.decoders = Object.entries<Decode>(decoders as Record<string, Decode>);
  }

  /**
   * For SELECT and RETURNING.
   * @param instead of a column of this name in the table, what to read
   */
  list(alias: string, instead: Readonly<Record<string, string>> = {}): string {
    return this.names
      .map((name) => ({ name, column: snakeCase(name) }))
      .map(({ name, column }) => `${instead[column] ?? `${alias}."${column}"`} AS "${name}"`)
      .join(', ');
  }

  /** The row is changed in place. */
  decode(row: Record<string, unknown>): Row {
    for (const [name, decode] of this.decoders) row[name] = decode(row[name] as string | null);
    return row as Row;
  }
}

/** The column of a property. */
export function snakeCase(property: string): string {
  return property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
