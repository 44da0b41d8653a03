import { AsyncLocalStorage } from 'node:async_hooks';
import type { JsonObject } from '../../core/json.js';
import { Refusal } from '../answer.js';
import { checked, userNamed } from '../control/read.js';
import type { Attachment, SandboxParts } from '../parts.js';
import type { Told } from '../world.js';
import { actContext } from './act-context.js';
import { acts } from './index.js';

const BY_NAME = new Map(acts.map((act) => [act.name, act]));

/** Acts that are under way collect what the world tells; several may be at once. */
const listening = new AsyncLocalStorage<Told[]>();

export const attachActs: Attachment = ({ world }) => {
  world.listen((happening) => listening.getStore()?.push(happening));
  return undefined;
};

interface ActWish {
  /** Login of the person who acts. */
  readonly as: string;
  /** Name of the act. */
  readonly act: string;
  readonly params: JsonObject;
}

interface ActOutcome {
  readonly act: string;
  readonly as: string;
  /** What the act itself answers: the API's object where the API can do it. */
  readonly result: unknown;
  /** Kinds of the happenings it made, in order. */
  readonly happened: readonly string[];
}

/**
 * Do something in somebody's name.
 * @throws Refusal when there is no such act or person, when parameters are wrong, or as the forge refuses
 */
export async function performAct(parts: SandboxParts, wish: ActWish): Promise<ActOutcome> {
  const act = BY_NAME.get(wish.act);
  if (!act) throw new Refusal(422, `no act ${wish.act}; there are: ${[...BY_NAME.keys()].join(', ')}`);
  const context = actContext(parts, userNamed(parts, wish.as));
  const params: unknown = checked(act.params, wish.params);
  const happenings: Told[] = [];
  const result = await listening.run(happenings, async () => act.run(context, params));
  return { act: act.name, as: context.by.login, result: result ?? null, happened: happenings.map(({ kind }) => kind) };
}
