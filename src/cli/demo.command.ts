import { Command, Option } from 'commander';
import { ADMIN_VARIABLES } from './real-forge/connect.js';
import { jsonOption, wholeNumber, type SetExit } from './command-options.js';

interface DemoFlags {
  exit: boolean;
  seed: number;
  rules?: string;
  port: number;
  webhookPort: number;
  json: boolean;
  forge?: string;
  botUrl?: string;
}

export function demoCommand(exit: SetExit): Command {
  return new Command('demo')
    .description('run a demo: a forge in a box, the bot, and about thirty acts of people')
    .option(
      '--exit',
      'exit when done: 0 only if a separate process finds exactly the expected state in the forge',
      false,
    )
    .addOption(
      new Option('--seed <number>', 'vary names and order')
        .default(1)
        .argParser(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
    )
    .option('--rules <folder>', 'rules of the bot. Default: config/rules/acme, which also defines the expected state')
    .addOption(
      new Option('-p, --port <port>', 'port of the sandbox forge; 0 = any free port')
        .default(0)
        .argParser(wholeNumber(0, 65535)),
    )
    .addOption(
      new Option('--webhook-port <port>', 'port of the webhook endpoint; 0 = any free port')
        .default(0)
        .argParser(wholeNumber(0, 65535)),
    )
    .option(
      '--forge <url>',
      `on a real forge instead, in an organization of its own that it removes again; credentials in ${ADMIN_VARIABLES}; ends by itself`,
    )
    .option(
      '--bot-url <url>',
      "with --forge: where that forge reaches the bot's webhook endpoint (default: http://127.0.0.1:PORT)",
    )
    .addOption(jsonOption())
    .action(async (flags: DemoFlags) => {
      if (flags.forge !== undefined) {
        const { runRealDemo } = await import('./demo/real/run-real-demo.js');
        const status = await runRealDemo({ ...flags, forge: flags.forge, botUrl: flags.botUrl ?? null });
        if (status !== 0) exit(status);
        return;
      }
      const { runDemo } = await import('./demo/run-demo.js');
      const status = await runDemo({ ...flags, rules: flags.rules ?? null });
      if (status !== 0) exit(status);
    });
}
