import { Option, type Command } from 'commander';
import { SEARCH } from '../api/lists.js';
import { counted } from '../api/words.js';
import { stringifyJson } from '../core/json.js';
import { storeCommand, type BotOptions } from './bot-command.js';
import { wholeNumber } from './command-options.js';
import { print } from './print.js';
import { filterOptions } from './print-list.js';
import { withBot, type Reach } from './reach-bot.js';
import { colour, writeOut } from './terminal.js';

/** Options of every list that comes in pages. */
export interface PageOptions extends BotOptions {
  readonly all: boolean;
  readonly after?: string;
  readonly limit: number;
}

/** What is sent for one page. */
interface PagePlace {
  readonly after: string | undefined;
  readonly limit: number;
}

export interface Page {
  readonly rows: readonly unknown[];
  /** Where the next page begins; null = this was the last one. */
  readonly next: string | null;
}

interface Pages<Answer extends Page> {
  readonly page: (place: PagePlace) => Promise<Answer>;
  /** A page as people read it. */
  readonly show: (answer: Answer) => string | Promise<string>;
  /** What a page tells of its own rows beside them, joined with that of the pages before. Default: that of the first page is shown. */
  readonly join?: ((first: Answer, further: Answer) => Answer) | undefined;
}

const USUAL_ROWS = 50;
/** Rows of one request where all are wanted. */
const MOST_ROWS = 1_000;

/** The rows of all pages. */
export async function everyRow<Row>(
  page: (place: PagePlace) => Promise<{ readonly rows: readonly Row[]; readonly next: string | null }>,
): Promise<Row[]> {
  const rows: Row[] = [];
  let after: string | undefined;
  do {
    const answer = await page({ after, limit: MOST_ROWS });
    rows.push(...answer.rows);
    after = answer.next ?? undefined;
  } while (after !== undefined);
  return rows;
}

/**
 * One page; with `all` every row: for people as one page, for programs as a line of JSON for each row, written as it comes.
 * @returns the first page, whose counts are those of all
 */
export async function printPages<Answer extends Page>(
  { json, all, after, limit }: PageOptions,
  { page, show, join = (all) => all }: Pages<Answer>,
): Promise<Answer> {
  const first = await page({ after, limit: all ? MOST_ROWS : limit });
  if (!all) {
    const text = json ? '' : await show(first);
    print(json, first, () => text);
    return first;
  }
  const rows: unknown[] = [];
  let joined = first;
  for (let current = first; ; current = await page({ after: current.next ?? undefined, limit: MOST_ROWS })) {
    if (json) for (const row of current.rows) writeOut(`${stringifyJson(row as never)}\n`);
    else rows.push(...current.rows);
    if (current !== first) joined = join(joined, current);
    if (current.next === null) break;
  }
  if (!json) {
    const text = await show({ ...joined, rows, next: null });
    print(false, null, () => text);
  }
  return first;
}

export function pageOptions(): Option[] {
  return [...filterOptions([SEARCH]), ...placeOptions()];
}

/** Of a list that is not searched. */
export function placeOptions(): Option[] {
  const limit = new Option('-n, --limit <count>', 'maximum number of rows');
  return [afterOption(), limit.default(USUAL_ROWS).argParser(wholeNumber(1, MOST_ROWS)), everyPageOption()];
}

export const afterOption = (): Option => new Option('--after <next>', 'show the next page: `next` of the page before');
export const everyPageOption = (): Option =>
  new Option('--all', 'show all pages. With --json: one line of JSON for each row').default(false);

/** Lists by time call the place of a page `before`. */
interface TimeOptions extends BotOptions {
  readonly all: boolean;
  readonly before?: string;
  readonly limit: number;
}

export function pagesByTime({ config, json, all, before, limit }: TimeOptions): PageOptions {
  return { config, json, all, limit, ...(before === undefined ? {} : { after: before }) };
}

interface PageCommand<Options, Answer extends Page> {
  /** The option that the argument of the command is read as. */
  readonly argument?: keyof Options & string;
  readonly page: (bot: Reach, options: Options & PagePlace) => Promise<Answer>;
  readonly show: (answer: Answer, options: Options) => string | Promise<string>;
  readonly join?: Pages<Answer>['join'];
  /** What follows from the first page, such as the exit code: what it counts are all rows. */
  readonly after?: (answer: Answer) => void;
  /** Done in place of asking the bot, where it answers true. */
  readonly instead?: (options: BotOptions & Options) => Promise<boolean>;
}

/** A command that prints a list in pages, what needs attention first. */
export function pageCommand<Options extends object, Answer extends Page>(
  name: string,
  summary: string,
  { argument, page, show, join, after: then, instead }: PageCommand<Options, Answer>,
): Command {
  const command = storeCommand(name, summary);
  for (const option of pageOptions()) command.addOption(option);
  return command.action(async (...args: unknown[]) => {
    if (await instead?.(args.at(-2) as BotOptions & Options)) return;
    const { config, json, all, after, limit, ...rest } = args.at(-2) as PageOptions;
    const options = { ...rest, ...(argument === undefined ? {} : { [argument]: args[0] }) } as Options;
    const wanted: PageOptions = { config, json, all, limit, ...(after === undefined ? {} : { after }) };
    await withBot(config, async (bot) => {
      const first = await printPages(wanted, {
        page: (place) => page(bot, { ...options, ...place }),
        show: (answer) => show(answer, options),
        join,
      });
      then?.(first);
    });
  });
}

/**
 * Below a page: how many rows there are, and how to go on. Nothing where all are shown.
 * @param how the options that show the next page
 */
export function moreLine(
  { rows, next, total, attention }: Page & { readonly total: number; readonly attention: number },
  one: string,
  many?: string,
  how = (place: string): string => `--after '${place}', or --all`,
): string {
  if (next === null && rows.length === total) return '';
  const first =
    attention > 0
      ? `; ${counted(attention, 'needs', 'need')} attention and ${attention === 1 ? 'comes' : 'come'} first`
      : '';
  const more = next === null ? '' : `. More: ${how(next)}`;
  return `\n${colour.dim(`${rows.length} of ${counted(total, one, many)}${first}${more}`)}`;
}
