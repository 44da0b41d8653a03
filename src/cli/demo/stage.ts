import { calledAs } from '../called-as.js';
import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UserError } from '../../core/errors.js';
import { HOOK_EVENTS } from '../../sandbox/deliveries/hook-events.js';
import { seedAcme } from '../../sandbox/seed/seed-acme.js';
import { type Sandbox, startSandbox } from '../../sandbox/start-sandbox.js';
import { TRUSTED } from './operator-file.js';
import { SandboxClient } from './sandbox-client.js';
import { startDemoBot, type DemoBot } from './start-demo-bot.js';

export const ORG = 'acme';
export const BOT_LOGIN = 'forgehand';

export interface StageOptions {
  readonly seed: number;
  readonly rules: string;
  /** 0 = any free one. */
  readonly sandboxPort: number;
  readonly webhookPort: number;
  readonly say: (line: string) => void;
}

/** The forge with its people. The bot has an account there, and nothing else yet. */
export interface ForgeStage {
  readonly sandbox: Sandbox;
  readonly client: SandboxClient;
  readonly bot: { readonly login: string; readonly token: string };
  readonly adminToken: string;
  /** Holds the bot's config, secrets, data and log; readable by nobody else. */
  readonly folder: string;
  readonly hookSecret: string;
}

/** Starts the sandbox forge with the living organization, and makes the bot's account there. */
export async function setForge({ seed, sandboxPort, say }: StageOptions): Promise<ForgeStage> {
  const sandbox = await startSandbox({ port: sandboxPort, populate: (parts) => seedAcme(parts, seed) }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE')
        throw new UserError(
          'PORT_TAKEN',
          `port ${sandboxPort} is taken: give another with --port, or 0 for any free one`,
        );
      throw error;
    },
  );
  const client = new SandboxClient({ url: sandbox.url, apiUrl: sandbox.apiUrl, controlToken: sandbox.controlToken });
  const bot = await client.account({
    login: BOT_LOGIN,
    full_name: 'Forgehand',
    org: ORG,
    team: 'Owners',
    admin: true,
    token: 'forgehand',
    scopes: ['all'],
  });
  const adminToken = await client.token(sandbox.admin.login);
  say(
    `sandbox forge on port ${sandbox.port}: ${sandbox.parts.world.repos.size} repositories, organization ${ORG}, seed ${seed}`,
  );
  return {
    sandbox,
    client,
    bot,
    adminToken,
    folder: mkdtempSync(join(tmpdir(), 'forgehand-demo-')),
    hookSecret: randomBytes(32).toString('hex'),
  };
}

/** Starts the bot and points the organization's hook at it. */
export function setBot(stage: ForgeStage, options: StageOptions): Promise<DemoBot> {
  const { sandbox, folder, hookSecret } = stage;
  const file = {
    folder,
    org: ORG,
    forge: { apiUrl: sandbox.apiUrl, concurrency: 8, ratePerS: 200 },
    token: stage.bot.token,
    hookSecret,
    rules: options.rules,
    host: '127.0.0.1',
    port: options.webhookPort,
  };
  return startDemoBot(file, async ({ bot, configFile, webhook }) => {
    await stage.client.hook({
      org: ORG,
      url: webhook,
      content_type: 'json',
      secret: hookSecret,
      events: [...new Set(HOOK_EVENTS.map(({ name }) => name))],
    });
    options.say(`bot on port ${new URL(webhook).port}, embedded, rules of ${options.rules}`);
    if (bot.consoleUrl !== null)
      options.say(
        `watch it in a browser at ${bot.consoleUrl}: ${calledAs()} console --config ${configFile} prints a link`,
      );
    options.say(TRUSTED);
  });
}

export function removeStage({ folder }: ForgeStage): Promise<void> {
  return rm(folder, { recursive: true, force: true });
}
