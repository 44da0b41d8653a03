import { ForgeError } from '../../core/errors.js';
import { hashOf } from '../../core/ids.js';
import { canonicalJson } from '../../core/canonical-json.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import { forgeOf } from './forge-of.js';
import { nightly, NOTHING, type Job } from './job.js';

const KIND = 'job.account.settings.sent';

/**
 * Settings of the bot's own account, as the config wants them (op 6). They are absolute values of an account that nobody else writes, so a call
 * without an answer is simply looked at again the next time; where they cannot be read, the wish that was sent last is the memory.
 */
export const keepAccountSettings: Job = {
  name: 'account.settings',
  summary: "settings of the bot's own account, as forges[].account wants them",
  per: 'forge',
  schedule: nightly(3),
  when: 'nightly',
  isAudit: false,
  async run(turn) {
    const wanted = turn.tools.account(turn.forge);
    if (!wanted || Object.keys(wanted).length === 0) return { summary: 'forges[].account says nothing', findings: NOTHING, changes: NOTHING };
    const { client, offers } = forgeOf(turn);
    const wish = hashOf('account', canonicalJson(wanted));
    const current = offers('getUserSettings') ? await orNull(client.getUserSettings({})) : null;
    const sent = (await turn.tools.known.read(turn.forge, '', KIND))?.fact;
    const isSentBefore = isJsonObject(sent) && sent['wish'] === wish;
    const different = differentSettings(wanted, current as JsonObject | null, isSentBefore);
    const summary = current ? 'read back from the forge' : 'this forge does not show them: the last wish is compared';
    const names = Object.keys(different);
    if (names.length === 0) return { summary, findings: NOTHING, changes: NOTHING };
    if (!turn.isDryRun) {
      await client.updateUserSettings({ body: different });
      await turn.tools.known.write(turn.forge, '', KIND, { wish });
    }
    return { summary, findings: NOTHING, changes: names.map((name) => `${name}: ${JSON.stringify(different[name])}`) };
  },
};

/** What is to be sent. Pure. @param current null = it cannot be read */
export function differentSettings(
  wanted: Readonly<Record<string, string | boolean>>,
  current: JsonObject | null,
  isSentBefore: boolean,
): Record<string, string | boolean> {
  if (current === null) return isSentBefore ? {} : { ...wanted };
  return Object.fromEntries(Object.entries(wanted).filter(([name, value]) => (current[name] ?? (typeof value === 'boolean' ? false : '')) !== value));
}

async function orNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'not-offered') return null;
    throw error;
  }
}
