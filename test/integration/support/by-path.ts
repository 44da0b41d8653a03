import { Ajv, type ValidateFunction } from 'ajv';
import { z } from 'zod';
import { OPERATIONS } from '../../../src/api/operations/index.js';
import type { AnyOperation } from '../../../src/api/operations/operation.js';
import { untilEnded, type Reach } from '../../../src/cli/reach-bot.js';
import { UserError } from '../../../src/core/errors.js';

type Query = Record<string, string | number | undefined>;

/** The control API by method and path, as an older command line or another program asks it. */
export interface ByPath extends Reach {
  get<T>(path: string, query?: Query): Promise<T>;
  /** The rows of a page of a list. */
  rows<Row>(path: string, query?: Query): Promise<Row[]>;
  post<T>(path: string, body?: object): Promise<T>;
}

/** Every answer is compared with the schema in the table of operations. */
export function byPath(reach: Reach): ByPath {
  const ask = async <T>(method: 'GET' | 'POST', path: string, body?: object): Promise<T> => {
    const first = await reach.send(method, path, body);
    const { status, text } = first.status === 202 ? await untilEnded(reach.send, first.text) : first;
    const told = JSON.parse(text) as T & { error?: string; message?: string; answer: T };
    // Of a call that takes long, the answer stands within what is told of the call.
    const value = (first.status === 202 && told.error === undefined ? told.answer : told) as typeof told;
    if (status >= 400 || value.error !== undefined)
      throw new UserError(value.error ?? 'FAILED', value.message ?? String(status));
    checkAnswer(method, path, value);
    return value;
  };
  const get = <T>(path: string, query: Query = {}): Promise<T> => {
    const given = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, `${value}`] as [string, string]],
    );
    return ask('GET', given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`);
  };
  return {
    ...reach,
    get,
    rows: async <Row>(path: string, query?: Query) => (await get<{ rows: Row[] }>(path, query)).rows,
    post: (path, body) => ask('POST', path, body ?? {}),
  };
}

const ajv = new Ajv({ strict: false, validateFormats: false });
const checks = new Map<AnyOperation, ValidateFunction>();

/** @throws when it is not as the table says: a field is missing, of another type, or not in the table */
function checkAnswer(method: string, path: string, value: unknown): void {
  const [asked = ''] = path.split('?');
  const operation = (Object.values(OPERATIONS) as AnyOperation[]).find(({ route }) =>
    new RegExp(`^${route.replace(/:\w+/g, '[^/]+')}$`).test(`${method} ${asked}`),
  );
  if (!operation) throw new Error(`no operation has the path ${method} ${asked}`);
  let check = checks.get(operation);
  if (!check) checks.set(operation, (check = ajv.compile(wireSchema(operation.answer))));
  if (!check(value))
    throw new Error(`${method} ${asked} does not answer as the table says: ${ajv.errorsText(check.errors)}`);
}

function wireSchema(answer: z.ZodType): object {
  const schema = z.toJSONSchema(answer, {
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema._zod.def.type === 'date') jsonSchema.type = 'string';
    },
  });
  delete schema.$schema;
  return schema;
}
