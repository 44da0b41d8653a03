import { calledAs } from '../called-as.js';
import { resolve, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { untilStopped } from '../until-stopped.js';
import type { RunningBot } from '../../main.js';
import { Closers } from './closers.js';
import { partsOf } from './player.js';
import { runVerifier } from './run-verifier.js';
import type { DemoBot } from './start-demo-bot.js';
import { writeScript } from './script.js';
import { BOT_LOGIN, ORG, removeStage, setBot, setForge, type ForgeStage, type StageOptions } from './stage.js';
import { ForgeReader } from '../../verifier/read-forge.js';
import { Voice } from './voice.js';
import { colour } from '../terminal.js';
import { SandboxPlayer } from './play.js';

/** The rule files that ship with the package, complete whatever the bot is given. */
const COMPLETE_RULES = fileURLToPath(new URL('../../../config/rules/acme', import.meta.url));

interface DemoOptions {
  readonly seed: number;
  /** Folder of the bot's rules; default the complete ones. */
  readonly rules: string | null;
  /** End by itself, with the verdict of a separate process. */
  readonly exit: boolean;
  readonly json: boolean;
  readonly port: number;
  readonly webhookPort: number;
}

/** Stopped before its end. */
const INTERRUPTED = 130;

/** @returns the exit status: 0, or that of the verification */
export async function runDemo(options: DemoOptions): Promise<number> {
  const voice = new Voice(options.json ? process.stderr : process.stdout);
  const closers = new Closers();
  let isUp = false;
  const stopped = untilStopped(() => closers.closeAll()).then(() => (isUp ? 0 : INTERRUPTED));
  const showing = show(options, voice, closers).then(async (verdict) => {
    if (verdict !== null) return verdict;
    isUp = true;
    return stopped;
  });
  try {
    return await Promise.race([showing, stopped]);
  } finally {
    voice.end();
    await closers.closeAll();
    // What was under way when it was stopped fails, and nobody has to know.
    await showing.catch(() => undefined);
  }
}

/** @returns null when it stays up, else the verdict */
async function show(options: DemoOptions, voice: Voice, closers: Closers): Promise<number | null> {
  const stageOptions: StageOptions = {
    seed: options.seed,
    rules: resolve(options.rules ?? COMPLETE_RULES),
    sandboxPort: options.port,
    webhookPort: options.webhookPort,
    say: (line) => voice.say(line),
  };
  voice.begin('starting the sandbox forge');
  const forge = await setForge(stageOptions);
  await closers.add(
    () => removeStage(forge),
    () => forge.sandbox.close(),
  );
  voice.begin('starting the bot');
  const place = {
    api: forge.sandbox.apiUrl,
    org: ORG,
    bot: { login: BOT_LOGIN, token: forge.bot.token },
    adminToken: forge.adminToken,
  };
  const before = await new ForgeReader(place).snapshot();
  const bot = await setBot(forge, stageOptions);
  await closers.add(
    () => bot.bot.close(),
    () => bot.reach.close(),
  );
  const player = new SandboxPlayer(partsOf(place, bot, forge.client, voice, options.json), forge.client);
  await player.playAll(stageOptions.rules, writeScript(options.seed));
  if (options.exit) {
    voice.begin('reading the forge');
    const { url, controlToken } = forge.sandbox;
    const facts = { sandbox: { url, controlToken }, rules: COMPLETE_RULES, before, acts: player.played };
    return runVerifier(forge.folder, { ...place, ...facts }, options.json);
  }
  for (const line of await whereToLook(forge, bot)) voice.write(line);
  voice.end();
  return null;
}

/** What people want to know once the demo stays up. */
async function whereToLook(forge: ForgeStage, { bot, configFile, webhook }: DemoBot): Promise<string[]> {
  const { sandbox, folder } = forge;
  const bearer = `-H 'Authorization: Bearer ${sandbox.controlToken}'`;
  const product = [...sandbox.parts.world.repos.values()].map(({ name }) => `${ORG}/${name}`)[0] ?? `${ORG}/app`;
  const writer = [...sandbox.parts.world.teams.values()].find(({ name }) => name === 'writers');
  const person = [...(writer?.members ?? [])].map((id) => sandbox.parts.world.owners.get(id)?.login)[0] ?? 'admin';
  const command = (text: string): string => `  ${calledAs()} ${text} --config ${configFile}`;
  return [
    '',
    colour.bold('The demo stays up. Stop it with Ctrl-C (it keeps nothing).'),
    `${colour.bold('the forge')}     API ${colour.cyan(sandbox.apiUrl)}, administrator ${sandbox.admin.login} / ${sandbox.admin.password}`,
    `  curl -u '${sandbox.admin.login}:${sandbox.admin.password}' ${sandbox.apiUrl}/repos/${product}/labels`,
    `${colour.bold('its ledger  ')}  curl ${bearer} ${sandbox.url}/_sandbox/ledger`,
    ...(await consoleLines(bot, command)),
    `${colour.bold('the bot')}       webhooks at ${webhook}, log in ${join(folder, 'bot.log')}`,
    command('status'),
    command('deliveries'),
    command('runs'),
    `${colour.bold('send an act of your own')} (GET the same address for all of them, with examples)`,
    `  curl ${bearer} -H 'Content-Type: application/json' -d '${JSON.stringify({ as: person, act: 'tag.create', repo: product, tag: 'v9.0.0' })}' ${sandbox.url}/_sandbox/act`,
  ];
}

/** Where to watch it in a browser. The link is a secret: it is for a terminal alone. */
async function consoleLines(bot: RunningBot, command: (text: string) => string): Promise<string[]> {
  if (bot.consoleUrl === null) return [];
  const link = process.stdout.isTTY ? await bot.consoleLink() : null;
  return [
    `${colour.bold('the Console')}   ${colour.cyan(bot.consoleUrl)}; this prints a link that logs you in, once:`,
    command('console'),
    ...(link === null ? [] : [`  within a minute: ${colour.cyan(link)}`]),
  ];
}
