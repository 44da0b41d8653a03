import type { LedgerEntry } from '../../src/sandbox/ledger.js';
import type { ForgeProcess } from '../../test/chaos/rig/forge-process.js';

const PAGE = 500;

/** Counts what the bot asks of the forge, by the forge's own ledger. Each entry is read once: the forge has other work to do. */
export class CallCounter {
  calls = 0;
  private readonly made: LedgerEntry[] = [];
  private after = 0;

  constructor(private readonly forge: ForgeProcess) {}

  /** Calls that changed something, in order. */
  get effects(): readonly LedgerEntry[] {
    return this.made;
  }

  /** Nothing that came until now is counted. */
  async skip(): Promise<void> {
    await this.look();
    this.made.length = 0;
    this.calls = 0;
  }

  async look(): Promise<void> {
    for (let read = PAGE; read === PAGE;) {
      const { entries } = (await this.forge.control(
        'GET',
        `/_sandbox/ledger?after=${this.after}&limit=${PAGE}`,
      )) as unknown as { entries: LedgerEntry[] };
      read = entries.length;
      for (const entry of entries) {
        // What is being answered may still change; it is read again, with all that came after it.
        if (entry.answeredAt === null && entry.goneAt === null) return;
        this.after += 1;
        if (entry.caller !== 'bot') continue;
        this.calls += 1;
        if (entry.method !== 'GET' && entry.applied.length > 0) this.made.push(entry);
      }
    }
  }
}
