import { Command, InvalidArgumentError, Option } from 'commander';
import { OPERATOR_SCOPES, operatorState, type OperatorScope } from '../core/operator-scopes.js';
import type { Operator } from '../core/operators.js';
import { plain, print, table, when } from './print.js';
import { withBot } from './reach-bot.js';
import { readDuration } from './since.js';
import { writeErr } from './terminal.js';
import { type BotOptions, botCommand, storeCommand } from './bot-command.js';
import type { SentTo } from '../api/operations/index.js';
import { counted } from '../api/words.js';

interface AddOptions extends BotOptions {
  readonly scopes: OperatorScope[];
  readonly expires: number;
  readonly login?: string;
}

const DEFAULT_EXPIRES = '90d';

export function operatorsCommand(): Command {
  const add = storeCommand('add', 'make a token for an operator; it is printed once and never again')
    .argument('<name>', 'lower case; a name that exists gets one more token')
    .addOption(
      new Option('--scopes <list>', `what the token may do: ${OPERATOR_SCOPES.join(', ')}`)
        .default(['read'], 'read')
        .argParser(readScopes),
    )
    .addOption(
      new Option('--expires <duration>', 'how long the token is valid')
        .default(readDuration(DEFAULT_EXPIRES), DEFAULT_EXPIRES)
        .argParser(readDuration),
    )
    .option('--login <account>', 'the account of this person on the forge, for approval: two-people')
    .action((name: string, { config, json, scopes, expires, login }: AddOptions) =>
      withBot(config, async (bot) => {
        const answer = await bot.call('addOperator', { name, scopes, expiresS: expires, login });
        // Standard output holds the token alone, so that it can go into a file.
        if (!json)
          writeErr(
            `operator ${name} may ${answer.operator.scopes.join(', ')} until ${when(answer.operator.expiresAt)} UTC; its token, shown once:\n`,
          );
        print(json, answer, () => answer.token);
      }),
    );
  const list = botCommand('list', 'list operators and their tokens, without the tokens', {
    ask: async (bot) => (await bot.call('operators')).operators,
    show: (operators) => table(HEAD, operators.map(row), 'no operators: the owner of the host alone gives orders'),
  });
  const revoke = botCommand('revoke', 'revoke the tokens of an operator at once, in every process', {
    argument: 'name',
    ask: async (bot, options: SentTo<'revokeOperator'>) => (await bot.call('revokeOperator', options)).revoked,
    show: (revoked, { name }) => `${counted(revoked.length, 'token')} of ${plain(revoked[0]?.name ?? name)} revoked`,
  }).argument('<name>', 'the name for all of its tokens, or the id of one');
  return new Command('operators')
    .description('make, list and revoke tokens of named operators')
    .addCommand(add.exitOverride())
    .addCommand(list.exitOverride())
    .addCommand(revoke.exitOverride());
}

function readScopes(text: string): OperatorScope[] {
  const words = text.split(/[\s,]+/).filter((word) => word !== '');
  const scopes = OPERATOR_SCOPES.filter((scope) => words.includes(scope));
  if (scopes.length === 0 || words.some((word) => !scopes.some((scope) => scope === word)))
    throw new InvalidArgumentError(`use the scopes ${OPERATOR_SCOPES.join(', ')}, such as read,operate.`);
  return scopes;
}

const HEAD = ['name', 'id', 'state', 'scopes', 'account', 'expires (UTC)', 'made by', 'revoked by'];

function row({ name, id, scopes, login, expiresAt, madeBy, revokedBy, revokedAt }: Operator): string[] {
  const state = operatorState(
    { revokedAt: revokedAt === null ? null : new Date(revokedAt), expiresAt: new Date(expiresAt) },
    new Date(),
  );
  return [
    name,
    id,
    state,
    scopes.join(', '),
    plain(login ?? '-'),
    when(expiresAt),
    plain(madeBy),
    plain(revokedBy ?? '-'),
  ];
}
