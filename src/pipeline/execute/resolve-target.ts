import { BotError } from '../../core/errors.js';
import { explainRefusal, WRITE_TRUST_MS, type HomeRefusal, type RepositoryHomes } from '../../core/repository-home.js';
import type { Target } from '../../core/target.js';
import type { OperationName } from '../../forge/operations.js';
import type { ForgeAccess } from './forges.js';

/** What is asked to find a target, where nobody asked for it lately. */
export function readsOfTarget({ offers }: Pick<ForgeAccess, 'offers'>, { kind }: Target): OperationName[] {
  return kind === 'repository' && offers('getRepoById') ? ['getRepoById'] : [];
}

/** The pinned repository may not be acted on for this organization. `code` says why. */
export class TargetRefused extends BotError {
  constructor(refusal: HomeRefusal, { org, target }: { org: string; target: Extract<Target, { kind: 'repository' }> }) {
    super(refusal, explainRefusal(refusal, { org, id: target.id }));
  }
}

/**
 * Names change, and a name may be taken over by somebody else; the number stays (reliability H1, E5). A write goes to the repository of the
 * pinned number, under the name that the forge gives it now, and only while it belongs to the organization of the run.
 */
export class TargetResolver {
  constructor(private readonly homes: RepositoryHomes) {}

  /**
   * @throws TargetRefused when the repository is gone, or is not the organization's
   * @throws ForgeError when the forge cannot be asked now
   */
  async resolve(access: ForgeAccess, forge: string, org: string, target: Target): Promise<Target> {
    if (target.kind !== 'repository') return target;
    if (target.refused) throw new TargetRefused(target.refused, { org, target });
    const { id, name } = target;
    const read = access.offers('getRepoById') ? access.client.getRepoById : undefined;
    const home = await this.homes.of({ forge, org, id, name }, { maxAgeMs: WRITE_TRUST_MS, read });
    if (home.is === 'refused') throw new TargetRefused(home.code, { org, target });
    return { ...target, ...home.repository };
  }

  /** A call to the target failed so that the forge is to be asked again: it was redirected, or nothing was found under the name. */
  doubt(forge: string, target: Target, because: 'moved' | 'missing'): void {
    if (target.kind !== 'repository') return;
    if (because === 'moved') this.homes.forget(forge, target.id);
    else this.homes.doubt(forge, target.id);
  }
}
