import { ForgeError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { ACCOUNT_SETTINGS } from '../account-sync.js';
import { forgeOf, nightly, type Job } from './job.js';

/**
 * Settings of the bot's own account, as the config wants them (op 6): what differs is wanted as a run of the journal, which does it, recovers it and
 * explains it as everything else. Where they cannot be read, what was wanted last is the memory.
 */
export const keepAccountSettings: Job = {
  name: ACCOUNT_SETTINGS,
  summary: "settings of the bot's own account, as forges[].account wants them",
  per: 'forge',
  schedule: nightly(3),
  when: 'nightly',
  isAudit: false,
  async run(turn) {
    const { forge, cause, isDryRun, tools } = turn;
    const wanted = tools.account(forge);
    if (!wanted || Object.keys(wanted).length === 0) return { summary: 'forges[].account says nothing' };
    const { client, offers } = forgeOf(turn);
    const current = offers('getUserSettings') ? await orNull(client.getUserSettings({})) : null;
    const seen = current
      ? 'read back from the forge'
      : 'this forge does not show them: the settings asked for last are compared';
    const different = differentSettings(wanted, current as JsonObject | null);
    const names = Object.keys(different);
    if (names.length === 0) return { summary: seen };
    const { does, reason, runId } = await tools.wantAccount(forge, { ...wanted }, cause, isDryRun);
    const summary = runId === null ? seen : `${seen}; run ${runId} does it`;
    if (does === 'cannot') return { summary, findings: [reason] };
    if (does === 'nothing') return { summary };
    return { summary, changes: names.map((name) => `${name}: ${JSON.stringify(different[name])}`) };
  },
};

/** What is otherwise than wanted. Pure. @param current null = it cannot be read: all of it may be */
export function differentSettings(
  wanted: Readonly<Record<string, string | boolean>>,
  current: JsonObject | null,
): Record<string, string | boolean> {
  if (current === null) return { ...wanted };
  return Object.fromEntries(
    Object.entries(wanted).filter(
      ([name, value]) => (current[name] ?? (typeof value === 'boolean' ? false : '')) !== value,
    ),
  );
}

async function orNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'not-offered') return null;
    throw error;
  }
}
