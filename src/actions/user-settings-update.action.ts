import { defineAction, changed, refused, unchanged } from './define-action.js';
import { flag, optional, text } from './support/params.js';
import {
  askPerson,
  defineRecovery,
  done,
  resend,
  settledAs,
  type RecoveryFacts,
  type Verdict,
} from './support/recovery.js';
import { whereOffered } from '../forge/forge-client.js';
import { type JsonObject, isJsonObject, type Json } from '../core/json.js';
import { RIGHTS } from '../core/rights.js';

const setting = (summary: string, max?: number) => optional(text({ summary, ...(max ? { max } : {}) }));

/** Where nothing can be read, sending again may undo a person's change that came since: only while the call is this young. */
const YOUNG_MS = 60_000;

type WantedSettings = Readonly<Record<string, string | boolean | undefined>>;

/** Absolute values: what is there now is ours, what was there before, or somebody else's. */
const userSettingsRecovery = defineRecovery<WantedSettings, JsonObject>({
  reads: ['getUserSettings'],
  mayRead: [],
  settle: 'whole',
  absolute: true,

  async read({ forge }) {
    const settings = await whereOffered(forge.getUserSettings, (get) => get({}));
    return settings === undefined ? null : { ...(settings as JsonObject) };
  },

  decide: decideSettings,
});

export function decideSettings({
  wanted,
  snapshot,
  seen,
  sentAgoMs,
}: RecoveryFacts<WantedSettings, JsonObject>): Verdict {
  if (seen === null) {
    return sentAgoMs <= YOUNG_MS
      ? resend('the settings cannot be read; the same values sent again do no harm')
      : askPerson('the settings cannot be read, and somebody may have changed them since our call');
  }
  const given = Object.entries(wanted).filter((entry): entry is [string, string | boolean] => entry[1] !== undefined);
  const different = given.filter(([name, value]) => plain(seen[name], value) !== value);
  if (different.length === 0) return done('the settings are as wanted');
  const before = isJsonObject(snapshot?.['before'] ?? null) ? (snapshot?.['before'] as JsonObject) : null;
  const third =
    before === null ? [] : different.filter(([name, value]) => plain(seen[name], value) !== plain(before[name], value));
  if (third.length > 0)
    return settledAs('conflict', `somebody else changed ${third.map(([name]) => name).join(', ')} meanwhile`);
  return resend('the settings are as before the call');
}

/** Servers leave out what is empty. */
function plain(value: Json | undefined, like: string | boolean): Json {
  return value ?? (typeof like === 'boolean' ? false : '');
}

/** Absolute values: the same request twice is harmless, so on a forge where they cannot be read the last wish is the memory. */
export const updateUserSettings = defineAction({
  name: 'user_settings.update',
  summary: "Set settings of the bot's own account",
  target: 'account',
  params: {
    description: setting('description', 255),
    diff_view_style: setting('diff view'),
    full_name: setting('full name', 100),
    hide_activity: optional(flag({ summary: 'hide the activity' })),
    hide_email: optional(flag({ summary: 'hide the e-mail address' })),
    language: setting('language'),
    location: setting('location', 50),
    theme: setting('theme'),
    website: setting('website', 255),
  },
  operations: ['updateUserSettings'],
  whereOffered: ['getUserSettings'],
  power: 'user_settings.update',
  right: RIGHTS.organizationOwner,
  naturalKey: 'full_name',
  // One lane and one key per account: two wishes about the same account never run beside each other.
  keyOf: () => 'settings',
  raises: [],
  example: { hide_email: true, description: 'automation account of acme' },

  recover: userSettingsRecovery,

  async ensure({ forge, recall, remember }, wanted) {
    const given = Object.entries(wanted).filter((entry): entry is [string, string | boolean] => entry[1] !== undefined);
    if (given.length === 0) return refused('no setting is given');
    const current = await whereOffered(forge.getUserSettings, (get) => get({}));
    if (current === undefined) {
      const memory = await recall();
      if (memory?.isSameWish)
        return unchanged('these settings were sent before (this forge offers no way to read them)', memory.detail);
    }
    const seen: JsonObject = { ...(current as JsonObject | undefined) };
    const different = given.filter(
      ([name, value]) => current === undefined || (seen[name] ?? (typeof value === 'boolean' ? false : '')) !== value,
    );
    if (different.length === 0) return unchanged('the settings are as wanted');
    if (current !== undefined)
      remember({ before: Object.fromEntries(different.map(([name]) => [name, seen[name] ?? null])) });
    await forge.updateUserSettings({ body: Object.fromEntries(different) });
    return changed(`settings changed: ${different.map(([name]) => name).join(', ')}`);
  },
});
