import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { InvalidFile, UserError } from '../core/errors.js';
import { readObjectReference } from '../core/object-reference.js';
import { botCommand } from './bot-command.js';
import type { SetExit } from './command-options.js';
import { whichOrg } from './which-org.js';

interface TryOptions {
  readonly files: readonly string[];
  readonly on: string;
  readonly as?: string;
  readonly org?: string;
}

export function tryCommand(setExit: SetExit): Command {
  return botCommand('try', 'try rule files on an issue or pull request as it is now; writes nothing', {
    argument: 'files',
    ask: async (bot, { files, on, as, org: named }: TryOptions) => {
      const org = whichOrg(bot.config, named ?? readObjectReference(on).owner).label;
      const texts = await Promise.all(files.map(async (path) => ({ path, text: await read(path) })));
      const trial = await bot.call('tryOnObject', { org, files: texts, on, as, alone: true });
      if (trial.problems.length > 0) throw new InvalidFile(trial.problems);
      return trial;
    },
    show: async (trial, { on }) => (await import('./print-trial.js')).printTrial(trial, on),
    after: ({ rules }) => setExit(rules.some(isAmiss) ? 1 : 0),
  })
    .argument('<files...>', 'rule files to try: these alone, without the other rules of the organization')
    .requiredOption('--on <object>', 'issue or pull request, such as acme/app#12')
    .option('--as <kind>', 'kind of event to make of it, such as pull_request.labeled. Default: its opening')
    .option('--org <name>', 'organization, where two forges have its name. Default: the owner of the object')
    .addHelpText(
      'after',
      '\nExit codes: 0 tried (also where effects would wait), 1 a rule failed or is not known, or an effect cannot be made or was not looked at, 2 a file is wrong, 3 the object cannot be read.',
    );
}

/** Whether a rule or one of its effects is a reason to look closer; what waits is none. */
export function isAmiss({
  verdict,
  effects,
}: {
  readonly verdict: string;
  readonly effects: ReadonlyArray<{ does: string }>;
}) {
  return (
    verdict === 'error' ||
    verdict === 'unknown' ||
    effects.some(({ does }) => does === 'cannot' || does === 'not-looked')
  );
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new UserError('NO_SUCH_FILE', `${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}
