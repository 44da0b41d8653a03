import { plain } from '../print.js';
import { colour } from '../terminal.js';

export type Paint = (text: string) => string;

/** One cell: its text, and a colour that takes no room. */
export interface Cell {
  readonly text: string;
  readonly paint?: Paint;
}

/** Widths of act, arrival, rule, effect; the last column takes what is left. */
const WIDTHS = [48, 36, 20, 26] as const;
const ARROW = ' -> ';
const NUMBER = 4;
/** On a terminal narrower than this the act stands on a line of its own. */
const ROOM_FOR_ALL = 180;
const INDENT = 6;

/** Lines in aligned columns: act, then arrival -> rule -> effect -> what the forge holds; cut to the terminal's width where there is one. */
export class Lines {
  private readonly isWide: boolean;

  constructor(
    private readonly write: (line: string) => void,
    private readonly width: number = Infinity,
  ) {
    this.isWide = width >= ROOM_FOR_ALL;
  }

  head(): void {
    const [act, ...rest] = ['act', 'arrival', 'rule', 'effect', 'what the forge now holds'].map((text) => ({
      text,
      paint: colour.bold,
    })) as [Cell, ...Cell[]];
    this.row('', act, rest);
  }

  /** @param act null on further lines of the same act */
  row(no: string, act: Cell | null, rest: readonly Cell[]): void {
    if (this.isWide) {
      this.line(NUMBER, [{ text: no.padStart(NUMBER - 1), paint: colour.dim }], [act ?? { text: '' }, ...rest], WIDTHS);
      return;
    }
    if (act) this.line(NUMBER, [{ text: no.padStart(NUMBER - 1), paint: colour.dim }], [act], []);
    this.line(INDENT, [], rest, this.narrowed(WIDTHS.slice(1)));
  }

  note(text: string): void {
    this.write(colour.dim(text));
  }

  /** On a narrow terminal each column gives way, so that what the forge holds keeps a quarter. */
  private narrowed(widths: readonly number[]): readonly number[] {
    const wanted = widths.reduce((sum, width) => sum + width + ARROW.length, 0);
    const share = Math.min(1, ((this.width - INDENT) * 0.75) / wanted);
    return widths.map((width) => Math.floor(width * share));
  }

  private line(indent: number, before: readonly Cell[], cells: readonly Cell[], widths: readonly number[]): void {
    const lead = before[0] ?? { text: '' };
    let line = paint(lead, lead.text) + ' '.repeat(indent - lead.text.length);
    let rest = this.width - indent;
    for (const [column, cell] of cells.entries()) {
      const room = column === cells.length - 1 ? rest : Math.min(widths[column] ?? rest, rest);
      const text = cut(plain(cell.text), Math.max(0, room));
      line += paint(cell, text);
      if (column === cells.length - 1) break;
      const arrow =
        (cells[column + 1]?.text ?? '') === '' || (column === 0 && this.isWide)
          ? ' '.repeat(ARROW.length)
          : colour.dim(ARROW);
      line += ' '.repeat(Math.max(0, room - text.length)) + arrow;
      rest -= room + ARROW.length;
      if (rest <= 0) break;
    }
    this.write(line.trimEnd());
  }
}

function paint(cell: Cell, text: string): string {
  return cell.paint ? cell.paint(text) : text;
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : width <= 1 ? text.slice(0, width) : `${text.slice(0, width - 1)}…`;
}
