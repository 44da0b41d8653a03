import { calledAs } from './called-as.js';
import { text as readAll } from 'node:stream/consumers';
import { Command, Option } from 'commander';
import { variable } from '../config/environment-file.js';
import { OWN_CONFIG } from '../config/find-config.js';
import { UserError } from '../core/errors.js';
import { configOption, jsonOption, wholeNumber } from './command-options.js';
import type { SetExit } from './command-options.js';
import type { GivenSecrets, Initialized, InitFlags } from './init/run-init.js';
import type { Steps } from './init/steps.js';
import { word } from './init/operator-files.js';
import { SCHEMA_LINE } from './init/starter-sets.js';
import { print } from './print.js';
import { writeErr, writeOut } from './terminal.js';
import { untilStopped } from './until-stopped.js';

interface Flags extends Omit<InitFlags, 'starters'> {
  readonly starters?: string;
  readonly json: boolean;
  readonly tokenStdin: boolean;
}

const WAIT_S = 120;
/** As shells report a process that a signal ended; Ctrl-C at a question is one. */
const ENDED_BY = { SIGINT: 130, SIGTERM: 143 } as const;

/** Exit: 0 everything is set up, 1 something is left to do (it says what). */
export function initCommand(exit: SetExit): Command {
  return new Command('init')
    .description('set up the bot: write config, secrets and rules, install the webhook, and check that it works')
    .addOption(configOption().default(OWN_CONFIG))
    .option('--sandbox', 'set up on a sandbox forge with the organization acme', false)
    .option('--forge <url>', 'address of the forge')
    .option('--insecure-http <reason>', 'why plain http to the forge is safe here')
    .option(
      '--token-stdin',
      'read the token of the bot from standard input. Default: FORGE_TOKEN, else a prompt',
      false,
    )
    .option('--org <name>', 'organization that the bot serves')
    .option('--public-url <url>', 'address at which the forge reaches the bot')
    .addOption(
      new Option('--port <port>', 'port of the webhook endpoint. Default: 8080, or the next free one').argParser(
        wholeNumber(1, 65535),
      ),
    )
    .option(
      '--starters <names>',
      'starter sets, separated by commas: labels,stale,release-notes,milestones,mirrors; or none',
    )
    .option('--mirror-to <url>', 'target of push mirrors (password: FORGEHAND_MIRROR_PASSWORD, else a prompt)')
    .option('--mirror-user <name>', 'account at the target of push mirrors')
    .option('--install-hook', 'install the webhook, also on a public forge')
    .option('--no-install-hook', 'do not install the webhook; print the steps to do it by hand')
    .addOption(
      new Option('--wait <seconds>', 'maximum wait for the first delivery')
        .default(WAIT_S)
        .argParser(wholeNumber(0, 86_400)),
    )
    .option('--apply', 'apply the plan of the starter policies')
    .option('--no-apply', 'only show the plan')
    .option('--start', 'keep the bot running here')
    .option('--no-start', 'stop the bot at the end')
    .option('-y, --yes', 'accept the default answer of each question', false)
    .addOption(jsonOption())
    .addHelpText('after', HELP)
    .action(async ({ json, tokenStdin, starters, ...flags }: Flags) => {
      const [{ runInit }, { FlagAsker, TerminalAsker, Stopped }, { Steps: StepsOf }] = await Promise.all([
        import('./init/run-init.js'),
        import('./init/asker.js'),
        import('./init/steps.js'),
      ]);
      const isAtTerminal = process.stdin.isTTY && process.stdout.isTTY && !json && !tokenStdin;
      const steps = new StepsOf(json ? () => undefined : writeOut);
      const stopping = new AbortController();
      let interrupted: number = ENDED_BY.SIGINT;
      const interrupt = (signal: NodeJS.Signals): void => {
        if (stopping.signal.aborted) process.exit(interrupted);
        interrupted = signal === 'SIGTERM' ? ENDED_BY.SIGTERM : ENDED_BY.SIGINT;
        stopping.abort();
      };
      const signals = Object.keys(ENDED_BY) as Array<keyof typeof ENDED_BY>;
      const listen = (how: 'on' | 'off'): void => signals.forEach((signal) => void process[how](signal, interrupt));
      listen('on');
      const closers: Array<() => Promise<void>> = [];
      const close = async (): Promise<void> => {
        for (const one of closers.splice(0).reverse()) await one();
      };
      try {
        const outcome = await runInit(
          { ...flags, ...(starters === undefined ? {} : { starters: starters.split(',') }) },
          await givenSecrets(tokenStdin),
          isAtTerminal ? new TerminalAsker(flags.yes, stopping.signal) : new FlagAsker(),
          steps,
          stopping.signal,
          (one) => void closers.push(one),
        );
        const next = nextOf(outcome);
        if (json) print(true, { org: outcome.org, config: outcome.places.config, steps: steps.all, next }, () => '');
        else steps.copy('', ...next, '');
        if (steps.all.some(({ state }) => state === 'left')) exit(1);
        listen('off');
        if (!outcome.staysUp) return;
        outcome.bot.startLogging();
        await untilStopped(close);
      } catch (error) {
        if (!(error instanceof Stopped) && !stopping.signal.aborted) {
          tellRemains(steps, 'stopped here');
          throw error;
        }
        tellRemains(steps, 'interrupted');
        exit(interrupted);
      } finally {
        listen('off');
        await close();
      }
    });
}

const HELP = `
The token is never an argument: it comes from a prompt without echo, from standard input or from FORGE_TOKEN. You can run the command again;
existing files stay as they are. --yes does not install a webhook on a public forge (--install-hook does), and applies no plan outside the sandbox (--apply does).
Exit codes: 0 all is set up, 1 some steps remain, 2 wrong command line or file, 3 could not be done, 130 or 143 interrupted.`;

async function givenSecrets(fromStdin: boolean): Promise<GivenSecrets> {
  const token = fromStdin ? (await readAll(process.stdin)).trim() : (variable('FORGE_TOKEN') ?? undefined);
  if (token === '') throw new UserError('INIT_NEEDS', 'standard input is empty: --token-stdin reads the token from it');
  return { token, mirrorPassword: variable('FORGEHAND_MIRROR_PASSWORD') ?? undefined };
}

function tellRemains(steps: Steps, how: string): void {
  if (steps.all.length > 0) writeErr(`\n${how}\n${steps.remains().join('\n')}\n`);
}

/** What to type now, in the folder in which this command ran; each command can be copied as it is. */
function nextOf({ org, places, sandbox, staysUp, bot }: Initialized): string[] {
  const configFlag = places.config === OWN_CONFIG ? '' : ` --config ${places.config}`;
  const command = (text: string): string => `${calledAs()} ${text}${configFlag}`;
  const isUp = staysUp || bot.isElsewhere;
  return [
    ...(isUp
      ? ['The bot runs. For a rule of your own, type in another terminal, in this folder:']
      : [
          `Start the bot: ${command(sandbox ? 'init --sandbox --yes --start' : 'start')}`,
          'For a rule of your own, type:',
        ]),
    '',
    `cat > ${places.rules}/${org}/first.yaml <<'EOF'`,
    ...firstRule(org),
    'EOF',
    command('check'),
    ...(sandbox ? [command("sandbox act issue.open 'title=The app crashes'")] : []),
    command('runs --limit 1'),
    '',
    ...(sandbox
      ? []
      : ['It puts a label on the next issue with "crash" in its title, where the repository has that label.']),
  ];
}

function firstRule(org: string): string[] {
  return [
    SCHEMA_LINE,
    'version: 1',
    `org: ${word(org)}`,
    'rules:',
    '  - id: crash',
    '    on: issue.opened',
    '    if: event.issue.title.contains("crash")',
    '    do: { issue.label: { number: "${{ event.number }}", add: [kind/bug] } }',
  ];
}
