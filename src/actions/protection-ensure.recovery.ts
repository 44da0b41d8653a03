import type { JsonObject } from '../core/json.js';
import type { BranchProtection } from '../core/objects/git.js';
import { defineRecovery, placeOf, resend, type RecoveryFacts, type Verdict } from './support/recovery.js';
import { decideSettingsOf, type Settings } from './support/settings.js';
import { orMissing, whereOffered } from './support/where-offered.js';

export type WantedProtection = Settings & { readonly name: string };

export interface SeenProtection {
  /** Null = there is none of that name. */
  readonly settings: Settings | null;
}

/** A protection has a name of its own, and its settings are absolute. */
export const protectionRecovery = defineRecovery<WantedProtection, SeenProtection>({
  reads: ['getBranchProtection'],
  mayRead: [],
  settle: 'whole',
  absolute: true,

  async read({ forge, target }, { name }) {
    const found = await whereOffered(forge.getBranchProtection, (get) =>
      orMissing(get({ ...placeOf(target), name: name.trim() })),
    );
    return found === undefined ? null : { settings: found === null ? null : settingsIn(found) };
  },

  decide: decideProtection,
});

function decideProtection({ wanted, seen, ...facts }: RecoveryFacts<WantedProtection, SeenProtection>): Verdict {
  const { name, ...settings } = wanted;
  // The forge refuses a second one of the name, and what is not there cannot be somebody else's.
  if (seen?.settings === null) return resend(`protection ${name} is not there`);
  return decideSettingsOf(`protection ${name}`, { ...facts, wanted: settings, seen: seen?.settings ?? null });
}

/** As plain values; a list that the forge leaves empty is an empty one. */
export function settingsIn(protection: BranchProtection): Settings {
  const {
    name: _name,
    rule_name: _rule,
    branch_name: _branch,
    created_at: _created,
    updated_at: _updated,
    ...settings
  } = protection;
  return Object.fromEntries(
    Object.entries(settings as JsonObject).map(([name, value]) => [
      name,
      name === 'status_check_contexts' ? (value ?? []) : value,
    ]),
  );
}
