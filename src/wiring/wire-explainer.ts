import { actionCatalogue } from '../actions/index.js';
import { lookupCatalogue } from '../actions/lookups/index.js';
import { botAccounts, type Ground } from './ground.js';
import type { RevisionKeeper } from '../rules/revisions/revision-keeper.js';
import type { ConnectedForges } from '../forge/connected-forges.js';
import { Explainer } from '../insight/explainer.js';
import type { BotSelf } from '../pipeline/rule-engine.port.js';
import { openReads } from '../pipeline/decide/sealed-answers.js';
import type { Sealer } from '../core/sealer.js';
import { orgOf } from '../pipeline/decide/shadow.js';
import { PureRuleEngine } from '../policies/pure-rule-engine.js';
import { CelEngine } from '../rules/language/expressions/cel-engine.js';
import { loadRules } from '../rules/language/load/load-rules.js';

/** What `forgehand explain` asks: stores alone, so that it answers without a forge. */
export function makeExplainer(
  { config, stores }: Pick<Ground, 'config' | 'stores'>,
  keeper: RevisionKeeper,
  forges: ConnectedForges,
  sealer: Sealer,
): Explainer {
  const engine = new CelEngine();
  const actions = actionCatalogue();
  const lookups = lookupCatalogue();
  // A power that was taken back is no reason why the rules of then cannot be read.
  const powers = new Set([...actions.values()].flatMap(({ power }) => power ?? []));
  const secretsOf = new Map(config.orgs.map(({ name, secrets }) => [name, new Set(Object.keys(secrets))]));
  return new Explainer({
    journal: {
      run: async (id) => {
        const run = await stores.journal.run(id);
        return run && openReads(run, sealer);
      },
      runs: async (filter) => (await stores.journal.runs(filter)).map((run) => openReads(run, sealer)),
      intent: (id) => stores.journal.intent(id),
      intentsOfRun: (id) => stores.journal.intentsOfRun(id),
      attemptsOfIntent: (id) => stores.journal.attemptsOfIntent(id),
    },
    inbox: stores.inbox,
    store: stores.revisions,
    load: (kept, files) => {
      const org = orgOf(kept);
      return loadRules(files, { org, actions, lookups, powers, secrets: secretsOf.get(org) ?? new Set(), engine });
    },
    running: (org) => keeper.active(org),
    engine,
    rules: new PureRuleEngine(engine),
    self: (forge, org) => selfOf(config, forges, forge, org),
  });
}

/** Basic credentials tell the login without a forge. */
export function selfOf({ forges: told, orgs }: Ground['config'], forges: ConnectedForges, forge: string, org: string): BotSelf | null {
  const auth = orgs.find(({ name }) => name === org)?.auth ?? told.find(({ id }) => id === forge)?.auth;
  return botAccounts(forges).self(forge, org) ?? (auth?.type === 'basic' ? { id: null, login: auth.username } : null);
}
