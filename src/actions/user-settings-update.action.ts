import { defineEnsuringAction, changed, refused, unchanged } from './define-action.js';
import { say } from './reasons.js';
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

const SETTINGS = { what: 'settings' };

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
      ? resend(say('found.unreadable', { ...SETTINGS, then: 'harmless' }))
      : askPerson(say('found.unreadable', { ...SETTINGS, then: 'maybe-changed' }));
  }
  const given = Object.entries(wanted).filter((entry): entry is [string, string | boolean] => entry[1] !== undefined);
  const different = given.filter(([name, value]) => plain(seen[name], value) !== value);
  if (different.length === 0) return done(say('found.as-wanted', SETTINGS));
  const before = isJsonObject(snapshot?.['before'] ?? null) ? (snapshot?.['before'] as JsonObject) : null;
  const third =
    before === null ? [] : different.filter(([name, value]) => plain(seen[name], value) !== plain(before[name], value));
  if (third.length > 0)
    return settledAs('conflict', say('found.changed-meanwhile', { ...SETTINGS, differs: third.map(([name]) => name) }));
  return resend(say('found.not-yet', SETTINGS));
}

/** Servers leave out what is empty. */
function plain(value: Json | undefined, like: string | boolean): Json {
  return value ?? (typeof like === 'boolean' ? false : '');
}

/** Absolute values: the same request twice is harmless, so on a forge where they cannot be read the last wish is the memory. */
export const updateUserSettings = defineEnsuringAction({
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
  object: () => null,
  names: () => [],
  raises: [],
  example: { hide_email: true, description: 'automation account of acme' },

  recover: userSettingsRecovery,

  async ensure({ forge, recall, remember }, wanted) {
    const given = Object.entries(wanted).filter((entry): entry is [string, string | boolean] => entry[1] !== undefined);
    if (given.length === 0) return refused(say('params.none', { names: [] }));
    const current = await whereOffered(forge.getUserSettings, (get) => get({}));
    if (current === undefined) {
      const memory = await recall();
      if (memory?.isSameWish) return unchanged(say('found.made-before', SETTINGS), memory.detail);
    }
    const seen: JsonObject = { ...(current as JsonObject | undefined) };
    const different = given.filter(
      ([name, value]) => current === undefined || (seen[name] ?? (typeof value === 'boolean' ? false : '')) !== value,
    );
    if (different.length === 0) return unchanged(say('found.as-wanted', SETTINGS));
    if (current !== undefined)
      remember({ before: Object.fromEntries(different.map(([name]) => [name, seen[name] ?? null])) });
    await forge.updateUserSettings({ body: Object.fromEntries(different) });
    return changed(say('made.changed', { ...SETTINGS, differs: different.map(([name]) => name).join(', ') }));
  },
});
