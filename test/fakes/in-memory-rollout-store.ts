import type { RolloutEvidence, RolloutRow, RolloutStore } from '../../src/pipeline/rollout-store.port.js';
import { isHeld } from '../../src/core/run-reasons.js';
import type { InMemoryJournalStore } from './in-memory-journal-store.js';

/** Twin of the table of stages, over a journal in memory. */
export class InMemoryRolloutStore implements RolloutStore {
  readonly rows: RolloutRow[] = [];

  constructor(private readonly journal: InMemoryJournalStore) {}

  async newest(org: string, rule: string): Promise<RolloutRow | null> {
    return this.rows.findLast((row) => row.org === org && row.rule === rule) ?? null;
  }

  async list(orgs: readonly string[]): Promise<RolloutRow[]> {
    const newest = new Map(this.rows.map((row) => [`${row.org}/${row.rule}`, row]));
    return [...newest].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, row]) => (orgs.includes(row.org) ? [row] : []));
  }

  async add(row: RolloutRow, after: string | null): Promise<boolean> {
    const newest = this.rows.findLast(({ org, rule }) => org === row.org && rule === row.rule);
    if ((newest?.id ?? null) !== after) return false;
    this.rows.push(row);
    return true;
  }

  async evidence(org: string, rule: string, since: Date, newest: number): Promise<RolloutEvidence> {
    const runs = [...this.journal.peekRuns()]
      .reverse()
      .filter(
        (run) =>
          run.org === org &&
          run.rule === rule &&
          run.decidedAt >= since &&
          !(run.state === 'error' && isHeld(run.reason)),
      );
    const isError = ({ state }: { state: string }): boolean => state === 'error' || state === 'failed';
    const recorded: Record<string, number> = {};
    for (const run of runs.filter(({ mode }) => mode === 'dry-run'))
      for (const { action, state } of this.journal.peekIntents(run.id))
        recorded[`${action} ${state}`] = (recorded[`${action} ${state}`] ?? 0) + 1;
    return {
      decisions: runs.length,
      fired: runs.filter((run) => run.state !== 'not-fired' && !isError(run)).length,
      notFired: runs.filter(({ state }) => state === 'not-fired').length,
      errors: runs.filter(isError).length,
      live: runs.filter(({ mode }) => mode === 'live').length,
      recorded,
      newest: runs.slice(0, newest).map((run) => ({ runId: run.id, isError: isError(run), reason: run.reason })),
    };
  }
}
