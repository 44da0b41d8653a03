import { Option } from 'commander';
import type { Command } from 'commander';
import { InvalidFile } from '../core/errors.js';
import { print } from './print.js';
import { withBot } from './reach-bot.js';
import { ruleFolder } from './rule-folder.js';
import { readSince } from './since.js';
import { whichOrg } from './which-org.js';
import { Progress } from './progress.js';
import { storeCommand, type BotOptions } from './bot-command.js';

interface BacktestOptions extends BotOptions {
  since: Date;
  until?: Date;
  rules?: string;
  org?: string;
  samples: boolean;
}

const PAGE = 500;

/** Deciding is pure, so it is done here, in this process: the bot only hands out what it stored. */
export function backtestCommand(): Command {
  return storeCommand('backtest', 'compare rules with stored history; asks no forge and changes nothing')
    .addOption(
      new Option('--since <time>', 'start of the history: 30d, 12h, 2026-11-01')
        .argParser((text) => readSince(text))
        .default(readSince('30d'), '30d'),
    )
    .addOption(new Option('--until <time>', 'end of the history. Default: now').argParser((text) => readSince(text)))
    .option('--rules <dir>', 'folder of the rules to try. Default: the rules of the organization')
    .option('--org <name>', 'organization. Required when the config has several')
    .option('--no-samples', 'leave out sample events')
    .action((options: BacktestOptions) =>
      withBot(options.config, async (bot) => {
        const org = whichOrg(bot.config, options.org);
        const { FolderSource, makeTrial, readHistory } = await import('./trying.js');
        const trial = makeTrial();
        const files = await new FolderSource(ruleFolder(org, options.rules), org.rules).read();
        const loaded = trial.load(org.name, files, new Set(org.powers), new Set(Object.keys(org.secrets)));
        if (!loaded.ok) throw new InvalidFile(loaded.problems);
        const { since, until = new Date() } = options;
        const backtest = trial.backtest(loaded.revision);
        const progress = new Progress('events');
        const notes = new Set<string>();
        for (let after: string | null | undefined; after !== null;) {
          const query = { org: org.label, since: since.toISOString(), until: until.toISOString(), limit: PAGE, after };
          const page = readHistory(await bot.read('history', query));
          backtest.add(page, page.bot);
          if (!page.bot) notes.add('no forge said which account the bot has: its own acts count as acts of people');
          progress.add(page.events.length);
          after = page.next;
        }
        progress.end();
        const report = backtest.report({ org: org.label, since, until, notes: [...notes] });
        const { printBacktest } = await import('./print-backtest.js');
        print(options.json, report, () => printBacktest(report, options.samples));
      }),
    );
}
