import type { ForgeEvent } from '../core/event.js';
import type { Intent, Run } from '../core/run.js';
import type { Visibility } from '../core/visibility.js';
import type { InboxStore } from '../pipeline/inbox-store.port.js';
import type { JournalStore } from '../pipeline/journal-store.port.js';

/** Each of these events by its id, read once; without those that are not kept any more. */
export async function eventsById(
  inbox: Pick<InboxStore, 'event'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ForgeEvent>> {
  const events = await Promise.all([...new Set(ids)].map((id) => inbox.event(id)));
  return new Map(events.flatMap((event) => (event ? [[event.id, event]] : [])));
}

/** What each of these runs wanted, by the id of the run. */
export async function intentsByRun(
  journal: Pick<JournalStore, 'workOfRuns'>,
  runs: readonly Run[],
  visibility: Visibility,
): Promise<ReadonlyMap<string, readonly Intent[]>> {
  const work = await journal.workOfRuns(
    runs.map(({ id }) => id),
    visibility,
  );
  return new Map(runs.map(({ id }, n) => [id, (work[n] ?? []).map(({ intent }) => intent)]));
}
