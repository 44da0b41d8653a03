import { stringifyJson, type JsonObject } from './json.js';

/** Why something is as it is: a code for programs, plain data, and no words. `textOf` makes the sentence for people. */
export interface Reason<Code extends string = string> {
  /** Dotted, `run.held.limit`; the same in every release. */
  readonly code: Code;
  readonly params: JsonObject;
}

type Template = (params: never) => string;

const TEMPLATES = new Map<string, Template>();

/**
 * The reasons of one room: each code with the function that makes its sentence from the parameters. Nothing compares these sentences; code
 * that depends on a reason compares its code.
 * @returns what makes a reason of this registry; a code or parameter that it has not does not compile
 * @throws Error when another registry has one of the codes
 */
export function defineReasons<T extends Record<string, Template>>(
  templates: T,
): <Code extends keyof T & string>(code: Code, ...params: Parameters<T[Code]>) => Reason<Code> {
  for (const [code, template] of Object.entries(templates)) {
    if (TEMPLATES.has(code)) throw new Error(`the reason ${code} is defined twice`);
    TEMPLATES.set(code, template);
  }
  return (code, params = {} as never) => ({ code, params: params as JsonObject });
}

/** The sentence of a reason. If this version does not know the code (a newer version wrote it), the sentence is the code with its parameters. */
export function textOf({ code, params }: Reason): string {
  const template = TEMPLATES.get(code);
  return template ? template(params as never) : `${code} ${stringifyJson(params)}`;
}

/** A row as people and the control API see it: its reason as a sentence, beside it the code. */
export type Shown<T extends { reason: Reason | null }> = Omit<T, 'reason'> & {
  reason: string | (null extends T['reason'] ? null : never);
  code: string | (null extends T['reason'] ? null : never);
};

export function shown<T extends { reason: Reason | null }>(row: T): Shown<T> {
  const { reason } = row;
  return { ...row, reason: reason && textOf(reason), code: reason && reason.code } as Shown<T>;
}
