import { isJsonObject, stringifyJson, type Json, type JsonObject } from './json.js';

/** Why something is as it is: a code for programs, plain data, and no words. `textOf` makes the sentence for people. */
export interface Reason<Code extends string = string> {
  /** Dotted, `run.held.limit`; the same in every release. */
  readonly code: Code;
  readonly params: JsonObject;
}

type Template = (params: never) => string;

interface Definition {
  readonly template: Template;
  /** Parameters that anybody may read. */
  readonly open: ReadonlySet<string>;
}

const DEFINED = new Map<string, Definition>();

/**
 * The reasons of one room: each code with the function that makes its sentence from the parameters. Nothing compares these sentences; code
 * that depends on a reason compares its code.
 * @param open names of parameters that anybody may read: they hold no lookup values, no rule text, and no names of other repositories or teams
 * @returns what makes a reason of this registry; a code or parameter that it has not does not compile
 * @throws Error when another registry has one of the codes
 */
export function defineReasons<T extends Record<string, Template>>(
  templates: T,
  open: readonly string[] = [],
): <Code extends keyof T & string>(code: Code, ...params: Parameters<T[Code]>) => Reason<Code> {
  for (const [code, template] of Object.entries(templates)) {
    if (DEFINED.has(code)) throw new Error(`the reason ${code} is defined twice`);
    DEFINED.set(code, { template, open: new Set(open) });
  }
  return (code, params = {} as never) => ({ code, params: params as JsonObject });
}

/**
 * The sentence of a reason. If another version wrote it, and this one does not know its code or cannot read its parameters, the sentence is the code
 * with its parameters.
 */
export function textOf(reason: Reason): string {
  const { code, params } = reason;
  const template = DEFINED.get(code)?.template;
  try {
    if (template) return template(params as never);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  return `${code} ${stringifyJson(params)}`;
}

const HIDDEN = '…';

/** What a text is shown as to somebody who wrote it; null = it is not theirs. */
export type OwnWord = (text: string) => string | null;

/**
 * The reason for people outside of the organization: the same code, and of its parameters, also of reasons within, those that anybody may read.
 * @param own words of the person whom it is told, which they may read again
 */
export function openPart({ code, params }: Reason, own: OwnWord = () => null): Reason {
  const open = DEFINED.get(code)?.open;
  const hide = (value: Json): Json => {
    if (isReason(value)) return openPart(value, own) as unknown as Json;
    if (Array.isArray(value)) return value.every(isJsonObject) ? value.map(hide) : [HIDDEN];
    if (isJsonObject(value)) return mapped(value, hide);
    if (typeof value === 'string') return ownNames(value, own);
    return typeof value === 'boolean' || value === null ? value : HIDDEN;
  };
  return { code, params: mapped(params, (value, name) => (open?.has(name) ? value : hide(value))) };
}

/** A name, or several in a row: those of others are one sign, so that nobody can count them. */
function ownNames(text: string, own: OwnWord): string {
  const whole = own(text);
  if (whole !== null) return whole;
  const ownWords = text.split(', ').map(own);
  const names = ownWords.filter((one) => one !== null);
  return names.length === ownWords.length ? names.join(', ') : [...names, HIDDEN].join(', ');
}

function mapped(fields: JsonObject, change: (value: Json, name: string) => Json): JsonObject {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, change(value, name)]));
}

export function isReason(value: Json | undefined): value is Json & Reason {
  return isJsonObject(value) && typeof value['code'] === 'string' && isJsonObject(value['params'] ?? null);
}

/** A row as people and the control API see it: its reason as a sentence, beside it the code and its parameters. */
export type Shown<T extends { reason: Reason | null }> = Omit<T, 'reason'> & {
  reason: string | (null extends T['reason'] ? null : never);
  code: string | (null extends T['reason'] ? null : never);
  parameters: JsonObject | (null extends T['reason'] ? null : never);
};

export function withReasonText<T extends { reason: Reason | null }>(row: T): Shown<T> {
  const { reason } = row;
  const [code, parameters] = reason ? [reason.code, reason.params] : [null, null];
  return { ...row, reason: reason && textOf(reason), code, parameters } as Shown<T>;
}
