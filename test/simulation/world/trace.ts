import { createHash } from 'node:crypto';

/** Ids are made anew in each run; in the trace each is named by its first appearance. */
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const ID_LENGTH = 36;

/** What happened, line by line: two runs of one seed have the same hash. */
export class Trace {
  private readonly digest = createHash('sha256');
  /** Lines that are not in the digest yet. */
  private text = '';
  private readonly names = new Map<string, string>();
  readonly lines: string[] = [];

  constructor(private readonly keepsLines: boolean) {}

  add(atMs: number, who: string, what: string): void {
    const line = `${atMs.toFixed(3)} ${who} ${what.length < ID_LENGTH ? what : what.replace(ID, (id) => this.nameOf(id))}`;
    this.text += `${line}\n`;
    if (this.text.length > 16_384) this.take();
    if (this.keepsLines) this.lines.push(line);
  }

  hash(): string {
    this.take();
    return this.digest.copy().digest('hex');
  }

  private take(): void {
    this.digest.update(this.text);
    this.text = '';
  }

  private nameOf(id: string): string {
    let name = this.names.get(id);
    if (!name) this.names.set(id, (name = `#${this.names.size + 1}`));
    return name;
  }
}
