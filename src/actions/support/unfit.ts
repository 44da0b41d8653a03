import type { Json } from '../../core/json.js';
import { say } from '../reasons.js';
import type { WrittenParam, Unfit } from '../../rules/language/catalogue.js';
import type { WrittenParams } from '../define-action.js';

/** Parameters as they reach `ensure`, for the checks that are made at load as well. */
export function writtenParamsOf(params: Readonly<Record<string, unknown>>): WrittenParams {
  return Object.fromEntries(
    Object.entries(params).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, { value: value as Json } satisfies WrittenParam]],
    ),
  );
}

export function valueOf(inputs: WrittenParams, name: string): Json | undefined {
  const param = inputs[name];
  return param && 'value' in param ? param.value : undefined;
}

/** A list of texts, or one; null = it is not given, or not known before it runs. */
export function textsOf(inputs: WrittenParams, name: string): readonly string[] | null {
  const value = valueOf(inputs, name);
  if (typeof value === 'string') return [value];
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : null;
}

/** None of these is there. */
export function noneOf(
  inputs: WrittenParams,
  names: readonly string[],
  hint: string,
  reason = say('params.none', { names }),
): Unfit | null {
  return names.some((name) => inputs[name] !== undefined) ? null : { reason, hint };
}

/** Neither people in one of these lists nor somebody to choose from in turn. */
export function nobodyNamed(inputs: WrittenParams, lists: readonly string[], hint: string): Unfit | null {
  const isEmpty = lists.every((name) => !inputs[name] || textsOf(inputs, name)?.length === 0);
  return isEmpty && inputs['one_of'] === undefined
    ? { reason: say('params.none', { names: [...lists, 'one_of'] }), hint }
    : null;
}

export function countAlone(inputs: WrittenParams): Unfit | null {
  return inputs['count'] && !inputs['one_of']
    ? { reason: say('params.needs', { param: 'count', needs: 'one_of' }), param: 'count' }
    : null;
}

/** One that is written, and says nothing. */
export function emptyOf(inputs: WrittenParams, names: readonly string[]): Unfit | null {
  const empty = names.find((name) => textsOf(inputs, name)?.length === 0);
  return empty === undefined
    ? null
    : { reason: say('params.empty', { param: empty }), param: empty, hint: 'leave it out, or name somebody' };
}

/** The same name in two lists that contradict each other. */
export function inBoth(inputs: WrittenParams, one: string, other: string): Unfit | null {
  const both = textsOf(inputs, one)?.find((name) => textsOf(inputs, other)?.includes(name));
  return both === undefined ? null : { reason: say('params.both', { value: both, names: [one, other] }), param: other };
}

/** A text that no account is called: with a sign in front of it, of an e-mail, of an app. */
export function wrongLogin(inputs: WrittenParams, names: readonly string[]): Unfit | null {
  for (const param of names) {
    const wrong = textsOf(inputs, param)?.find((login) => !/^[\w.-]+$/.test(login));
    if (wrong !== undefined)
      return {
        reason: say('params.no-name', { value: wrong.slice(0, 60), what: 'login' }),
        param,
        isValue: true,
        hint: wrong.startsWith('@') ? `without the @: ${wrong.slice(1, 60)}` : 'letters, digits, ".", "_" and "-"',
      };
  }
  return null;
}
