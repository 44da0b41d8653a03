/** One line of the table. Only `fails` spoils the run. */
export interface Row {
  readonly part: string;
  readonly what: string;
  readonly verdict: 'holds' | 'fails' | 'not playable here' | 'left out';
  readonly seen: string;
}

export class Rows {
  readonly list: Row[] = [];

  constructor(private readonly say: (line: string) => void) {}

  add(part: string, what: string, verdict: Row['verdict'], seen: string): void {
    const row = { part, what, verdict, seen };
    this.list.push(row);
    this.say(lineOf(row));
  }

  /** @param wrong null = it holds */
  check(part: string, what: string, wrong: string | null, seen: string): void {
    this.add(part, what, wrong === null ? 'holds' : 'fails', wrong ?? seen);
  }

  get isGood(): boolean {
    return this.list.length > 0 && this.list.every(({ verdict }) => verdict !== 'fails');
  }
}

const PART = 9;
const WHAT = 36;

function lineOf({ part, what, verdict, seen }: Row): string {
  const word = { holds: 'holds', fails: 'FAILS', 'not playable here': 'not playable here:', 'left out': 'left out:' };
  return `${part.padEnd(PART)} ${what.padEnd(WHAT)} ${word[verdict]} ${seen}`.trimEnd();
}
