import type { Clock } from '../core/clock.js';
import { BotError } from '../core/errors.js';
import type { Target } from '../core/target.js';
import { orMissing, whereAllowed } from '../actions/support/where-offered.js';
import type { OperationName } from '../forge/operations.js';
import type { Repository } from '../forge/resources/repository.js';
import type { ForgeAccess } from './forges.js';

type RepositoryTarget = Extract<Target, { kind: 'repository' }>;

/** What was read so long ago is read again. */
const FRESH_MS = 10_000;

/** A target that is gone is asked about again after a minute, then ever more rarely, down to once a day (reliability H2). */
const FIRST_GONE_MS = 60_000;
const LAST_GONE_MS = 24 * 3_600_000;

/** What is asked to find a target, where nobody asked for it lately. */
export function readsOfTarget({ offers }: Pick<ForgeAccess, 'offers'>, { kind }: Target): OperationName[] {
  return kind === 'repository' && offers('getRepoById') ? ['getRepoById'] : [];
}

/** The pinned target is not there any more, or not where it may be acted on. */
export class TargetGone extends BotError {
  constructor(message: string) {
    super('TARGET_GONE', message);
  }
}

/**
 * Names change, and a name may be taken over by somebody else; the number stays (reliability H1, E5). Where the forge can find a
 * repository by its number, its name and visibility of now are used, else those of the decision.
 */
export class TargetResolver {
  private readonly gone = new Map<string, { untilMs: number; waitMs: number; error: TargetGone }>();
  private readonly known = new Map<string, { readAtMs: number; repository: Promise<Repository | null | undefined> }>();

  constructor(private readonly clock: Clock) {}

  /**
   * @throws TargetGone when there is no such repository any more, or it left the organization
   * @throws ForgeError when it cannot be read now
   */
  async resolve(access: ForgeAccess, forge: string, org: string, target: Target): Promise<Target> {
    if (target.kind !== 'repository') return target;
    const key = `${forge}/${target.id}`;
    const known = this.gone.get(key);
    if (known && known.untilMs > this.clock.monotonicMs()) throw known.error;
    try {
      const resolved = await this.find(access, forge, org, target);
      this.gone.delete(key);
      return resolved;
    } catch (error) {
      if (error instanceof TargetGone) {
        const waitMs = known ? Math.min(known.waitMs * 4, LAST_GONE_MS) : FIRST_GONE_MS;
        this.gone.set(key, { untilMs: this.clock.monotonicMs() + waitMs, waitMs, error });
      }
      throw error;
    }
  }

  private async find(access: ForgeAccess, forge: string, org: string, target: RepositoryTarget): Promise<Target> {
    const found = await this.read(access, forge, target);
    if (found === undefined) return target;
    if (found === null) throw new TargetGone(`repository ${target.owner}/${target.name} (number ${target.id}) is not there any more`);
    const owner = found.owner?.login ?? found.full_name?.split('/')[0] ?? target.owner;
    const isOurs = [target.owner, org].some((name) => name.toLowerCase() === owner.toLowerCase());
    if (!isOurs) throw new TargetGone(`repository ${target.owner}/${target.name} (number ${target.id}) belongs to ${owner} now`);
    return {
      ...target,
      owner,
      name: found.name ?? target.name,
      ...(typeof found.private === 'boolean' ? { private: found.private } : {}),
      ...(typeof found.archived === 'boolean' ? { archived: found.archived } : {}),
    };
  }

  private read(access: ForgeAccess, forge: string, target: RepositoryTarget): Promise<Repository | null | undefined> {
    const key = `${forge}/${target.id}`;
    const now = this.clock.monotonicMs();
    const known = this.known.get(key);
    if (known && now - known.readAtMs < FRESH_MS) return known.repository;
    for (const [other, { readAtMs }] of this.known) if (now - readAtMs >= FRESH_MS) this.known.delete(other);
    const call = access.offers('getRepoById') ? access.client.getRepoById : undefined;
    const repository = whereAllowed(call, (get) => orMissing(get({ id: target.id })));
    this.known.set(key, { readAtMs: now, repository });
    repository.catch(() => this.known.delete(key));
    return repository;
  }
}
