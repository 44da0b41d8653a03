import { join } from 'node:path';
import { ORG, type BotStage, type ForgeStage } from './stage.js';
import { colour } from '../terminal.js';

/** What people want to know once the demo stays up. */
export function whereToLook(forge: ForgeStage, { configFile, webhook }: BotStage): string[] {
  const { sandbox, folder } = forge;
  const bearer = `-H 'Authorization: Bearer ${sandbox.controlToken}'`;
  const product = [...sandbox.parts.world.repos.values()].map(({ name }) => `${ORG}/${name}`)[0] ?? `${ORG}/app`;
  const writer = [...sandbox.parts.world.teams.values()].find(({ name }) => name === 'writers');
  const person = [...(writer?.members ?? [])].map((id) => sandbox.parts.world.owners.get(id)?.login)[0] ?? 'admin';
  const command = (text: string): string => `  npx forgehand ${text} --config ${configFile}`;
  return [
    '',
    colour.bold('The demo stays up. Stop it with Ctrl-C (it keeps nothing).'),
    `${colour.bold('the forge')}     API ${colour.cyan(sandbox.apiUrl)}, administrator ${sandbox.admin.login} / ${sandbox.admin.password}`,
    `  curl -u '${sandbox.admin.login}:${sandbox.admin.password}' ${sandbox.apiUrl}/repos/${product}/labels`,
    `${colour.bold('its ledger  ')}  curl ${bearer} ${sandbox.url}/_sandbox/ledger`,
    `${colour.bold('the bot')}       webhooks at ${webhook}, log in ${join(folder, 'bot.log')}`,
    command('status'),
    command('deliveries'),
    command('runs'),
    `${colour.bold('send an act of your own')} (GET the same address for all of them, with examples)`,
    `  curl ${bearer} -H 'Content-Type: application/json' -d '${JSON.stringify({ as: person, act: 'tag.create', repo: product, tag: 'v9.0.0' })}' ${sandbox.url}/_sandbox/act`,
  ];
}
