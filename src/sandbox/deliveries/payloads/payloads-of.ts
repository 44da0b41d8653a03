import type { Told } from '../../world.js';
import type { Payload, PayloadContext } from './context.js';
import { commentPayloads, issuePayloads, pullPayloads } from './issues.js';
import { packagePayloads, releasePayloads, repositoryPayloads, statusPayloads, wikiPayloads } from './others.js';
import { refPayloads } from './refs.js';
import { jobPayloads, runPayloads } from './workflows.js';

/** What stands before the point of a kind: `issue` of `issue.opened`. */
type Family<Kind = Told['kind']> = Kind extends `${infer Name}.${string}` ? Name : Kind;
type ToldIn<F extends Family> = Extract<Told, { kind: F | `${F & string}.${string}` }>;

/** Null: real servers keep it to themselves (definitions of labels, protections, teams). */
const BUILDERS: {
  readonly [F in Family]: ((context: PayloadContext, happening: ToldIn<F>) => Payload | Payload[]) | null;
} = {
  repository: repositoryPayloads,
  pushed: refPayloads,
  branch: refPayloads,
  tag: refPayloads,
  issue: issuePayloads,
  comment: commentPayloads,
  pull: pullPayloads,
  release: releasePayloads,
  package: packagePayloads,
  wiki: wikiPayloads,
  status: statusPayloads,
  job: jobPayloads,
  run: runPayloads,
  label: null,
  protection: null,
  team: null,
};

/**
 * What one act makes the server send, in order.
 * @see reference/webhooks.md sections 4 and 5
 */
export function payloadsOf(context: PayloadContext, happening: Told): Payload[] {
  const build = BUILDERS[happening.kind.split('.')[0] as Family] as
    | ((context: PayloadContext, happening: Told) => Payload | Payload[])
    | null;
  return [build?.(context, happening) ?? []].flat();
}
