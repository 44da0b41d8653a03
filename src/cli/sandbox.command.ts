import { Command, Option } from 'commander';
import { UserError } from '../core/errors.js';
import { PROFILE_NAMES } from '../sandbox/profile.js';
import type { Sandbox, SandboxOptions } from '../sandbox/start-sandbox.js';
import { jsonOption, wholeNumber } from './command-options.js';
import { print } from './print.js';
import { sandboxActCommand } from './sandbox-act.js';
import { untilStopped } from './until-stopped.js';
import { colour } from './terminal.js';

interface SandboxFlags {
  port: number;
  host: string;
  profile: NonNullable<SandboxOptions['profile']>;
  seed: number;
  adminPassword?: string;
  controlToken?: string;
  faults?: string;
  state?: string;
  empty: boolean;
  json: boolean;
}

const FAULTS_HELP = `
A plan of faults:
  seed: 7                                   # with one seed, the n-th call of an operation always meets the same fault
  callers: [bot]                            # whose calls. Default: everybody's
  latency: { on: writes, before_ms: [10, 80], after_ms: [10, 80] }
  calls:
    - { name: lost-answer, on: writes, percent: 5, fault: { kind: reset, when: after } }
    - { name: too-late,    on: [createLabel], percent: 5, fault: { kind: late, ms: [3000, 4500] } }
  deliveries: { drop: { percent: 10 }, delay: { percent: 10, ms: [100, 2000] }, reorder: { window: 5 } }
  on: writes, reads, all, or operations by name. Kinds: reset, status (both with when: before or after the effect), late, cut, wrong-type,
  slow, redirect, rate-limit. The ledger names the fault that a call met; /_sandbox/faults shows the counts and takes another plan.`;

export function sandboxCommand(): Command {
  return new Command('sandbox')
    .description('run a forge in a box to try rules on: an HTTP server with the organization acme')
    .addOption(new Option('-p, --port <port>', 'port to listen on').default(4000).argParser(wholeNumber(0, 65535)))
    .addOption(new Option('--host <address>', 'address to listen on').default('127.0.0.1'))
    .addOption(new Option('--profile <name>', 'kind of forge').choices(PROFILE_NAMES).default('gitea'))
    .addOption(
      new Option('--seed <number>', 'vary names and order')
        .default(1)
        .argParser(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
    )
    .addOption(
      new Option('--admin-password <text>', 'password of the site administrator. Default: random').env(
        'FORGEHAND_SANDBOX_PASSWORD',
      ),
    )
    .addOption(
      new Option('--control-token <text>', 'bearer token of /_sandbox. Default: random').env('FORGEHAND_SANDBOX_TOKEN'),
    )
    .addOption(new Option('--faults <file>', 'faults to inject into calls and deliveries, YAML or JSON (see below)'))
    .addOption(new Option('--state <file>', 'keep state, ledger and tokens in this file across restarts'))
    .option('--empty', 'start without the organization acme', false)
    .addOption(jsonOption())
    .addHelpText('after', FAULTS_HELP)
    .enablePositionalOptions()
    .addCommand(sandboxActCommand())
    .action(async (flags: SandboxFlags) => {
      const [{ startSandbox }, { seedAcme }] = await Promise.all([
        import('../sandbox/start-sandbox.js'),
        import('../sandbox/seed/seed-acme.js'),
      ]);
      const sandbox = await startSandbox({
        port: flags.port,
        host: flags.host,
        profile: flags.profile,
        ...(flags.adminPassword ? { adminPassword: flags.adminPassword } : {}),
        ...(flags.controlToken ? { controlToken: flags.controlToken } : {}),
        ...(flags.faults ? { faults: (await import('./read-fault-plan.js')).readFaultPlan(flags.faults) } : {}),
        ...(flags.state ? { stateFile: flags.state } : {}),
        ...(flags.empty ? {} : { populate: (parts) => seedAcme(parts, flags.seed) }),
      }).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'EADDRINUSE')
          throw new UserError(
            'PORT_TAKEN',
            `port ${flags.port} is taken: give another with --port, or 0 for any free one`,
          );
        throw error;
      });
      const facts = {
        url: sandbox.url,
        api: sandbox.apiUrl,
        profile: flags.profile,
        seed: flags.seed,
        admin: sandbox.admin,
        control_token: sandbox.controlToken,
      };
      print(flags.json, facts, () => describeSandbox(sandbox, flags.profile, flags.state));
      await untilStopped(() => sandbox.close());
    });
}

/** What somebody at a terminal needs first: where it is, who may do what, and how to go on. */
function describeSandbox(sandbox: Sandbox, profile: string, stateFile: string | undefined): string {
  const control = `${sandbox.url}/_sandbox`;
  const curl = `curl -s -H 'Authorization: Bearer ${sandbox.controlToken}'`;
  const post = `${curl} -H 'Content-Type: application/json' -d`;
  return [
    `${colour.bold('sandbox forge')} (${profile}) at ${colour.cyan(sandbox.apiUrl)}`,
    `site administrator ${sandbox.admin.login} / ${sandbox.admin.password}`,
    `who and what is there:  ${curl} ${control}/world`,
    `an account and a token: ${post} '{"login":"bot","org":"acme"}' ${control}/accounts`,
    `what people can do:     ${curl} ${control}/act`,
    `act as one of them:     ${post} '{"as":"${sandbox.admin.login}","act":"issue.open","repo":"${firstRepository(sandbox)}","title":"Hello"}' ${control}/act`,
    `what was called:        ${curl} ${control}/ledger`,
    `stop with Ctrl-C; ${stateFile === undefined ? 'nothing is kept' : `the next start with --state ${stateFile} goes on from there`}`,
  ].join('\n');
}

function firstRepository({ parts: { world } }: Sandbox): string {
  const [first] = world.repos.values();
  return first ? `${world.ownerOf(first).login}/${first.name}` : 'OWNER/NAME';
}
