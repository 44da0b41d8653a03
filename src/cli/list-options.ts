import { Option } from 'commander';
import type { EffectCount } from '../insight/about-run.js';
import { plain, shortIds, state, table, when } from './print.js';
import { colour } from './terminal.js';
import type { BotOptions } from './bot-command.js';

/** Options of the lists of what happened. */
export interface ListOptions extends BotOptions {
  readonly org?: string;
  readonly limit: number;
  readonly all: boolean;
  readonly before?: string;
}

export const allOption = (): Option =>
  new Option(
    '--all',
    'include rows that changed nothing. JSON always has them, and then a line for each row of all pages',
  ).default(false);
export const beforeOption = (): Option => new Option('--before <id>', 'show the next page: older rows than this id');

/** Scripts read everything; people read what changed something, unless they ask. */
export function hidesUnchanged({ json, all }: ListOptions): boolean {
  return !json && !all;
}

/** For programs `--all` means all pages too. */
export function everyPageOf<Options extends ListOptions>(options: Options): Options {
  return { ...options, all: options.json && options.all };
}

/** What stands below a list: what it leaves out, how far it looked, and how to go on. */
export function footer({
  hides = false,
  lookedBackTo = null,
  before,
}: {
  readonly hides?: boolean;
  readonly lookedBackTo?: Date | string | null;
  /** Where the older ones begin; without it there are none. */
  readonly before: string | null | undefined;
}): string {
  const lines = [
    ...(hides ? ['rows that changed nothing are hidden: --all shows them'] : []),
    ...(lookedBackTo === null ? [] : [`looked back to ${when(lookedBackTo)} UTC, not further`]),
    ...(before === null || before === undefined ? [] : [`older ones: --before ${before}`]),
  ];
  return lines.map((line) => `\n${colour.dim(line)}`).join('');
}

/** A list of what has an id, which cells name in short. */
export interface IdList<Row> {
  readonly head: string[];
  readonly empty: string;
  readonly idOf: (row: Row) => string;
  readonly cellsOf: (row: Row, short: (id: string) => string) => string[];
}

/** A page of it. @param next id of the row behind which the next page begins; null = there is none */
export function listed<Row>(
  rows: readonly Row[],
  { head, empty, idOf, cellsOf }: IdList<Row>,
  { hides, next }: { readonly hides: boolean; readonly next: string | null },
): string {
  const short = shortIds(rows.map(idOf));
  const cells = rows.map((row) => cellsOf(row, short));
  return `${table(head, cells, empty)}${footer({ hides, before: next && short(next) })}`;
}

/** `label.ensure ×13 done`: a reason stands where the effect was not simply made or found. */
export function effectsText(effects: readonly EffectCount[]): string {
  return effects.map(effectText).join('; ');
}

function effectText({ action, state: of, mode, reason, count }: EffectCount): string {
  const many = count > 1 ? ` ×${count}` : '';
  const why = reason === null || of === 'unchanged' ? '' : `: ${plain(reason)}`;
  return `${action}${many} ${state(of)}${mode === 'dry-run' ? ' (dry-run)' : ''}${why}`;
}
