import { shortRevision } from '../core/ids.js';
import type { Command } from 'commander';
import { describeOrigin } from './describe-origin.js';
import type { StatusReport } from '../api/operations/answers.js';
import { plain, state, when } from './print.js';
import { waitingLines } from './print-waiting.js';
import { colour } from './terminal.js';
import type { SentTo } from '../api/operations/index.js';
import { orgOption } from './command-options.js';
import { moreLine, pageCommand } from './page-command.js';
import { counted } from '../api/words.js';

export function statusCommand(): Command {
  return pageCommand('status', 'show what needs attention, and each organization with its revision and its polls', {
    page: async (bot, options: SentTo<'status'>) => ({ running: bot.running, ...(await bot.call('status', options)) }),
    show: (report) => describeStatus(report, report.running),
    join: ({ deliveries, ...report }, further) => ({
      ...report,
      deliveries: { ...deliveries, hooks: [...deliveries.hooks, ...further.deliveries.hooks] },
    }),
  }).addOption(orgOption());
}

export function describeStatus(report: StatusReport, running: boolean): string {
  const lines = [
    running
      ? `forgehand ${report.version}, ${report.deployment}, roles ${report.roles.join(', ')}, up since ${when(report.startedAt)} UTC`
      : colour.yellow('no bot is running; this is what the store says'),
  ];
  for (const forge of report.forges)
    lines.push(
      `forge ${forge.id}: ${forge.product ? plain(`${forge.product} ${forge.version ?? ''}`) : 'not asked yet'}${forge.self ? `, we are ${plain(forge.self)}` : ''}`,
    );
  const counts = Object.entries(report.intents).filter(([, count]) => count > 0);
  lines.push(
    `intents: ${counts.length === 0 ? 'none' : counts.map(([word, count]) => `${count} ${state(word)}`).join(', ')}`,
    ...attentionLines(report),
    ...report.rows.flatMap((org) => orgLines(org, report.deliveries.hooks)),
  );
  return `${lines.join('\n')}${moreLine(report, 'organization')}`;
}

/** What somebody should look at, whichever organization it is about. */
function attentionLines(report: StatusReport): string[] {
  const lines = report.alerts.map(({ message, at }) => colour.red(`alert: ${plain(message)}, since ${when(at)}`));
  lines.push(...behindLines(report.behind));
  for (const { topic, id, deaths, since } of report.quarantined)
    lines.push(
      colour.red(
        `quarantined: ${topic} ${id}, ${deaths} processes ended over it, since ${when(since)} (forgehand release ${id})`,
      ),
    );
  for (const pause of report.paused) lines.push(colour.yellow(pausedLine(pause)));
  for (const budget of report.held) lines.push(colour.yellow(heldLine(budget)));
  // Pauses, budgets and quarantine have lines of their own.
  lines.push(...waitingLines(report.waiting.filter(({ code }) => !TOLD_ABOVE.has(code))));
  if (report.queueHealthy === false)
    lines.push(colour.yellow('the queue does not answer; workers find their work in the store meanwhile'));
  if (report.cut.length > 0)
    lines.push(
      colour.dim(`longer than shown: ${report.cut.join(', ')}. More: --limit 1000, or --org NAME for one organization`),
    );
  return lines;
}

function orgLines(org: StatusReport['rows'][number], hooks: StatusReport['deliveries']['hooks']): string[] {
  const revision = org.revision
    ? `revision ${shortRevision(org.revision.id)} (${[...countsOf(org.revision), `loaded ${when(org.revision.loadedAt)}`].join(', ')})`
    : colour.red('no revision is active');
  const lines = [`${colour.bold(org.name)} on ${org.forge}: ${revision}`];
  if (org.heldBack.length > 0)
    lines.push(
      colour.red(`  a newer revision is held back:`),
      ...org.heldBack.map((problem) => `    ${plain(problem)}`),
    );
  if (org.lacking.length > 0)
    lines.push(
      colour.yellow('  what some rules need is not there; those that cannot work are held back:'),
      ...org.lacking.map((line) => `    ${plain(line)}`),
    );
  if (org.source) lines.push(...sourceLines(org.source));
  for (const { hook, count: many, last } of hooks.filter((one) => one.org === org.name))
    lines.push(`  hook ${hook}: ${counted(many, 'delivery', 'deliveries')} in the last day, last ${when(last)}`);
  for (const poller of org.pollers)
    lines.push(
      `  ${poller.source}: last advanced ${when(poller.advancedAt)}${poller.oldestReadAt ? `, every repository read since ${when(poller.oldestReadAt)}` : ''}${poller.isQuiet ? '; no rule waits for them: read at one poll in ten' : ''}`,
    );
  return [...lines, ...org.stages.map(stageLine)];
}

const TOLD_ABOVE: ReadonlySet<string> = new Set(['effect.pause', 'effect.budget', 'work.quarantined']);

function pausedLine({ org, rule, by, at, reason, waiting }: StatusReport['paused'][number]): string {
  const head = `paused: ${org ?? 'everything'}${rule ? `, rule ${rule}` : ''} by ${plain(by)} since ${when(at)}${reason ? `: ${plain(reason)}` : ''}`;
  return `${head}; ${counted(waiting, 'effect waits', 'effects wait')} (forgehand resume${org ? ` --org ${plain(org)}` : ''}${rule ? ` --rule ${plain(rule)}` : ''})`;
}

/** The rules behind the counts, and the command that shows their runs. */
function behindLines(behind: StatusReport['behind']): string[] {
  return [...new Set(behind.map(({ state: of }) => of))].flatMap((of) => {
    const rules = behind.filter((one) => one.state === of);
    const runs = of === 'unknown' || of === 'waiting' ? 'open' : 'failed';
    const named = rules.slice(0, RULES_SHOWN).map(({ org, rule, count: many }) => `${org}/${rule} ${many}`);
    const more = rules.length > RULES_SHOWN ? ', …' : '';
    const only = rules.length === 1 ? ` --rule ${rules[0]?.rule ?? ''}` : '';
    return [`  ${state(of)}: ${plain(named.join(', '))}${more} (forgehand runs --state ${runs}${only})`];
  });
}

const RULES_SHOWN = 5;

function heldLine({ code, org, kind, of, perHour, effects, since, next, until }: StatusReport['held'][number]): string {
  const times = `since ${when(since)}; the first is tried again at ${when(next)}, the last at ${when(until)}`;
  return `held: ${counted(effects, 'effect')} in ${plain(org)} by the budget of ${kind} ${plain(of)} (${perHour} per hour) ${times} (${code})`;
}

function sourceLines({
  repository,
  commit,
  branch,
  state: verdict,
  history,
  unposted,
  notes,
  code,
  origin,
  learnedAt,
}: NonNullable<StatusReport['rows'][number]['source']>): string[] {
  const where = commit ? `${repository} at ${commit.slice(0, 12)} (${plain(branch ?? '')})` : repository;
  const words = { active: 'active', refused: colour.red('not taken'), unreachable: 'not asked' };
  return [
    `  rules from ${plain(where)}: ${words[verdict]}${code ? ` (${code})` : ''}, said ${when(learnedAt)}${history ? `; ${plain(history)}` : ''}`,
    ...(origin ? [`    ${plain(describeOrigin(origin))}`] : []),
    ...notes.map((note) => `    ${plain(note)}`),
    ...(unposted ? [colour.yellow(`    the verdict is not on the commit: ${plain(unposted)}`)] : []),
  ];
}

function stageLine({
  rule,
  kind,
  stage,
  percent,
  by,
  at,
  forced,
}: StatusReport['rows'][number]['stages'][number]): string {
  const what = stage === 'canary' ? `canary ${percent}%` : stage;
  if (kind === 'fallback')
    return colour.red(`  rule ${rule}: its canary made errors and fell back to shadow at ${when(at)}`);
  return `  rule ${rule}: ${what}, ${kind === 'file' ? 'as its file says' : `promoted by ${plain(by)}${forced ? ', forced' : ''}`}, since ${when(at)}`;
}

function countsOf({ rules, policies }: { rules: number | null; policies: number | null }): string[] {
  return [
    ...(rules === null ? [] : [counted(rules, 'rule')]),
    ...(policies === null ? [] : [counted(policies, 'policy', 'policies')]),
  ];
}
