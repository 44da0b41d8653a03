import { InvalidArgumentError, Option, type Command } from 'commander';
import { checkChain, type CheckedChain } from '../api/check-chain.js';
import { kindOf } from '../core/audit-chain.js';
import { UserError } from '../core/errors.js';
import type { SetExit } from './command-options.js';
import { plain, print } from './print.js';
import { withBot, type Reach } from './reach-bot.js';
import { whichOrg } from './which-org.js';
import { colour } from './terminal.js';
import { storeCommand, type BotOptions } from './bot-command.js';

interface KeptLink {
  readonly n: number;
  readonly link: string;
}

interface AuditOptions extends BotOptions {
  readonly org?: string;
  // oxlint-disable-next-line local/no-participle-names -- the option --known
  readonly known?: KeptLink;
  readonly head: boolean;
}

/** The whole chain of an organization. */
interface AuditReport extends Omit<CheckedChain, 'isEnd'> {
  readonly org: string;
  /** Whether the link that the caller knows is in it; null = none was given. */
  // oxlint-disable-next-line local/no-participle-names -- in the output of audit --json
  readonly known: boolean | null;
}

/** Links in one answer. */
const PAGE = 500;
const SHOWN = 20;

/** Exit: 0 every link holds, 1 one does not. */
export function auditCommand(exit: SetExit): Command {
  return storeCommand('audit', 'verify the audit chain; print the first record that was changed')
    .option('--org <name>', 'only this organization')
    .addOption(
      new Option(
        '--known <head>',
        'head that an earlier audit printed (number:hash); it must still be in the chain',
      ).argParser(knownHead),
    )
    .option('--head', 'print the head of each chain, to keep off this host; exits 1 when a link is broken', false)
    .action((options: AuditOptions) =>
      withBot(options.config, async (bot) => {
        const all = bot.config.orgs.map(({ label }) => label);
        const orgs =
          options.org === undefined && options.known === undefined ? all : [whichOrg(bot.config, options.org).label];
        const reports: AuditReport[] = [];
        for (const org of orgs) reports.push(await auditOf(bot, org, options.known));
        if (options.org === undefined && options.known === undefined) {
          const others = await auditOf(bot, undefined, undefined);
          if (others.checked > 0 || others.broken !== null) reports.push(others);
        }
        if (options.head)
          print(options.json, { at: now(), heads: reports.map(headOf) }, () => reports.map(headLine).join('\n'));
        else print(options.json, reports, () => reports.map(describe).join('\n'));
        if (reports.some(({ broken, known }) => broken !== null || known === false)) exit(1);
      }),
    );
}

function knownHead(text: string): KeptLink {
  const [, n, link] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (n === undefined || link === undefined)
    throw new InvalidArgumentError('expected a head as `forgehand audit` prints it, such as 12:9f86….');
  return { n: Number(n), link };
}

/** @param org undefined = acts that concern no organization alone */
export async function auditOf(
  bot: Pick<Reach, 'call'>,
  org: string | undefined,
  wanted: KeptLink | undefined,
): Promise<AuditReport> {
  let isKnown = wanted ? false : null;
  const { isEnd, ...chain } = await checkChain(async (after) => {
    // A page ends at the link that is looked for, whose hash is told then.
    const limit = wanted && wanted.n > after ? Math.min(PAGE, wanted.n - after) : PAGE;
    const page = await bot.call('audit', { org, after, limit });
    if (wanted && page.head?.n === wanted.n) isKnown = page.head.link === wanted.link;
    return page;
  });
  if (!isEnd && !chain.broken) throw new UserError('AUDIT_STANDS_STILL', 'the chain cannot be read to its end');
  return { org: org ?? '', ...chain, known: isKnown };
}

/** What is kept off the host. `head` goes into `forgehand audit --known`; null where nothing is sealed yet, or the chain is broken. */
interface KeptHead {
  readonly org: string;
  readonly head: string | null;
  /** Links up to the head; one for each finished run and each act. */
  readonly links: number;
  readonly holds: boolean;
}

export function headOf({ org, checked, head, broken, known }: AuditReport): KeptHead {
  const holds = broken === null && known !== false;
  return { org, head: head && holds ? `${head.n}:${head.link}` : null, links: checked, holds };
}

function headLine(report: AuditReport): string {
  const { org, head, links, holds } = headOf(report);
  if (!holds) return describe(report);
  return head === null
    ? `${now()} ${named(org)} - (no run is sealed yet)`
    : `${now()} ${named(org)} ${head} (${links} links)`;
}

function now(): string {
  return new Date().toISOString();
}

/** The chain of acts that concern no organization alone has no name. */
function named(org: string): string {
  return org === '' ? 'no organization' : plain(org);
}

/** For people. */
export function describe({ org, checked, head, broken, again, deleted, known }: AuditReport): string {
  const lines = [
    broken
      ? `${colour.red('broken')} ${named(org)}: link ${broken.n} (${kindOf(broken.runId) === 'run' ? 'run ' : ''}${broken.runId}): ${broken.why}`
      : `${colour.green('ok')} ${named(org)}: ${checked} links hold${head ? `; head ${head.n}:${head.link}` : ', no run is sealed yet'}`,
  ];
  if (known === false)
    lines.push(
      `${colour.red('broken')} ${named(org)}: the head that you know is not in the chain: links were taken away or made anew`,
    );
  // The newest, when there are many.
  for (const { from, to, links, days, at } of deleted.slice(-SHOWN))
    lines.push(
      `  ${from} to ${to} were deleted by retention on ${at.toISOString().slice(0, 10)} (${links} links, older than ${days} days)`,
    );
  if (deleted.length > SHOWN) lines.push(`  and ${deleted.length - SHOWN} earlier stretches (--json lists all)`);
  if (again.length > 0)
    lines.push(
      `  sealed once more (taken up again by forgehand retry, or changed by forgehand erase): ${again.slice(0, SHOWN).join(', ')}${again.length > SHOWN ? ` and ${again.length - SHOWN} more` : ''}`,
    );
  return lines.join('\n');
}
