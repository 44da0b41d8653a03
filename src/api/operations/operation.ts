import { z } from 'zod';
import { BotError } from '../../core/errors.js';
import { isJsonObject } from '../../core/json.js';
import type { ControlCaller } from '../../core/operators.js';
import type { Shape } from '../../core/schema.js';
import type { Visibility } from '../../core/visibility.js';
import { hideNames } from './hide-names.js';
import type { ShownOrgs } from './shown-orgs.js';
import type { KnownNames } from './known-names.js';
import type { Acts } from '../acts.js';
import { admit, type NeededScope } from './admission.js';
import type { Needs } from './needs.js';

/** One operation of the control API: its route, the typed call of the command line and its documentation come from here. */
interface Operation<In extends z.ZodObject = z.ZodObject, Out extends z.ZodType = z.ZodType> {
  /** `:name` stands for the field of that name of the input; the other fields are the query of a GET and the body of a POST. */
  readonly route: Route;
  readonly summary: string;
  readonly scope: NeededScope;
  /** A POST because of what is sent with it: it may be done by whoever may read. */
  readonly changesNothing?: true;
  /** Of an operation that takes more than `read`: the fields of the input that say what the act was about. They are kept, so none may be a secret. */
  readonly about?: ReadonlyArray<keyof z.output<In> & string>;
  /** It goes on by itself: a request is answered at once, with the id of the call where it has not ended by then. */
  readonly takesLong?: true;
  /** Largest body of a request. Default: 64 KiB. */
  readonly maxBytes?: number;
  /** The command that calls it, such as `housekeeping run`; or why there is none. */
  readonly command: string | { readonly none: string };
  readonly input: In;
  readonly answer: Out;
  /** `visibility`: what this caller may see and change by this operation. Rows and counts beyond it are not for the answer. */
  readonly handle: (
    needs: Needs,
    input: Input<In>,
    caller: ControlCaller,
    visibility: Visibility,
  ) => Shape<Out> | Promise<Shape<Out>>;
}

type Route = `${'GET' | 'POST'} /v1/${string}`;

/** Its handler is checked against its input and answer. */
export function operation<In extends z.ZodObject, Out extends z.ZodType>(one: Operation<In, Out>): Operation<In, Out> {
  return one;
}

/** What a handler is given. A field that was not sent is absent, never undefined. */
type Input<In extends z.ZodType> = { [Name in keyof z.output<In>]: Exclude<z.output<In>[Name], undefined> };

/** Of whatever input and answer. */
export interface AnyOperation extends Omit<Operation, 'handle'> {
  readonly handle: (needs: Needs, input: never, caller: ControlCaller, visibility: Visibility) => unknown;
}
export type Group = Readonly<Record<string, AnyOperation>>;

export type Bound<Of extends Group> = {
  readonly [Name in keyof Of]: (
    input: Input<Of[Name]['input']>,
    caller: ControlCaller,
  ) => Promise<z.output<Of[Name]['answer']>>;
};

/** The handlers of a group. Whoever calls one, by whatever way, is asked for its scope here; and what is done is recorded here. */
export function bind<Of extends Group>(
  group: Of,
  needs: Needs,
  acts: Pick<Acts, 'carryOut'>,
  knownNames: Pick<KnownNames, 'of'>,
  shownOrgs: ShownOrgs,
): Bound<Of> {
  const handlers = Object.entries(group).map(
    ([
      name,
      {
        handle,
        scope,
        about = [],
        input: { shape },
      },
    ]) => [
      name,
      async (input: never, caller: ControlCaller) => {
        const visibility = admit(caller, scope);
        const parts = (visibility ?? []).flatMap(({ org, repositories }) => (repositories === null ? [] : [org]));
        const work = async (): Promise<unknown> =>
          shownOrgs.show(
            hideNames(
              await handle(needs, input, caller, visibility),
              shownOrgs.named(visibility),
              shownOrgs.byName(await knownNames.of(parts)),
            ),
          );
        return isAct(scope, input)
          ? acts.carryOut({ operation: name, about, takesOrg: 'org' in shape, input, caller, visibility }, work)
          : work();
      },
    ],
  );
  return Object.fromEntries(handlers) as Bound<Of>;
}

/**
 * Whether this call is an act, which is recorded. A dry run changes nothing, and whoever may operate may read what it tells; but what only the owner
 * may do tells what nobody else may know, so its dry run is recorded too.
 */
export function isAct(scope: NeededScope, input: object): boolean {
  return scope === 'owner' || (scope !== 'read' && (input as { readonly dryRun?: unknown }).dryRun !== true);
}

/** `GET` and `/v1/runs/:id`. */
export function routeOf({ route }: Pick<AnyOperation, 'route'>): { method: 'GET' | 'POST'; path: string } {
  const [method, path] = route.split(' ') as ['GET' | 'POST', string];
  return { method, path };
}

const PLACEHOLDER = /:(\w+)/g;

/** A call as a request. Fields that are undefined are not sent. */
export function requestOf(
  operation: AnyOperation,
  input: object,
): { method: 'GET' | 'POST'; path: string; body?: object } {
  const { method, path } = routeOf(operation);
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
  const filled = path.replaceAll(PLACEHOLDER, (_, name: string) => {
    const value = encodeURIComponent(String(rest.get(name)));
    rest.delete(name);
    return value;
  });
  if (method === 'POST') return { method, path: filled, body: Object.fromEntries(rest) };
  const query = new URLSearchParams(
    [...rest].map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return { method, path: query === '' ? filled : `${filled}?${query}` };
}

/** @throws BotError BAD_REQUEST that names each wrong field and says what was expected */
export function readInput(
  { input }: AnyOperation,
  request: { method: string; params: unknown; query: unknown; body: unknown },
): unknown {
  const params = request.params as Record<string, string>;
  const rest = (request.method === 'POST' ? request.body : request.query) ?? {};
  if (!isJsonObject(rest as never)) throw new BotError('BAD_REQUEST', 'request: an object is expected');
  const twice = Object.keys(rest).find((name) => Object.hasOwn(params, name));
  if (twice !== undefined) throw new BotError('BAD_REQUEST', `${twice}: it is part of the path: do not send it twice`);
  if (holdsNul([params, rest])) throw new BotError('BAD_REQUEST', 'a value contains NUL, which no id or name does');
  const read = input.safeParse({ ...rest, ...params });
  if (read.success) return read.data;
  throw new BotError('BAD_REQUEST', read.error.issues.map((issue: z.core.$ZodIssue) => wrong(issue, input)).join('; '));
}

/** No store keeps it in a text, and asked for one it fails. */
function holdsNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0');
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.entries(value).some(([key, each]) => key.includes('\0') || holdsNul(each))
  );
}

function wrong(issue: z.core.$ZodIssue, input: z.ZodObject): string {
  if (issue.code !== 'unrecognized_keys') return `${issue.path.join('.') || 'request'}: ${issue.message}`;
  return `${issue.keys.join(', ')}: no such field; expected are ${Object.keys(input.shape).join(', ')}`;
}

/** A yes or no of a query. */
export const flag = z.preprocess<unknown, z.ZodBoolean, boolean>(
  (word: unknown) => (word === 'true' ? true : word === 'false' ? false : word),
  z.boolean(),
);

/** Why somebody gives an order; recorded with it. */
export const reasoned = {
  reason: z.string().trim().min(1).max(500).optional().describe('Why; recorded with the order.'),
};

export const limit = (normally: number) => z.coerce.number<number>().int().min(1).max(1000).default(normally);
