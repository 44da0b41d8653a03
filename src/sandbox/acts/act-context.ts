import { type OperationName, operationOf } from '../../forge/operations.js';
import { stringifyJson } from '../../core/json.js';
import { noContent, notFound, Refusal } from '../answer.js';
import { repoNamed } from '../control/read.js';
import type { Call } from '../handler.js';
import type { SandboxParts } from '../parts.js';
import { canSee, permissionOn } from '../permissions.js';
import { allHandlers } from '../registry.js';
import type { User } from '../world.js';
import type { ActContext, ApiWish } from './define-act.js';

const handlers = allHandlers();

export function actContext(parts: SandboxParts, by: User): ActContext {
  const { world } = parts;
  return {
    parts,
    world,
    by,
    call: (operation, wish) => callAs(parts, by, operation, wish),
    repo: (name) => {
      const repo = repoNamed(parts, name);
      if (!canSee(permissionOn(world, by, repo))) throw notFound(`no repository ${name}`);
      return repo;
    },
  };
}

async function callAs(parts: SandboxParts, by: User, operation: OperationName, wish: ApiWish): Promise<unknown> {
  const handler = handlers.get(operation);
  if (!handler) throw new Refusal(501, `the sandbox has no ${operation}`);
  const { world, profile } = parts;
  const params = Object.fromEntries(Object.entries(wish.params ?? {}).map(([name, value]) => [name, String(value)]));
  const call: Call = {
    world,
    profile,
    caller: { user: by, token: null, isBasic: true },
    operation,
    method: operationOf(operation).method,
    params,
    query: new URLSearchParams(wish.query),
    rawPath: filledPath(operation, params),
    rawQuery: new URLSearchParams(wish.query).toString(),
    bodyText: wish.body === undefined ? '' : stringifyJson(wish.body),
    contentType: wish.body === undefined ? null : 'application/json',
    view: { world, profile, baseUrl: world.rootUrl, viewer: by },
  };
  const answer = (await handler(call)) ?? noContent();
  if (answer.status >= 300)
    throw new Refusal(answer.status, answer.text ?? `${operation} was answered with ${answer.status}`);
  return answer.json ?? null;
}

function filledPath(operation: OperationName, params: Record<string, string>): string {
  return operationOf(operation).path.replace(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  );
}
