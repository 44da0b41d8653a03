import type { Tick, TickStore } from '../../src/pipeline/tick-store.port.js';

/** Twin of the ticks table: one row per forge, organization, schedule and occurrence to the second. */
export class InMemoryTickStore implements TickStore {
  readonly rows: Tick[] = [];

  async claim(tick: Omit<Tick, 'state'>): Promise<boolean> {
    const occurrence = new Date(Math.floor(tick.occurrence.getTime() / 1_000) * 1_000);
    const isSame = (row: Tick): boolean =>
      row.forge === tick.forge &&
      row.org === tick.org &&
      row.schedule === tick.schedule &&
      row.occurrence.getTime() === occurrence.getTime();
    if (this.rows.some(isSame)) return false;
    this.rows.push({ ...tick, occurrence, state: 'due' });
    return true;
  }

  async last(forge: string, org: string, schedule: string, upTo?: Date): Promise<Date | null> {
    const times = this.rows
      .filter(
        (row) =>
          row.forge === forge && row.org === org && row.schedule === schedule && (!upTo || row.occurrence <= upTo),
      )
      .map((row) => row.occurrence.getTime());
    return times.length > 0 ? new Date(Math.max(...times)) : null;
  }

  lastOf(...[schedules, upTo]: Parameters<TickStore['lastOf']>): Promise<Array<Date | null>> {
    return Promise.all(schedules.map(({ forge, org, schedule }) => this.last(forge, org, schedule, upTo)));
  }

  async due(limit: number): Promise<Tick[]> {
    const due = this.rows
      .filter((row) => row.state === 'due')
      .sort((a, b) => a.occurrence.getTime() - b.occurrence.getTime());
    return structuredClone(due.slice(0, limit));
  }

  async markDecided(id: string): Promise<void> {
    const row = this.rows.find((known) => known.id === id);
    if (row) row.state = 'decided';
  }

  /** Knows no revisions: what a policy has once for each of them stays. */
  async prune(before: Date, keep: number, limit: number): Promise<number> {
    const isNewer = (row: Tick, than: Tick): boolean =>
      row.forge === than.forge &&
      row.org === than.org &&
      row.schedule === than.schedule &&
      row.occurrence > than.occurrence;
    const old = this.rows.filter(
      (row) =>
        row.state === 'decided' &&
        row.occurrence < before &&
        this.rows.filter((one) => isNewer(one, row)).length >= keep,
    );
    for (const row of old.slice(0, limit)) this.rows.splice(this.rows.indexOf(row), 1);
    return Math.min(old.length, limit);
  }
}
