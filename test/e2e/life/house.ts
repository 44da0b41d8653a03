import type { StatusReport } from '../../../src/api/operations/answers.js';
import { acmeConfig } from '../support/acme-config.js';
import { aForge, type Forge } from '../support/a-forge.js';
import { aPlace, type Place } from '../support/a-place.js';
import { startBot, type Bot } from '../support/bot.js';
import { askJson } from '../support/forgehand.js';
import { SlowWay } from './slow-way.js';

export const SECRET = 'the secret of the hook';

/** A forge, the way to it, and the place of an embedded bot with one rule: a created repository gets a label. */
export interface House {
  readonly forge: Forge;
  readonly way: SlowWay;
  readonly place: Place;
  /** Start the bot; the organization's hook points at it. */
  start(): Promise<Bot>;
  status(): Promise<StatusReport>;
  labelsOf(repo: string): Promise<string[]>;
  close(): Promise<void>;
}

export const RULES = `version: 1
org: acme
rules:
  - { id: greet, on: repository.created, do: { label.ensure: { name: hello, color: "#00aabb" } } }
`;

export async function aHouse(port: number): Promise<House> {
  const forge = await aForge();
  const way = await SlowWay.to(forge.sandbox.url);
  const place = aPlace({
    config: acmeConfig(way.apiUrl, { forge: { rate_per_s: 200, settle_s: 1 }, server: { host: '127.0.0.1', port } }),
    files: { 'rules/greet.yaml': RULES },
    env: { FORGE_TOKEN: forge.botToken, HOOK_SECRET: SECRET },
  });
  let bot: Bot | null = null;
  let hooked = '';
  return {
    forge,
    way,
    place,
    start: async () => {
      bot = await startBot(place);
      if (hooked !== bot.url) await forge.hook(bot.url, SECRET);
      hooked = bot.url;
      return bot;
    },
    status: () => askJson<StatusReport>(place, 'status', '--config', place.configFile),
    labelsOf: async (repo) =>
      ((await forge.get<Array<{ name: string }>>(`/repos/acme/${repo}/labels`)) ?? []).map(({ name }) => name),
    close: async () => {
      if (bot?.child.isAlive) await bot.kill();
      await way.close();
      await forge.close();
      place.remove();
    },
  };
}
