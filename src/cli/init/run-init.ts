import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { EnvironmentFile } from '../../config/environment-file.js';
import type { AppConfig } from '../../config/app-config.js';
import { readConfig } from '../../config/read-config.js';
import { InvalidFile, UserError } from '../../core/errors.js';
import { webPages } from '../../housekeeping/doctor/check.js';
import { checkOrg } from '../check-rules.js';
import type { Asker } from './asker.js';
import { readForgeAddress } from '../../config/forge-address.js';
import { hearFirstDelivery, installWebhook, nameConsole, offerPlan, runDoctor } from './go-live.js';
import { openBot, type LiveBot } from './live-bot.js';
import { BOT_SCOPES, lookAtAccount, lookAtForge, type AccountFacts, type ForgeFacts } from './look-at-forge.js';
import {
  configText,
  DEFAULT_CONSOLE_PORT,
  placesOf,
  variableOf,
  type NewConfig,
  type Places,
} from './operator-files.js';
import { addressOf, addressTowards, freePort } from './own-address.js';
import { openSandboxForge, type SandboxForge } from './sandbox-forge.js';
import { SANDBOX_TOKEN } from './sandbox-names.js';
import { STARTER_NAMES, starterSets, type Mirror, type StarterName } from './starter-sets.js';
import type { Steps } from './steps.js';
import { addVariables, writeNew, writeRules } from './write-files.js';
import { mirrorPlaceOf, wrongMirrorAddress, wrongPublicUrl } from './typed-addresses.js';
import { counted } from '../../api/words.js';

export interface InitFlags {
  readonly config: string;
  readonly sandbox: boolean;
  readonly yes: boolean;
  readonly wait: number;
  readonly forge?: string;
  readonly insecureHttp?: string;
  readonly org?: string;
  readonly publicUrl?: string;
  readonly port?: number;
  readonly starters?: readonly string[];
  readonly mirrorTo?: string;
  readonly mirrorUser?: string;
  readonly installHook?: boolean;
  readonly apply?: boolean;
  readonly start?: boolean;
}

/** What a secret is taken from before anybody is asked: the environment, or standard input. */
export interface GivenSecrets {
  readonly token: string | undefined;
  readonly mirrorPassword: string | undefined;
}

interface Setup {
  readonly flags: InitFlags;
  readonly secrets: GivenSecrets;
  readonly asker: Asker;
  readonly steps: Steps;
  readonly places: Places;
  readonly environment: EnvironmentFile;
  /** The config that is there; null = it is to be written. */
  readonly existing: AppConfig | null;
  readonly sandbox: SandboxForge | null;
  readonly stopping: AbortSignal;
}

export interface Initialized {
  readonly org: string;
  readonly places: Places;
  readonly bot: LiveBot;
  readonly sandbox: SandboxForge | null;
  readonly staysUp: boolean;
}

const DEFAULT_PORT = 8080;
/** A forge in a box has nobody else to serve. */
const SANDBOX_RATE = 500;
/** Difference of clocks that a person should know of. */
const CLOCK_S = 30;

/**
 * From nothing to a bot that hears its organization. Each step looks at what is there first, so that it can be repeated.
 * @param keep is given what was opened, so that it is closed however this ends
 */
export async function runInit(
  flags: InitFlags,
  secrets: GivenSecrets,
  asker: Asker,
  steps: Steps,
  stopping: AbortSignal,
  keep: (close: () => Promise<void>) => void,
): Promise<Initialized> {
  const places = placesOf(flags.config);
  const environment = new EnvironmentFile(places.environment);
  if (environment.fault) throw new UserError('ENVIRONMENT_FILE', environment.fault);
  const existing = existsSync(places.config) ? readConfig(places.config, { reader: 'command' }) : null;
  const sandbox = flags.sandbox
    ? await openSandboxForge(places, environment, existing?.forges[0]?.baseUrl ?? null)
    : null;
  if (sandbox) keep(() => sandbox.close());
  const setup: Setup = { flags, secrets, asker, steps, places, environment, existing, sandbox, stopping };

  const address = await askForge(setup);
  const { token, account } = await askToken(setup, address.baseUrl);
  const org = await askOrg(setup, account);
  await writeEverything(setup, address, token, org);
  await checkRules(setup, org);

  stopping.throwIfAborted();
  const bot = await openBot(places.config);
  keep(() => bot.close());
  const { yes, wait, installHook, apply } = flags;
  const live = {
    asker,
    steps,
    bot,
    org,
    baseUrl: address.baseUrl,
    flags: { wait, ...(installHook === undefined ? {} : { installHook }), ...(apply === undefined ? {} : { apply }) },
    yes,
    isSandbox: sandbox !== null,
    act: sandbox ? () => sandbox.act() : null,
    stopping,
  };
  if (await installWebhook(live)) await hearFirstDelivery(live);
  stopping.throwIfAborted();
  await runDoctor(live);
  stopping.throwIfAborted();
  await offerPlan(live);
  stopping.throwIfAborted();
  nameConsole(live);
  const staysUp =
    !bot.isElsewhere &&
    (await asker.consent({
      flag: '--start',
      say: 'Keep the bot running here? (Ctrl-C stops it)',
      fromFlags: flags.start,
      fallback: true,
      unasked: false,
    }));
  return { org, places, bot, sandbox, staysUp };
}

interface Address {
  readonly baseUrl: string;
  readonly insecureHttp: string | null;
}

async function askForge({ flags, asker, steps, existing, sandbox }: Setup): Promise<Address> {
  const fixedUrl = sandbox?.baseUrl ?? existing?.forges[0]?.baseUrl;
  let facts: ForgeFacts | null = null;
  const typed = await asker.text({
    flag: '--forge URL',
    say: 'Address of the forge',
    fromFlags: fixedUrl ?? flags.forge,
    check: async (answer) => {
      const address = readForgeAddress(answer);
      if (!address) return 'an address like https://git.example.org, without user and password';
      const look = await lookAtForge(address.baseUrl);
      if (typeof look === 'string') return look;
      facts = look;
      return null;
    },
  });
  const { baseUrl, isInsecure } = readForgeAddress(typed) ?? { baseUrl: typed, isInsecure: false };
  steps.addDone('forge', `${baseUrl}: ${describeForge(facts)}`);
  if (!isInsecure || existing) return { baseUrl, insecureHttp: null };
  const insecureHttp = await asker.text({
    flag: '--insecure-http REASON',
    say: 'Plain http: the token can be read on the way. Why is that safe here?',
    fromFlags: flags.insecureHttp,
    check: (answer) => (answer.trim() === '' ? 'a reason in words, or an https address' : null),
  });
  return { baseUrl, insecureHttp };
}

function describeForge(facts: ForgeFacts | null): string {
  if (!facts) return 'it answers';
  const { product, version, aheadS } = facts;
  const name = product === 'unknown' ? 'it shows its version to members only' : `${product} ${version ?? ''}`;
  if (aheadS === null) return name;
  return Math.abs(aheadS) < CLOCK_S
    ? `${name}, its clock agrees with ours`
    : `${name}; its clock is ${Math.abs(aheadS)} s ${aheadS > 0 ? 'ahead of' : 'behind'} ours: correct one of them`;
}

interface Token {
  readonly token: string | null;
  readonly account: AccountFacts;
}

/** A token that the forge takes. The one that the config names is used when it is there. */
async function askToken(
  { secrets, asker, steps, places, environment, existing, sandbox }: Setup,
  baseUrl: string,
): Promise<Token> {
  const existingToken = tokenOf(existing) ?? environment.get('FORGE_TOKEN');
  let account: AccountFacts = { login: null, orgs: null };
  const check = async (answer: string): Promise<string | null> => {
    if (answer === '') return 'paste the token';
    const look = await lookAtAccount(baseUrl, answer);
    if (typeof look === 'string') return look;
    account = look;
    return null;
  };
  if (existingToken === undefined && existing && existing.forges[0]?.auth.type === 'basic')
    return { token: null, account };
  if (existingToken !== undefined) {
    const wrong = await check(existingToken);
    if (wrong !== null)
      throw new UserError(
        'TOKEN_REFUSED',
        `FORGE_TOKEN of ${places.environment}: ${wrong}; take that line out, and run the same command again`,
      );
    steps.addKept('token', `of ${account.login ?? 'an account'}`);
    return { token: existingToken, account };
  }
  if (!sandbox && secrets.token === undefined)
    steps.say(
      '',
      'The bot needs an account of its own, in a team of the organization (Owners, so that it may install the webhook).',
      `Sign in as that account, open ${webPages(baseUrl).tokens}, and generate a token with: ${BOT_SCOPES.join(', ')}`,
    );
  const token = await asker.secret({
    flag: '--token-stdin, or FORGE_TOKEN in the environment',
    say: 'Token of the bot (nothing is shown)',
    fromFlags: sandbox ? await sandbox.botToken() : secrets.token,
    check,
  });
  steps.addDone('token', `it belongs to ${account.login ?? 'an account that it may not name'}`);
  return { token, account };
}

function tokenOf(existing: AppConfig | null): string | undefined {
  const auth = existing?.forges[0]?.auth;
  return auth?.type === 'token' && !auth.token.isWithheld ? auth.token.reveal() : undefined;
}

async function askOrg({ flags, asker, steps, existing, sandbox }: Setup, { orgs }: AccountFacts): Promise<string> {
  if (existing) {
    const match = existing.orgs.find(({ name }) => name.toLowerCase() === (flags.org ?? name).toLowerCase());
    if (match) return match.name;
    throw new UserError('NO_SUCH_ORG', `${existing.file} has no organization ${flags.org}: add it under orgs`);
  }
  const ownOrgs = orgs ?? [];
  if (ownOrgs.length > 0) steps.say(`Organizations of the account: ${ownOrgs.join(', ')}`);
  const org = await asker.text({
    flag: '--org NAME',
    say: 'Organization',
    fromFlags: sandbox?.org ?? flags.org,
    fallback: ownOrgs.length === 1 ? ownOrgs[0] : undefined,
    check: (answer) =>
      orgs === null || orgs.some((name) => name.toLowerCase() === answer.trim().toLowerCase())
        ? answer.trim() === ''
          ? 'the name of an organization'
          : null
        : `the account is in no organization ${answer}: add it to a team there${ownOrgs.length > 0 ? `, or take one of ${ownOrgs.join(', ')}` : ''}`,
  });
  return ownOrgs.find((name) => name.toLowerCase() === org.trim().toLowerCase()) ?? org.trim();
}

async function writeEverything(setup: Setup, address: Address, token: string | null, org: string): Promise<void> {
  const { steps, places, existing, sandbox } = setup;
  const { publicUrl, port } = existing ? { publicUrl: '', port: 0 } : await askReach(setup, address.baseUrl);
  const { sets, mirror, password } = await askStarters(setup, org);
  const secrets = new Map<string, string>([
    ...(token === null ? [] : ([['FORGE_TOKEN', token]] as const)),
    [variableOf(org, 'HOOK_SECRET'), randomBytes(32).toString('hex')],
    ...(password === null ? [] : ([[variableOf(org, 'MIRROR_TOKEN'), password]] as const)),
    ...(sandbox ? ([[SANDBOX_TOKEN, sandbox.controlToken]] as const) : []),
  ]);
  // An operator who has a config keeps secrets in a way of their own.
  if (!existing || existsSync(places.environment)) addVariables(steps, places, secrets);
  const config: NewConfig = {
    ...address,
    org,
    publicUrl,
    port,
    consolePort: await freePort(DEFAULT_CONSOLE_PORT),
    ratePerS: sandbox ? SANDBOX_RATE : null,
    mirrorHosts: mirror ? [mirrorPlaceOf(mirror.address) ?? mirror.address] : [],
  };
  writeNew(steps, 'config', places.config, configText(places, config));
  if (existing) steps.addKept('rules', existing.orgs.find(({ name }) => name === org)?.rules.path ?? 'in a repository');
  else await writeRules(steps, places, org, sets, mirror);
}

/** Under which address the forge reaches the bot: what this machine is called on the way there is offered. */
async function askReach(
  { flags, asker, sandbox }: Setup,
  baseUrl: string,
): Promise<{ publicUrl: string; port: number }> {
  const port = flags.port ?? (await freePort(DEFAULT_PORT));
  const own = await addressTowards(baseUrl);
  const publicUrl = await asker.text({
    flag: '--public-url URL',
    say: `Where the forge reaches the bot (it listens on port ${port})`,
    fromFlags: flags.publicUrl ?? (sandbox ? addressOf('127.0.0.1', port) : undefined),
    fallback: own === null ? undefined : addressOf(own, port),
    check: wrongPublicUrl,
  });
  return { publicUrl: publicUrl.replace(/\/+$/, ''), port };
}

interface Starters {
  readonly sets: ReturnType<typeof starterSets>;
  readonly mirror: Mirror | null;
  readonly password: string | null;
}

async function askStarters({ flags, secrets, asker, steps, existing }: Setup, org: string): Promise<Starters> {
  const none: Starters = { sets: [], mirror: null, password: null };
  if (existing && flags.starters !== undefined)
    steps.addKept(
      'starters',
      `--starters does nothing here: ${existing.file} is there, and a second run changes no rules. Copy what you want from config/rules/starters/`,
    );
  if (existing || (flags.starters?.length === 1 && flags.starters[0] === 'none')) return none;
  const all = starterSets();
  if (flags.starters === undefined)
    steps.say(
      '',
      'Starter sets of rules, each a file of yours to change:',
      ...all.map(({ name, about }) => `  ${name}: ${about}`),
    );
  const names = await asker.many<StarterName>({
    flag: '--starters NAMES',
    say: 'Starter sets',
    fromFlags: flags.starters,
    choices: STARTER_NAMES.map((name) => ({ name, about: all.find((set) => set.name === name)?.about ?? '' })),
    fallback: ['labels'],
  });
  const sets = all.filter(({ name }) => names.includes(name));
  if (!names.includes('mirrors')) return { ...none, sets };
  const address = await asker.text({
    flag: '--mirror-to URL',
    say: 'Mirrors go to this address and the name of the repository, like https://github.com/acme. It is listed in mirror_hosts, so it may be internal; mirrors go to listed places alone',
    fromFlags: flags.mirrorTo,
    check: wrongMirrorAddress,
  });
  const username = await asker.text({
    flag: '--mirror-user NAME',
    say: 'Account there',
    fromFlags: flags.mirrorUser,
    fallback: org,
    check: (answer) => (answer.trim() === '' ? 'a name' : null),
  });
  const password = await asker.secret({
    flag: 'FORGEHAND_MIRROR_PASSWORD in the environment',
    say: 'Its password or token (nothing is shown)',
    fromFlags: secrets.mirrorPassword,
    check: (answer) => (answer === '' ? 'paste it' : null),
  });
  return { sets, mirror: { address: address.replace(/\/+$/, ''), username: username.trim() }, password };
}

/** As `forgehand check`: nothing starts on rules that cannot be loaded. @throws InvalidFile */
async function checkRules({ steps, places }: Setup, name: string): Promise<void> {
  const org = readConfig(places.config).orgs.find((one) => one.name === name);
  if (!org || org.rules.path === null) return;
  const { rules, policies, problems, folder } = await checkOrg(org, org.rules.path);
  if (problems.length > 0) throw new InvalidFile(problems);
  steps.addDone('check', `${counted(rules, 'rule')} and ${counted(policies, 'policy', 'policies')} in ${folder}`);
}
