import { actions } from '../actions/index.js';
import type { RepositoryHomes } from '../core/repository-home.js';
import { TargetResolver } from '../pipeline/execute/resolve-target.js';
import type { ConnectedForges } from '../forge/connected-forges.js';
import type { Sealer } from '../core/sealer.js';
import { orgDirectory, withSettings, type Ground } from './ground.js';

/** What it takes to do an intent, to rehearse it, or to find out what became of it. */
export function effectTools(
  { config, stores, clock }: Pick<Ground, 'config' | 'stores' | 'clock'>,
  forges: ConnectedForges,
  sealer: Sealer,
  homes: RepositoryHomes,
) {
  return {
    journal: stores.journal,
    recovery: stores.recovery,
    actions,
    forges: withSettings(config, forges),
    orgs: orgDirectory(config),
    sealer,
    targets: new TargetResolver(homes),
    clock,
  };
}
