import { RIGHTS } from '../core/rights.js';
import type { JsonObject } from '../core/json.js';
import { defineAction } from './define-action.js';
import { userSettingsRecovery } from './user-settings-update.recovery.js';
import { changed, refused, unchanged } from './support/outcome.js';
import { flag, optional, text } from './support/params.js';
import { whereOffered } from './support/where-offered.js';

const setting = (summary: string, max?: number) => optional(text({ summary, ...(max ? { max } : {}) }));

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
