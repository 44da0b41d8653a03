import type { AnyAction } from '../../actions/define-action.js';
import { BotError, ForgeError } from '../../core/errors.js';
import type { Target } from '../../core/target.js';
import type { ForgeAccess, OrgLimits } from './forges.js';
import type { TargetResolver } from './resolve-target.js';

/** An effect that the operator's limits do not allow. */
export interface Limited {
  readonly code: 'limit.merges' | 'limit.private_mirrors' | 'limit.private_reads';
  readonly reason: string;
}

export interface LimitedEffect {
  readonly action: Pick<AnyAction, 'name' | 'operations'>;
  readonly target: Target;
  readonly forge: string;
  readonly org: string;
}

/**
 * Whether the operator's limits (orgs[].limits) forbid an effect. The forge tells the visibility of source and target now; a repository of which it tells
 * none counts as private. Those who read an effect on the run's repository may read that repository anyway; variables of the organization and things of
 * the bot's account have other readers.
 * @returns null when the effect is allowed
 * @throws ForgeError while the forge cannot be asked
 */
export async function beyondLimit(
  { action, target, forge, org }: LimitedEffect,
  limits: OrgLimits | undefined,
  targets: TargetResolver,
  access: ForgeAccess,
): Promise<Limited | null> {
  if (!limits) return null;
  if (!limits.merges && action.operations.includes('mergePull'))
    return {
      code: 'limit.merges',
      reason: `the operator did not allow merges by rules of ${org} (orgs[].limits.merges)`,
    };
  if (target.kind === 'repository') {
    if (limits.privateMirrors || !action.operations.includes('createPushMirror') || target.private === false)
      return null;
    return {
      code: 'limit.private_mirrors',
      reason: `not mirrored: ${nameOf(target)}, and the operator did not allow mirrors of private repositories (orgs[].limits.private_mirrors)`,
    };
  }
  if (limits.privateReads || !target.readFrom) return null;
  const pinned: Target = { kind: 'repository', ...target.readFrom };
  const source = await targets.resolve(access, forge, org, pinned).catch((error: unknown) => {
    // A repository that is gone, or not the organization's, tells no visibility.
    if (error instanceof ForgeError || !(error instanceof BotError)) throw error;
    return pinned;
  });
  if (source.kind === 'repository' && source.private === false) return null;
  const reason = `${action.name} would write what the run read of ${target.readFrom.owner}/${target.readFrom.name} where others may read it, and ${nameOf(source)} (orgs[].limits.private_reads)`;
  return { code: 'limit.private_reads', reason };
}

function nameOf(target: Target): string {
  return target.kind === 'repository' && target.private === true
    ? 'the repository is private'
    : 'the forge does not tell that the repository is public';
}
