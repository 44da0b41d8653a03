import type { Clock } from '../../core/clock.js';
import { stringifyJson } from '../../core/json.js';
import type { Logger } from '../../core/logger.js';
import type { Visibility } from '../../core/visibility.js';

/** One row of a list, for whoever may see it. */
interface LiveRow {
  readonly id: string;
  /** Of a table row. */
  readonly html: string;
}

export interface LiveSource<Row> {
  /** The newest rows of everything, unless nothing has changed since the mark. The one question to the store, for all viewers. */
  news(mark: string | undefined): Promise<{ readonly mark: string; readonly rows: readonly Row[] }>;
  readonly idOf: (row: Row) => string;
  /** The row as this viewer sees it; null = not at all, or not with these filters. */
  tell(row: Row, visibility: Visibility, query: Readonly<Record<string, string>>): LiveRow | null;
}

/** A browser with an open timeline. */
export interface Viewer {
  /** Of the session's cookie. */
  readonly token: string;
  /** Whose share of the streams it takes. */
  readonly person: string;
  readonly query: Readonly<Record<string, string>>;
  /** @returns false when the browser reads too slowly */
  send(event: 'rows' | 'over' | 'still-here', data: string): boolean;
  end(): void;
}

interface HubDeps<Row> {
  readonly source: LiveSource<Row>;
  /** What each of these may see now; who is missing may see nothing any more. One question for all of them. */
  readonly visibilitiesOf: (tokens: readonly string[]) => Promise<ReadonlyMap<string, Visibility>>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly everyMs?: number;
}

const EVERY_MS = 2_000;
/** Without news: whether the viewers may still look, and whether they are still there. */
const CHECK_EVERY_MS = 15_000;

/** Tells many browsers what is new. The store is asked once each time, however many they are, and not at all while nobody looks. */
export class LiveHub<Row> {
  /** With whether each was told anything. */
  private readonly viewers = new Map<Viewer, boolean>();
  /** The rows of the newest answer, and how each was told. */
  private newest: readonly Row[] = [];
  private lastTexts = new Map<string, string>();
  private mark: string | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isTurning = false;
  /** Null = somebody has come since. */
  private checkedAt: number | null = null;

  constructor(private readonly deps: HubDeps<Row>) {}

  get size(): number {
    return this.viewers.size;
  }

  /**
   * Whether this person may have one more stream. Where there are too many in all, one of the person who has most ends for it.
   * @param most streams of all @param mostOfOne of one person
   */
  hasRoomFor(person: string, most: number, mostOfOne: number): boolean {
    const own = this.streamsOf(person);
    if (own.length >= mostOfOne) return false;
    if (this.viewers.size < most) return true;
    const people = new Set([...this.viewers.keys()].map((viewer) => viewer.person));
    const [largest = []] = [...people].map((one) => this.streamsOf(one)).sort((a, b) => b.length - a.length);
    const [oldest] = largest;
    if (!oldest || largest.length <= own.length + 1) return false;
    this.drop(oldest);
    return true;
  }

  private streamsOf(person: string): Viewer[] {
    return [...this.viewers.keys()].filter((viewer) => viewer.person === person);
  }

  /** The viewer is told what is there, so that nothing is lost between its page and the stream. */
  open(viewer: Viewer): void {
    this.viewers.set(viewer, false);
    // What it may see is asked before it is told anything.
    this.checkedAt = null;
    if (this.timer === undefined && !this.isTurning) this.plan(0);
  }

  close(viewer: Viewer): void {
    this.viewers.delete(viewer);
    if (this.viewers.size > 0) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    // Whoever comes next is told as of then.
    this.mark = undefined;
  }

  closeAll(): void {
    for (const viewer of [...this.viewers.keys()]) {
      this.close(viewer);
      viewer.end();
    }
  }

  private plan(inMs: number): void {
    this.timer = setTimeout(() => void this.turn(), inMs);
    this.timer.unref();
  }

  private async turn(): Promise<void> {
    this.timer = undefined;
    this.isTurning = true;
    try {
      await this.look();
    } catch (error) {
      this.deps.logger.warn({ error }, 'console.live-failed');
    }
    this.isTurning = false;
    if (this.viewers.size > 0) this.plan(this.deps.everyMs ?? EVERY_MS);
  }

  private async look(): Promise<void> {
    const { source } = this.deps;
    const { mark, rows } = await source.news(this.mark);
    const isNews = mark !== this.mark;
    this.mark = mark;
    const changed = isNews ? this.changedIn(rows) : [];
    const isDue = this.checkedAt === null || this.deps.clock.monotonicMs() - this.checkedAt >= CHECK_EVERY_MS;
    if (changed.length === 0 && !isDue) return;
    const viewers = [...this.viewers];
    const visibilities = await this.deps.visibilitiesOf([...new Set(viewers.map(([{ token }]) => token))]);
    this.checkedAt = this.deps.clock.monotonicMs();
    for (const [viewer, wasTold] of viewers) {
      if (!this.viewers.has(viewer)) continue;
      const visibility = visibilities.get(viewer.token);
      if (visibility === undefined) {
        viewer.send('over', '{}');
        this.drop(viewer);
        continue;
      }
      const visibleRows = (wasTold ? changed : this.newest).flatMap(
        (row) => source.tell(row, visibility, viewer.query) ?? [],
      );
      const isTaken =
        visibleRows.length > 0 ? viewer.send('rows', JSON.stringify(visibleRows)) : viewer.send('still-here', '{}');
      if (isTaken) this.viewers.set(viewer, true);
      else this.drop(viewer);
    }
  }

  /** Rows that are new or say something else than before. */
  private changedIn(rows: readonly Row[]): Row[] {
    const { idOf } = this.deps.source;
    const now = new Map(rows.map((row) => [idOf(row), stringifyJson(row as never)]));
    const changed = rows.filter((row) => now.get(idOf(row)) !== this.lastTexts.get(idOf(row)));
    this.newest = rows;
    this.lastTexts = now;
    return changed;
  }

  private drop(viewer: Viewer): void {
    this.close(viewer);
    viewer.end();
  }
}
