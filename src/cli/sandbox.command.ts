import { Command, Option } from 'commander';
import pc from 'picocolors';
import { UserError } from '../core/errors.js';
import { PROFILE_NAMES } from '../sandbox/profiles.js';
import type { Sandbox } from '../sandbox/start-sandbox.js';
import { startSandbox } from '../sandbox/start-sandbox.js';
import type { SandboxOptions } from '../sandbox/start-sandbox.js';
import { jsonOption, wholeNumber } from './command-options.js';
import { print } from './print.js';
import { untilStopped } from './until-stopped.js';

interface SandboxFlags {
  port: number;
  host: string;
  profile: NonNullable<SandboxOptions['profile']>;
  seed: number;
  adminPassword?: string;
  controlToken?: string;
  empty: boolean;
  json: boolean;
}

export function sandboxCommand(): Command {
  return new Command('sandbox')
    .description('a forge of your own to try rules on: a real HTTP server with the living organization acme')
    .addOption(new Option('-p, --port <port>', 'port to listen on').default(4000).argParser(wholeNumber(0, 65535)))
    .addOption(new Option('--host <address>', 'address to listen on').default('127.0.0.1'))
    .addOption(new Option('--profile <name>', 'which forge to be').choices(PROFILE_NAMES).default('gitea'))
    .addOption(new Option('--seed <number>', 'varies names and order').default(1).argParser(wholeNumber(0, Number.MAX_SAFE_INTEGER)))
    .addOption(new Option('--admin-password <text>', 'password of the site administrator; a random one when left out').env('FORGEHAND_SANDBOX_PASSWORD'))
    .addOption(new Option('--control-token <text>', 'bearer token of /_sandbox; a random one when left out').env('FORGEHAND_SANDBOX_TOKEN'))
    .option('--empty', 'without the organization acme', false)
    .addOption(jsonOption())
    .action(async (flags: SandboxFlags) => {
      const { seedAcme } = await import('../sandbox/seed/seed-acme.js');
      const sandbox = await startSandbox({
        port: flags.port,
        host: flags.host,
        profile: flags.profile,
        ...(flags.adminPassword ? { adminPassword: flags.adminPassword } : {}),
        ...(flags.controlToken ? { controlToken: flags.controlToken } : {}),
        ...(flags.empty ? {} : { populate: (parts) => seedAcme(parts, flags.seed) }),
      }).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'EADDRINUSE') throw new UserError('PORT_TAKEN', `port ${flags.port} is taken: give another with --port, or 0 for any free one`);
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
      print(flags.json, facts, () => told(sandbox, flags.profile));
      await untilStopped(() => sandbox.close());
    });
}

/** What somebody at a terminal needs first: where it is, who may do what, and how to go on. */
function told(sandbox: Sandbox, profile: string): string {
  const control = `${sandbox.url}/_sandbox`;
  const curl = `curl -s -H 'Authorization: Bearer ${sandbox.controlToken}'`;
  const post = `${curl} -H 'Content-Type: application/json' -d`;
  return [
    `${pc.bold('sandbox forge')} (${profile}) at ${pc.cyan(sandbox.apiUrl)}`,
    `site administrator ${sandbox.admin.login} / ${sandbox.admin.password}`,
    `who and what is there:  ${curl} ${control}/world`,
    `an account and a token: ${post} '{"login":"bot","org":"acme"}' ${control}/accounts`,
    `what people can do:     ${curl} ${control}/act`,
    `act as one of them:     ${post} '{"as":"${sandbox.admin.login}","act":"issue.open","repo":"${firstRepository(sandbox)}","title":"Hello"}' ${control}/act`,
    `what was called:        ${curl} ${control}/ledger`,
    'stop with Ctrl-C; nothing is kept',
  ].join('\n');
}

function firstRepository({ parts: { world } }: Sandbox): string {
  const [first] = world.repos.values();
  return first ? `${world.ownerOf(first).login}/${first.name}` : 'OWNER/NAME';
}
