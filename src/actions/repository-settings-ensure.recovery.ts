import { defineRecovery, placeOf, settledAs, type RecoveryFacts, type Verdict } from './support/recovery.js';
import { decideSettingsOf, type Settings } from './support/settings.js';
import { orMissing, whereOffered } from './support/where-offered.js';

export interface SeenRepository {
  /** Null = it is gone. */
  readonly settings: Settings | null;
}

/** Absolute values, which the repository itself tells. */
export const repositorySettingsRecovery = defineRecovery<Settings, SeenRepository>({
  reads: ['getRepo'],
  mayRead: [],
  settle: 'whole',
  absolute: true,

  async read({ forge, target }) {
    const found = await whereOffered(forge.getRepo, (get) => orMissing(get(placeOf(target))));
    return found === undefined ? null : { settings: found as Settings | null };
  },

  decide: decideRepositorySettings,
});

function decideRepositorySettings({ seen, ...facts }: RecoveryFacts<Settings, SeenRepository>): Verdict {
  if (seen?.settings === null) return settledAs('refused', 'the repository is not there any more');
  return decideSettingsOf('the settings', { ...facts, seen: seen?.settings ?? null });
}
