import { ForgeError } from '../../core/errors.js';
import type { Json, JsonObject } from '../../core/json.js';
import type { ForgeClient } from '../../forge/forge-client.js';
import type { OperationName } from '../../forge/operations.js';
import type { LookupAnswer, LookupReader, LookupScope } from './lookup-reader.port.js';
import type { LookupRequest } from '../../rules/language/revision.js';
import type { AnyLookup, LookupContext, LookupParam } from './define-lookup.js';
import { lookups } from './index.js';
import { Secret } from '../../core/secret.js';
import { withoutUserInfo } from '../../core/without-user-info.js';

/** One forge as lookups see it. */
interface ReadableForge {
  readonly client: ForgeClient;
  /** What the forge calls the organization. Default: as the scope has it */
  readonly orgName?: string | null;
  offers(name: OperationName): boolean;
}

/** Makes the reads that rules ask for, and takes credentials out of the answers before anybody sees them. */
export class ForgeLookupReader implements LookupReader {
  constructor(private readonly forges: { get(forge: string, org: string | null): ReadableForge | null }) {}

  async read(request: LookupRequest, scope: LookupScope): Promise<LookupAnswer> {
    const lookup = lookups.get(request.use);
    if (!lookup) return { failed: `there is no lookup ${request.use}` };
    const access = this.forges.get(scope.forge, scope.org);
    if (!access) return { failed: `forge ${scope.forge} is no longer in the config` };
    if (lookup.target === 'repository' && !scope.repo)
      return { failed: `${request.use} needs a repository, and this run is about none` };
    const params = readParams(lookup, request.params);
    if (typeof params === 'string') return { failed: `${request.use}: ${params}` };
    return ask(
      lookup,
      {
        org: access.orgName ?? scope.org,
        repo: scope.repo,
        forge: pick(lookup, access),
        ...(request.first === undefined ? {} : { first: request.first }),
      } as unknown as LookupContext<never, never>,
      params,
    );
  }
}

async function ask(lookup: AnyLookup, context: LookupContext<never, never>, params: JsonObject): Promise<LookupAnswer> {
  try {
    const answer = await lookup.read(context, params as never);
    const { first } = context;
    const wanted = first !== undefined && Array.isArray(answer) ? answer.slice(0, first) : answer;
    return { value: plainData(wanted, lookup.isAboutCredentials) };
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    if (error.kind === 'refused' && error.facts.status === 404) return { missing: true };
    if (error.kind === 'not-offered') return { failed: error.message, notOffered: true };
    if (error.kind === 'moved') return { failed: error.message, moved: true };
    if (error.kind === 'refused') return { failed: error.message };
    throw error;
  }
}

function pick({ operations, whereOffered }: AnyLookup, access: ReadableForge): Partial<ForgeClient> {
  const names: readonly OperationName[] = [...operations, ...whereOffered.filter((name) => access.offers(name))];
  return Object.fromEntries(names.map((name) => [name, access.client[name]])) as Partial<ForgeClient>;
}

/** The parameters as the lookup takes them, or what is wrong with them. */
function readParams(lookup: AnyLookup, inputs: JsonObject): JsonObject | string {
  const unknown = Object.keys(inputs).find((name) => !Object.hasOwn(lookup.params, name));
  if (unknown !== undefined) return `there is no parameter ${unknown}`;
  const params: JsonObject = {};
  for (const [name, param] of Object.entries(lookup.params)) {
    const value = inputs[name] ?? null;
    if (value === null) {
      if (param.required) return `${name} is not given`;
      continue;
    }
    const read = readParam(param, value);
    if (read === undefined)
      return `${name} must be ${param.type === 'strings' ? 'a list of texts' : `of type ${param.type}`}`;
    const wrong = param.isFilter && typeof read === 'string' ? param.check?.(read) : null;
    if (wrong) return `${name} ${wrong}, this is "${String(read).slice(0, 60)}"`;
    params[name] = read;
  }
  return params;
}

function readParam({ type }: LookupParam, value: Json): Json | undefined {
  switch (type) {
    case 'string':
      return typeof value === 'string' ? value : undefined;
    case 'integer': {
      const number =
        typeof value === 'string' && /^-?\d{1,15}$/.test(value)
          ? Number(value)
          : typeof value === 'bigint'
            ? Number(value)
            : value;
      return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
    }
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'strings':
      return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined;
    case 'any':
      return value;
  }
}

/** Parts of credentials that no schema marks: nothing of a token's or hook's value reaches a rule or a stored run. */
const HIDDEN_FIELDS = new Set(['authorization_header', 'sha1', 'token_last_eight', 'secret', 'data']);

/**
 * An answer of the forge as plain data: everything held as Secret falls away, and so do fields of those names beside it that hold text
 * of a credential, and credentials in addresses (`hideFields`); undefined fields are absent.
 */
function plainData(value: unknown, hideFields = false): Json {
  if (Array.isArray(value))
    return value.filter((item) => !(item instanceof Secret)).map((item) => plainData(item, hideFields));
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(
      ([name, field]) => field !== undefined && !(field instanceof Secret) && !(hideFields && HIDDEN_FIELDS.has(name)),
    );
    return Object.fromEntries(fields.map(([name, field]) => [name, plainData(field, hideFields)]));
  }
  if (hideFields && typeof value === 'string') return withoutUserInfo(value);
  return (value ?? null) as Json;
}
