import type { Clock } from '../core/clock.js';
import { ForgeError } from '../core/errors.js';
import type { ForgeClient } from '../forge/forge-client.js';
import type { CallAllowance } from './call-allowance.js';
import type { PolledOrg } from '../pipeline/receive.js';
import { largestId } from './feed-position.js';
import { emptyTable } from '../core/table.js';

interface OrgRunsDeps {
  readonly client: Pick<ForgeClient, 'listOrgRuns'>;
  readonly offers: (name: 'listOrgRuns') => boolean;
  readonly clock: Clock;
}

/** Runs by id, in the state in which they were seen. */
type SeenRuns = Readonly<Record<string, string>>;

interface OrgLook {
  /** Ids of repositories with a run that has not ended or changed since the last look. */
  readonly busy: ReadonlySet<string>;
  /** Whether that is all of them; false when there were more new runs than calls. */
  readonly isWhole: boolean;
  readonly runs: SeenRuns;
}

/** As many as the feed's; servers cap it as they like. */
const PAGE_SIZE = 50;
/** How long a refusal holds (the bot is no member of the organization). */
const REFUSED_MS = 3_600_000;

/**
 * One call for a whole organization: its newest runs. Where no run changed, no task did either, so the task lists (op
 * 14) of quiet repositories need no read. It misses runs that are run again after fifty newer ones.
 */
export class OrgRuns {
  private refusedAtMs: number | null = null;

  constructor(
    private readonly deps: OrgRunsDeps,
    private readonly polled: PolledOrg,
  ) {}

  /**
   * @param before as the last look gave it; null = there was none
   * @param since runs that began before it are taken as known by a first look
   * @returns null where the forge does not have the call, or does not let us make it
   */
  async look(before: SeenRuns | null, since: string, allowance: CallAllowance): Promise<OrgLook | null> {
    const { clock, offers } = this.deps;
    if (!offers('listOrgRuns')) return null;
    if (this.refusedAtMs !== null && clock.monotonicMs() - this.refusedAtMs < REFUSED_MS) return null;
    const runs: Record<string, string> = emptyTable();
    const busy = new Set<string>();
    let isWhole = false;
    for (let page = 1; !isWhole && (page === 1 || allowance.isLeft); page += 1) {
      const rows = await this.read(page, allowance);
      if (!rows) return null;
      for (const { id, repository, state, isEnded, began } of rows) {
        const isKnown =
          before === null ? isEnded && began !== null && Date.parse(began) < Date.parse(since) : before[id] === state;
        if (!isKnown || !isEnded) busy.add(repository);
        runs[id] = state;
      }
      // Whatever stands below a run that was seen before is as old.
      isWhole =
        before === null ||
        rows.length === 0 ||
        rows.some(({ id }) => before[id] !== undefined) ||
        isBelow(rows, before);
    }
    return { busy, isWhole, runs };
  }

  private async read(page: number, allowance: CallAllowance): Promise<RunRow[] | null> {
    allowance.spend();
    try {
      const answer = await this.deps.client.listOrgRuns({ org: this.polled.org, page, limit: PAGE_SIZE });
      this.refusedAtMs = null;
      return (answer.workflow_runs ?? []).flatMap(runRow);
    } catch (error) {
      if (!(error instanceof ForgeError) || !['refused', 'not-offered', 'moved'].includes(error.kind)) throw error;
      this.refusedAtMs = this.deps.clock.monotonicMs();
      return null;
    }
  }
}

interface RunRow {
  readonly id: string;
  readonly repository: string;
  readonly state: string;
  readonly isEnded: boolean;
  readonly began: string | null;
}

type Run = NonNullable<Awaited<ReturnType<ForgeClient['listOrgRuns']>>['workflow_runs']>[number];

function runRow({ id, repository, status, conclusion, run_attempt: attempt, started_at: began }: Run): RunRow[] {
  if (typeof id !== 'string' || typeof repository?.id !== 'string') return [];
  const state = [status ?? '', conclusion ?? '', attempt ?? ''].join('/');
  return [{ id, repository: repository.id, state, isEnded: status === 'completed', began: began ?? null }];
}

/** All known runs went with their repositories, and what stands here is older than they were. */
function isBelow(rows: readonly RunRow[], before: SeenRuns): boolean {
  const newest = largestId(Object.keys(before));
  return newest !== '0' && rows.every(({ id }) => BigInt(id) < BigInt(newest));
}
