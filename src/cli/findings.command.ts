import type { Command } from 'commander';
import { Option } from 'commander';
import type { KeptFinding } from '../policies/finding-store.port.js';
import { SEVERITIES, type Severity } from '../core/finding.js';
import { limitOption, storeCommand } from './command-options.js';
import type { SetExit } from './command-options.js';
import { plain, print, table, when } from './print.js';
import { withBot } from './reach-bot.js';

interface FindingOptions {
  config: string;
  json: boolean;
  org?: string;
  policy?: string;
  severity?: Severity;
  ended?: boolean;
  limit: number;
}

/** Exit: 0 everything holds, 1 something does not. */
export function findingsCommand(exit: SetExit): Command {
  return storeCommand('findings', 'list policy violations')
    .option('--org <name>', 'only this organization')
    .option('--policy <id>', 'only this policy')
    .addOption(new Option('--severity <word>', 'only of this severity').choices([...SEVERITIES]))
    .option('--ended', 'include violations that have ended')
    .addOption(limitOption())
    .action((options: FindingOptions) =>
      withBot(options.config, async (bot) => {
        const { org, policy, severity, limit } = options;
        const found = await bot.call('findings', { org, policy, severity, limit, ended: options.ended === true });
        const head = ['severity', 'where', 'policy', 'expectation', 'since (UTC)', 'seen last', 'what'];
        print(options.json, found, () =>
          table(head, found.map(row), 'everything that was looked at is as the policies expect'),
        );
        if (found.some(({ endedAt }) => endedAt === null)) exit(1);
      }),
    );
}

function row({ severity, subjectName, policy, name, since, lastSeenAt, endedAt, message }: KeptFinding): string[] {
  const what = endedAt === null ? plain(message) : `holds again since ${when(endedAt)}`;
  return [severity, plain(subjectName), policy, name, when(since), when(lastSeenAt), what];
}
