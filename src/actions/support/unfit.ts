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

export function valueOf(given: WrittenParams, name: string): Json | undefined {
  const param = given[name];
  return param && 'value' in param ? param.value : undefined;
}

/** A list of texts, or one; null = it is not given, or not known before it runs. */
export function textsOf(given: WrittenParams, name: string): readonly string[] | null {
  const value = valueOf(given, name);
  if (typeof value === 'string') return [value];
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : null;
}

/** None of these is there. */
export function noneOf(
  given: WrittenParams,
  names: readonly string[],
  hint: string,
  reason = say('params.none', { names }),
): Unfit | null {
  return names.some((name) => given[name] !== undefined) ? null : { reason, hint };
}

/** Neither people in one of these lists nor somebody to choose from in turn. */
export function nobodyNamed(given: WrittenParams, lists: readonly string[], hint: string): Unfit | null {
  const isEmpty = lists.every((name) => !given[name] || textsOf(given, name)?.length === 0);
  return isEmpty && given['one_of'] === undefined
    ? { reason: say('params.none', { names: [...lists, 'one_of'] }), hint }
    : null;
}

export function countAlone(given: WrittenParams): Unfit | null {
  return given['count'] && !given['one_of']
    ? { reason: say('params.needs', { param: 'count', needs: 'one_of' }), param: 'count' }
    : null;
}

/** One that is written, and says nothing. */
export function emptyOf(given: WrittenParams, names: readonly string[]): Unfit | null {
  const empty = names.find((name) => textsOf(given, name)?.length === 0);
  return empty === undefined
    ? null
    : { reason: say('params.empty', { param: empty }), param: empty, hint: 'leave it out, or name somebody' };
}

/** The same name in two lists that contradict each other. */
export function inBoth(given: WrittenParams, one: string, other: string): Unfit | null {
  const both = textsOf(given, one)?.find((name) => textsOf(given, other)?.includes(name));
  return both === undefined ? null : { reason: say('params.both', { value: both, names: [one, other] }), param: other };
}

/** A text that no account is called: with a sign in front of it, of an e-mail, of an app. */
export function wrongLogin(given: WrittenParams, names: readonly string[]): Unfit | null {
  for (const param of names) {
    const wrong = textsOf(given, param)?.find((login) => !/^[\w.-]+$/.test(login));
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
