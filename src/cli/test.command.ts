import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import type { FolderSource } from '../rules/sources/folder-source.js';
import { BotError, InvalidFile, messageOf } from '../core/errors.js';
import type { FixturesReport } from '../insight/fixtures/run-fixtures.js';
import type { Trial } from '../insight/trial.js';
import { jsonOption } from './command-options.js';
import type { SetExit } from './command-options.js';
import { print } from './print.js';
import { printFixtures } from './print-fixtures.js';
import { withBot } from './reach-bot.js';
import { ruleFolder } from './rule-folder.js';
import { untilStopped } from './until-stopped.js';
import { whichOrg } from './which-org.js';
import { colour, writeErr, writeFileText } from './terminal.js';
import { storeCommand } from './bot-command.js';

interface TestOptions {
  json: boolean;
  watch: boolean;
  coverage: boolean;
  junit?: string;
}

export function testCommand(exit: SetExit): Command {
  return new Command('test')
    .description('run the fixtures (*.test.yaml) beside the rules; needs no config, no bot and no forge')
    .argument('[dir]', 'folder of rules and fixtures', 'rules')
    .addOption(jsonOption())
    .option('--coverage', 'show which conditions the fixtures covered', false)
    .option('--junit <file>', 'write the results as JUnit XML')
    .option('--watch', 'run again when a file changes', false)
    .action(async (dir: string, options: TestOptions) => {
      const [{ FolderSource, junitOf, makeTrial }, { NOT_CHECKED }] = await Promise.all([
        import('./trying.js'),
        import('./check-rules.js'),
      ]);
      const trial = makeTrial();
      const source = new FolderSource(dir);
      const once = async (): Promise<void> => {
        const report = await run(source, trial, options.json);
        if (options.junit !== undefined && report.problems.length === 0)
          writeFileSync(options.junit, junitOf(report.results));
        print(options.json, { ...report, not_checked: NOT_CHECKED }, () =>
          [printFixtures(report, options.coverage), `not checked: ${NOT_CHECKED.join(', ')}`].join('\n'),
        );
        exit(report.problems.length > 0 ? 2 : report.failed > 0 ? 1 : 0);
      };
      await once();
      if (options.watch) await watch(source, once);
    })
    .addCommand(recordCommand());
}

async function run(source: FolderSource, trial: Trial, isJson: boolean): Promise<FixturesReport> {
  try {
    const [rules, tests] = await Promise.all([source.read(), source.readTests()]);
    return trial.fixtures(rules, tests);
  } catch (error) {
    // Whoever asked for JSON reads nothing else.
    if (!isJson || !(error instanceof BotError)) throw error;
    const problems =
      error instanceof InvalidFile
        ? error.problems
        : [{ file: source.folder, line: 1, col: 1, message: error.message }];
    return { results: [], failed: 0, coverage: [], problems };
  }
}

/** Until it is stopped. Nothing is run twice for the same files. */
async function watch(source: FolderSource, once: () => Promise<void>): Promise<void> {
  const textsOf = async (): Promise<string> => JSON.stringify(await Promise.all([source.read(), source.readTests()]));
  let lastTexts = await textsOf();
  let running: Promise<void> = Promise.resolve();
  source.watch(() => {
    running = running
      .then(async () => {
        const now = await textsOf();
        if (now === lastTexts) return;
        lastTexts = now;
        await once();
      })
      .catch((error: unknown) => void writeErr(`${colour.red('error')} ${messageOf(error)}\n`));
  });
  writeErr(colour.dim('watching; Ctrl-C ends it\n'));
  await untilStopped(async () => {
    source.close();
    await running;
  });
}

function recordCommand(): Command {
  return storeCommand('record', 'record a fixture from a stored event, without secrets')
    .argument('<event>', 'id of an event or of its delivery')
    .option('--rules <dir>', 'folder of the rules to test. Default: the rules of the organization')
    .addOption(new Option('-o, --out <file>', 'output file; - is standard output').default('', 'beside the rules'))
    .action((id: string, options: { config: string; json: boolean; rules?: string; out: string }) =>
      withBot(options.config, async (bot) => {
        const { FolderSource, makeTrial, readHistory, recordFixture, secretsOf } = await import('./trying.js');
        const history = readHistory(await bot.read('historyOf', { id }));
        const [event] = history.events;
        const org = whichOrg(bot.config, event?.org);
        const trial = makeTrial();
        const folder = ruleFolder(org, options.rules);
        const loaded = trial.load(
          org.name,
          await new FolderSource(folder, org.rules).read(),
          new Set(org.powers),
          new Set(Object.keys(org.secrets)),
        );
        if (!loaded.ok) throw new InvalidFile(loaded.problems);
        const {
          file: name,
          text,
          rules,
          notes,
        } = recordFixture(history, {
          revision: loaded.revision,
          rules: trial.rules,
          actions: trial.actions,
          secrets: secretsOf(org),
        });
        const file = options.out === '' ? join(folder, name) : options.out;
        if (file === '-') writeFileText(text);
        else writeFileSync(file, text, { flag: 'wx' });
        if (file !== '-')
          print(options.json, { file, rules, notes }, () =>
            [`${file}: ${rules.join(', ')}`, ...notes.map((note) => colour.yellow(note))].join('\n'),
          );
      }),
    );
}
