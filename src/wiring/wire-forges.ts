import { ForgeHomes } from '../forge/forge-homes.js';
import { ConnectedForges } from '../forge/connected-forges.js';
import { createForgeClient } from '../forge/http/create-forge-client.js';
import type { SharedPauses } from '../forge/http/shared-pauses.port.js';
import { keyBesideData } from '../config/data-key.js';
import { Sealer } from '../core/sealer.js';
import { credentialsOf, type Ground } from './ground.js';

export function makeForges({ config, role, clock, logger, alerts }: Ground, pauses: SharedPauses): ConnectedForges {
  // A process that only takes deliveries asks no forge anything, and holds no token for it.
  const credentials = role === 'web' ? [] : credentialsOf(config);
  const forges = credentials.map(({ forge, org, credential, auth }) => {
    const client = createForgeClient({
      ...forge,
      proxy: forge.proxy?.reveal() ?? null,
      auth,
      clock,
      logger,
      // Forges count calls by account: each has a pace, and pauses, of its own.
      pauses: { tell: (seconds) => pauses.tell(credential, seconds), hear: (listener) => pauses.hear(credential, listener) },
    });
    return { id: forge.id, org, username: auth.type === 'basic' ? auth.username : null, client };
  });
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
