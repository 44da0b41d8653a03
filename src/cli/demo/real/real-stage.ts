import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RealForge } from '../../real-forge/connect.js';
import type { Account, Estate } from '../../real-forge/estate.js';
import { refusesMirrors } from '../../real-forge/refuses-mirrors.js';
import { startDemoBot, type DemoBot } from '../start-demo-bot.js';

const RULES = fileURLToPath(new URL('../../../../config/rules/acme', import.meta.url));
/** Unknown names are passed over by every server. */
const EVENTS = [
  'create',
  'delete',
  'push',
  'issues',
  'issue_label',
  'issue_comment',
  'pull_request',
  'pull_request_review',
  'repository',
  'release',
];

/** The organization on the real forge, with its people and the bot's account. */
export interface RealStage {
  readonly org: string;
  readonly owner: Account;
  readonly writer: Account;
  readonly bot: { readonly login: string; readonly token: string };
  /** Of an administrator of our own: sees everything, and goes with the rest. */
  readonly adminToken: string;
  /** Holds the bot's config, rules, secrets, data and log; readable by nobody else. */
  readonly folder: string;
  readonly rules: string;
  readonly hookSecret: string;
  /** Rule files that this server cannot do, with the reason. */
  readonly leftOut: ReadonlyMap<string, string>;
}

export async function setRealForge(forge: RealForge, estate: Estate): Promise<RealStage> {
  const tail = randomBytes(3).toString('hex');
  const org = `fh-demo-${tail}`;
  const root = await estate.makeAccount(`fh-root-${tail}`, { isAdmin: true });
  const owner = await estate.makeAccount(`fh-olga-${tail}`);
  const writer = await estate.makeAccount(`fh-wes-${tail}`);
  const bot = await estate.makeAccount(`fh-bot-${tail}`, { fullName: 'Forgehand', isAdmin: true });
  await estate.makeOrg(org, owner);
  const teams = await owner.api.list(`/orgs/${org}/teams`);
  const owners = teams.find(({ name }) => name === 'Owners');
  await owner.api.ask('PUT', `/teams/${String(owners?.id)}/members/${bot.login}`);
  await owner.api.ask('PUT', `/teams/${String(owners?.id)}/members/${writer.login}`);
  for (const name of ['app', 'library', 'docs']) {
    await owner.api.ask('POST', `/orgs/${org}/repos`, {
      name,
      auto_init: true,
      default_branch: 'main',
      private: false,
      description: `${name} of the demo`,
    });
  }
  const refused = await refusesMirrors(owner, org);
  const leftOut = new Map(refused === null ? [] : [['mirrors.yaml', refused]]);
  const folder = mkdtempSync(join(tmpdir(), 'forgehand-demo-'));
  return {
    org,
    owner,
    writer,
    bot: { login: bot.login, token: await tokenOf(bot) },
    adminToken: await tokenOf(root),
    folder,
    rules: copyRules(join(folder, 'rules'), org, [...leftOut.keys()]),
    hookSecret: randomBytes(32).toString('hex'),
    leftOut,
  };
}

async function tokenOf({ api, login }: Account): Promise<string> {
  return String((await api.ask('POST', `/users/${login}/tokens`, { name: 'forgehand-demo', scopes: ['all'] })).sha1);
}

/** The example rules, about this organization instead of acme. */
function copyRules(to: string, org: string, leftOut: readonly string[]): string {
  mkdirSync(to, { mode: 0o700 });
  for (const file of readdirSync(RULES).filter(
    (name) => /\.ya?ml$/.test(name) && !/\.test\.ya?ml$/.test(name) && !leftOut.includes(name),
  ))
    writeFileSync(join(to, file), readFileSync(join(RULES, file), 'utf8').replace(/\bacme\b/g, org));
  return to;
}

export interface RealBot extends DemoBot {
  /** Where the forge is told to send to. */
  readonly publicWebhook: string;
  /** Deliveries are sent, or are not. */
  switchHook(isActive: boolean): Promise<void>;
}

interface Listening {
  /** Where the forge reaches the endpoint; null = on this machine. */
  readonly botUrl: string | null;
  /** 0 = that of the address, or any free one. */
  readonly webhookPort: number;
}

export function setRealBot(forge: RealForge, stage: RealStage, { botUrl, webhookPort }: Listening): Promise<RealBot> {
  const { folder, org, owner, hookSecret } = stage;
  const outside = botUrl === null ? null : new URL(botUrl);
  const file = {
    folder,
    org,
    forge: { apiUrl: `${forge.origin}/api/v1`, concurrency: 4, ratePerS: 50 },
    token: stage.bot.token,
    hookSecret,
    rules: stage.rules,
    host: outside === null ? '127.0.0.1' : '0.0.0.0',
    port: webhookPort !== 0 ? webhookPort : Number(outside?.port ?? 0),
  };
  return startDemoBot(file, async ({ webhook }) => {
    const publicWebhook = outside === null ? webhook : `${outside.href.replace(/\/+$/, '')}/webhooks/${org}`;
    const wish = {
      config: { url: publicWebhook, content_type: 'json' },
      events: EVENTS,
      branch_filter: '*',
      authorization_header: '',
    };
    const hook = await owner.api.ask('POST', `/orgs/${org}/hooks`, {
      ...wish,
      type: 'gitea',
      active: true,
      config: { ...wish.config, secret: hookSecret },
    });
    return {
      publicWebhook,
      // What an edit leaves out is cleared, so all of it is said again; the secret stays.
      switchHook: async (active: boolean) =>
        void (await owner.api.ask('PATCH', `/orgs/${org}/hooks/${String(hook.id)}`, { ...wish, active })),
    };
  });
}
