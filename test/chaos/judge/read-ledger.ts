import type { LedgerEntry } from '../../../src/sandbox/ledger.js';
import { isEffectOf } from '../effect-key.js';
import type { ForgeProcess } from '../rig/forge-process.js';

const PAGE = 5_000;

/** What the judge keeps of one request of the bot. */
export type Call = Omit<LedgerEntry, 'bodySha256'>;

/** Every request of the bot's accounts that the forge received, oldest first; read over HTTP, from the forge alone. */
export async function readLedger(
  forge: ForgeProcess,
  writesOnly = true,
  accounts: readonly string[] = ['bot'],
): Promise<Call[]> {
  const calls: Call[] = [];
  for (let after = 0; ;) {
    const { last, entries } = (await forge.control(
      'GET',
      `/_sandbox/ledger?after=${after}&limit=${PAGE}${writesOnly ? '&writes=true' : ''}`,
    )) as unknown as {
      last: number;
      entries: Call[];
    };
    calls.push(...entries.filter(({ caller }) => caller !== null && accounts.includes(caller)));
    after += PAGE;
    if (after >= last) return calls;
  }
}

/** Follows the ledger while the storm lasts: how many effects there are, without reading it all each time. */
export class LedgerTail {
  private after = 0;
  private settled = 0;
  private open = 0;
  /** When the last request of the bot was seen. */
  lastSeenAt = Date.now();
  private lastN = 0;
  private readonly lastWrites = new Map<string, number>();

  constructor(private readonly forge: ForgeProcess) {}

  /** When the last write under a Host header came; 0 = never. */
  lastWriteOf(host: string): number {
    return this.lastWrites.get(host) ?? 0;
  }

  /** Whether a write under a Host header is at the forge in this moment. */
  async isCalling(host: string): Promise<boolean> {
    const { entries } = (await this.forge.control(
      'GET',
      `/_sandbox/ledger?after=${this.after}&writes=true`,
    )) as unknown as { entries: Call[] };
    return entries.some(
      (call) => call.host === host && call.caller === 'bot' && call.answeredAt === null && call.goneAt === null,
    );
  }

  /** Effects made by the bot until now. */
  async effects(): Promise<number> {
    const { last, entries } = (await this.forge.control('GET', `/_sandbox/ledger?after=${this.after}`)) as unknown as {
      last: number;
      entries: Call[];
    };
    const newest = entries.filter(({ caller }) => caller === 'bot').at(-1)?.n ?? this.lastN;
    for (const { host, caller, method, receivedAt } of entries)
      if (caller === 'bot' && method !== 'GET') this.lastWrites.set(host ?? '', Date.parse(receivedAt));
    if (newest > this.lastN) this.lastSeenAt = Date.now();
    this.lastN = newest;
    // An entry may change for as long as an effect may come late; older ones are counted once.
    const old = Date.now() - 15_000;
    let n = 0;
    while (n < entries.length && Date.parse(entries[n]?.receivedAt ?? '') < old) n += 1;
    this.settled += entries.slice(0, n).filter(isEffect).length;
    this.after = n === entries.length ? last : this.after + n;
    this.open = entries.slice(n).filter(isEffect).length;
    return this.settled + this.open;
  }
}

function isEffect({ caller, method, operation, applied }: Call): boolean {
  return caller === 'bot' && method !== 'GET' && isEffectOf(operation ?? '', applied);
}
