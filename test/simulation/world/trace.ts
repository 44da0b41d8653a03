import { createHash } from 'node:crypto';

/** Ids are made anew in each run; in the trace each is named by its first appearance. */
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** What happened, line by line: two runs of one seed have the same hash. */
export class Trace {
  private readonly digest = createHash('sha256');
  private readonly names = new Map<string, string>();
  readonly lines: string[] = [];

  constructor(private readonly keepsLines: boolean) {}

  add(atMs: number, who: string, what: string): void {
    const line = `${atMs.toFixed(3)} ${who} ${what.replace(ID, (id) => this.nameOf(id))}`;
    this.digest.update(line).update('\n');
    if (this.keepsLines) this.lines.push(line);
  }

  hash(): string {
    return this.digest.copy().digest('hex');
  }

  private nameOf(id: string): string {
    let name = this.names.get(id);
    if (!name) this.names.set(id, (name = `#${this.names.size + 1}`));
    return name;
  }
}
