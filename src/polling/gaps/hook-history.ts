import { Inject, Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { KnownFacts } from '../../core/known-facts.port.js';
import type { Hook } from '../../core/objects/repositories.js';
import type { OwnHook } from './classify-gap.js';

/** What our webhooks asked for, and since when that may be so. */
const hookPeriod = z.object({
  since: z.string(),
  /** The last look that showed them so; null where it was not kept. */
  seen: z.string().nullable().default(null),
  hooks: z.array(z.object({ active: z.boolean(), events: z.array(z.string()), branchFilter: z.string() })),
});
type HookPeriod = z.infer<typeof hookPeriod>;

const KIND = 'hook.history';
/** Hooks are changed by hand: this is years of it. */
const MAX_PERIODS = 50;

/**
 * Which events our webhooks asked for, since when. A delivery that did not come is judged by the hook as it was at the time of the act, not as it
 * is when somebody looks. The time of the last look is kept over restarts: people change webhooks while the bot is down.
 */
@Injectable()
export class HookHistory {
  constructor(@Inject(KnownFacts) private readonly facts: Pick<KnownFacts, 'read' | 'write'>) {}

  /**
   * Keep what the forge showed at this time. Nothing is written when it never showed a webhook of ours. A changed webhook counts as changed right
   * after the last look.
   */
  async note(forge: string, org: string, hooksNow: readonly OwnHook[], at: Date): Promise<void> {
    const hooks = inOrder(hooksNow);
    const periods = await this.read(forge, org);
    const last = periods.at(-1);
    if (hooksNow.length === 0 && !last) return;
    const seen = at.toISOString();
    // Another process kept a newer look.
    if (last?.seen && last.seen > seen) return;
    const isSame = isDeepStrictEqual(last?.hooks, hooks);
    const period = { since: (isSame ? last?.since : last?.seen) ?? seen, seen, hooks };
    const before = isSame ? periods.slice(0, -1) : periods;
    await this.facts.write(forge, org, KIND, [...before, period].slice(-MAX_PERIODS));
  }

  /** The webhooks as they were at this time: of an earlier time than the first look, as they were then; of no time, as they are. */
  async at(forge: string, org: string, time: Date | null): Promise<readonly OwnHook[] | null> {
    const periods = await this.read(forge, org);
    const period =
      time === null
        ? periods.at(-1)
        : (periods.findLast(({ since }) => Date.parse(since) <= time.getTime()) ?? periods[0]);
    return period?.hooks ?? null;
  }

  private async read(forge: string, org: string): Promise<HookPeriod[]> {
    const row = await this.facts.read(forge, org, KIND);
    return z.array(hookPeriod).safeParse(row?.fact).data ?? [];
  }
}

export function ownHookOf({
  active,
  events,
  branch_filter: branchFilter,
}: Pick<Hook, 'active' | 'branch_filter'> & { readonly events?: readonly string[] | null | undefined }): OwnHook {
  return { active: active ?? false, events: events ?? [], branchFilter: branchFilter ?? '' };
}

/** Servers show hooks and their events in any order. */
function inOrder(hooks: readonly OwnHook[]): HookPeriod['hooks'] {
  return hooks
    .map(({ active, events, branchFilter }) => ({ active, events: [...events].sort(), branchFilter }))
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
