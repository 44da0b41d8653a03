import { ForgeHomes } from '../housekeeping/forge-homes.js';
import { ConnectedForges } from '../forge/connected-forges.js';
import { createForgeClient } from '../forge/http/create-forge-client.js';
import type { SharedPauses } from '../queue/shared-pauses.js';
import { keyBesideData } from '../journal/data-key.js';
import { Sealer } from '../journal/sealer.js';
import type { Ground } from './ground.js';

export function makeForges({ config, clock, logger, alerts }: Ground, pauses: SharedPauses): ConnectedForges {
  const forges = config.forges.map((forge) => ({
    id: forge.id,
    username: forge.auth.type === 'basic' ? forge.auth.username : null,
    client: createForgeClient({
      ...forge,
      clock,
      logger,
      pauses: { tell: (seconds) => pauses.tell(forge.id, seconds), hear: (listener) => pauses.hear(forge.id, listener) },
    }),
  }));
  return new ConnectedForges(forges, logger, alerts);
}

/** Whose a repository is. Only what decides and what writes asks: a process of the role `web` never does. */
export function makeHomes({ config, stores, clock }: Ground, forges: ConnectedForges): ForgeHomes {
  const named = (forge: string, name: string): readonly string[] => config.orgs.find((org) => org.forge === forge && org.name === name)?.repositories ?? [];
  return new ForgeHomes({ forges, seen: stores.seenRepositories, namedByOperator: named, clock });
}

export function makeSealer({ config }: Ground): Sealer {
  if (config.keys.data) return new Sealer(config.keys.data);
  // readConfig demands keys.data with PostgreSQL.
  if (config.store.kind !== 'embedded') throw new Error('keys.data is missing');
  return new Sealer(keyBesideData(config.store.dir));
}
