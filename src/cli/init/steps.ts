import { asCalled } from '../called-as.js';
import { colour } from '../terminal.js';
import { plain, wrapped } from '../print.js';

/** `kept`: it was there already. `left`: it is still to do. */
type StepState = 'done' | 'kept' | 'left';

export interface Step {
  readonly step: string;
  readonly state: StepState;
  // oxlint-disable-next-line local/no-participle-names -- in the output of init --json
  readonly said: string;
  /** What to click or type; empty when nothing is left. */
  readonly todo: readonly string[];
}

const SIGNS: Readonly<Record<StepState, string>> = {
  done: colour.green('done'),
  kept: colour.cyan('kept'),
  left: colour.yellow('left'),
};

/** What was done, told as it happens and kept for the end. */
export class Steps {
  readonly all: Step[] = [];
  /** Files that this run made. */
  readonly files: string[] = [];
  /** What it made elsewhere, and how to remove it. */
  readonly elsewhere: string[] = [];

  /** @param columns width of what it is written on; default that of stdout, without end where that is no terminal */
  constructor(
    private readonly write: (text: string) => void,
    private readonly columns?: number,
  ) {}

  addDone(step: string, text: string): void {
    this.add({ step, state: 'done', said: text, todo: [] });
  }

  addKept(step: string, text: string): void {
    this.add({ step, state: 'kept', said: text, todo: [] });
  }

  addLeft(step: string, text: string, ...todo: string[]): void {
    this.add({ step, state: 'left', said: text, todo });
  }

  /** Something to read that is no step. */
  say(...lines: string[]): void {
    this.copy(...lines.flatMap((line) => wrapped(line, this.columns)));
  }

  /** Something to type or to paste: each line stays as it is. */
  copy(...lines: string[]): void {
    for (const line of lines) this.write(`${asCalled(line)}\n`);
  }

  /** What an interrupted run leaves behind. */
  remains(): string[] {
    return [
      ...(this.files.length > 0 ? [`made so far: ${this.files.join(' ')}; rm removes them`] : []),
      ...this.elsewhere,
      'to go on: the same command again; it keeps what is there',
    ];
  }

  private add(step: Step): void {
    this.all.push(step);
    this.say(
      `${SIGNS[step.state]}  ${colour.bold(step.step)}  ${plain(step.said)}`,
      ...step.todo.map((line) => `        ${plain(line)}`),
    );
  }
}
