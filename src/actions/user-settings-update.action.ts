import { defineAction, changed, refused, there, toWrite } from './define-action.js';
import { say } from './reasons.js';
import { flag, optional, text } from './support/params.js';
import { differingSettings, statedOf, valuesOf, type Settings } from './support/compare.js';
import { RIGHTS } from '../core/rights.js';

const setting = (summary: string, max?: number) => optional(text(summary, max ? { max } : {}));

/** Where nothing can be read, sending again may undo a person's change that came since: only while the call is this young. */
const YOUNG_MS = 60_000;

const SETTINGS = { what: 'settings' };

/** Absolute values: the same request twice is harmless, so on a forge where they cannot be read the last wish is the memory. */
export const updateUserSettings = defineAction({
  name: 'user_settings.update',
  summary: "Set settings of the bot's own account",
  target: 'account',
  params: {
    description: setting('description', 255),
    diff_view_style: setting('diff view'),
    full_name: setting('full name', 100),
    hide_activity: optional(flag('hide the activity')),
    hide_email: optional(flag('hide the e-mail address')),
    language: setting('language'),
    location: setting('location', 50),
    theme: setting('theme'),
    website: setting('website', 255),
  },
  operations: ['updateUserSettings'],
  whereOffered: ['getUserSettings'],
  looksBy: ['getUserSettings'],
  power: 'user_settings.update',
  right: RIGHTS.organizationOwner,
  naturalKey: 'full_name',
  // One order key and one effect key per account: two wishes about the same account never run beside each other.
  keyOf: () => 'settings',
  object: () => null,
  names: () => [],
  raises: [],
  example: { hide_email: true, description: 'automation account of acme' },
  about: () => SETTINGS,

  look: async ({ forge }): Promise<Settings> => (await forge.getUserSettings({})) as Settings,

  compare({ wanted, seen }) {
    const stated = statedOf(wanted);
    if (stated.length === 0) return refused(say('params.none', { names: [] }));
    if (seen === undefined) return toWrite(stated.map(([name]) => name));
    const different = differingSettings(wanted, seen);
    if (different.length === 0) return there(say('found.as-wanted', SETTINGS));
    return toWrite(different, { remember: { before: valuesOf(different, seen) } });
  },

  async write({ forge }, wanted, different) {
    await forge.updateUserSettings({
      body: Object.fromEntries(statedOf(wanted).filter(([name]) => different.includes(name))),
    });
    return changed(say('made.changed', { ...SETTINGS, differs: different.join(', ') }));
  },

  recover: {
    absolute: true,
    unread: (_, { sentAgoMs }) => (sentAgoMs <= YOUNG_MS ? 'harmless' : 'maybe-changed'),
  },
});
