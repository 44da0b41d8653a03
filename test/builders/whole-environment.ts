import { actionCatalogue } from '../../src/actions/index.js';
import { lookupCatalogue } from '../../src/actions/lookups/index.js';
import type { LoadEnvironment } from '../../src/rules/language/revision.js';
import { aLoadEnvironment } from './rule-environment.js';

/** As the bot loads rules: every action and lookup that there is, and types are checked. There are no secrets. */
export function aWholeEnvironment(engine: LoadEnvironment['engine']): LoadEnvironment {
  return aLoadEnvironment({
    actions: actionCatalogue(),
    lookups: lookupCatalogue(),
    secrets: new Set(),
    engine,
    checkTypes: true,
  });
}
