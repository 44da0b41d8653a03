const TERMINATE = 0x58;
/** Query, Sync, Flush, CopyData, CopyDone, CopyFail. */
const ASKS_FOR_ANSWER = new Set([0x51, 0x53, 0x48, 0x64, 0x63, 0x66]);

const NONE = Buffer.alloc(0);

export interface Cut {
  /** Whole messages up to the last one that asks for an answer; null when there is none yet. */
  ready: Buffer | null;
  /** The client said goodbye; that message must not reach the only backend. */
  terminated: boolean;
}

/**
 * Cuts what a client writes into messages of PostgreSQL's protocol 3. The first message has a 4-byte length alone, every later one a
 * 1-byte type before it. Bytes are handed out only up to the last message that asks for an answer: the backend would wait for more.
 */
export class MessageCutter {
  private rest: Buffer = NONE;
  private started = false;

  add(chunks: readonly Buffer[]): Cut {
    const bytes = Buffer.concat([this.rest, ...chunks]);
    let at = 0;
    let readyTo = 0;
    for (;;) {
      const header = this.started ? 1 : 0;
      if (bytes.length < at + header + 4) break;
      const end = at + header + bytes.readUInt32BE(at + header);
      if (end > bytes.length) break;
      const type = this.started ? bytes[at] : undefined;
      if (type === TERMINATE) {
        this.rest = NONE;
        return { ready: readyTo > 0 ? bytes.subarray(0, readyTo) : null, terminated: true };
      }
      if (type === undefined || ASKS_FOR_ANSWER.has(type)) readyTo = end;
      this.started = true;
      at = end;
    }
    // No empty view: whoever is handed all the bytes may keep them.
    this.rest = readyTo === bytes.length ? NONE : bytes.subarray(readyTo);
    return { ready: readyTo > 0 ? bytes.subarray(0, readyTo) : null, terminated: false };
  }
}
