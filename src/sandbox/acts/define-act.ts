import type { z } from 'zod';
import type { OperationName } from '../../forge/operations.js';
import type { SandboxParts } from '../parts.js';
import type { Repository, User, World } from '../world.js';

/** A call of the API in somebody's name. */
export interface ApiWish {
  readonly params?: Readonly<Record<string, string | number | bigint>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** Who acts, and what acts are made of. */
export interface ActContext {
  readonly parts: SandboxParts;
  readonly world: World;
  readonly by: User;
  /**
   * The API's own handler in the actor's name, with its checks and its answer; works in every profile.
   * @throws Refusal as the API would refuse
   */
  call(operation: OperationName, wish: ApiWish): Promise<unknown>;
  /**
   * A repository that the actor may see.
   * @throws Refusal 404
   */
  repo(name: string): Repository;
}

/** Something that a person does at the forge: what the API cannot do is done on the world itself. */
export interface Act<Params extends z.ZodType = z.ZodType> {
  /** `noun.verb`, or a verb alone. */
  readonly name: string;
  readonly summary: string;
  readonly params: Params;
  /** Parameters that work in the organization of the seed, for people to start from. */
  readonly example: z.input<Params>;
  /** What it returns is shown to who asked for the act. */
  readonly run: (context: ActContext, params: z.output<Params>) => unknown;
}

export function defineAct<Params extends z.ZodType>(act: Act<Params>): Act<Params> {
  return act;
}
