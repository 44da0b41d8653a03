import { actions } from '../actions/index.js';
import { TwoPeople } from '../core/two-people.js';
import { authorsOf } from '../rules/sources/rule-repository.port.js';
import { makeLookupReader } from './wire-revisions.js';
import { effectTools } from './effect-tools.js';
import { botAccounts, type Ground } from './ground.js';
import { makeActProofs } from './wire-flow.js';
import { newId } from '../core/ids.js';
import { Rehearser } from '../pipeline/execute/rehearse.js';
import type { RepositoryHomes } from '../core/repository-home.js';
import type { ConnectedForges } from '../forge/connected-forges.js';
import { frozenAt } from '../policies/freeze.js';
import type { OfferCheck } from '../rules/requirements/offer-check.js';
import { CandidateDecider } from '../pipeline/decide/decide-candidate.js';
import type { RepositoryInventory, RuleEngine } from '../pipeline/rule-engine.port.js';
import type { ActiveRevisions } from '../rules/revisions/active-revisions.port.js';
import { sealReads } from '../pipeline/decide/sealed-answers.js';
import type { Sealer } from '../core/sealer.js';
import { Planner } from '../policies/planner.js';

/** Plans of policies: decided as the flow decides, rehearsed as the executor does. */
export function makePlanner(
  { config, stores, queue, clock, logger, alerts, security }: Ground,
  forges: ConnectedForges,
  sealer: Sealer,
  revisions: ActiveRevisions,
  rules: RuleEngine,
  inventory: RepositoryInventory,
  offers: OfferCheck,
  homes: RepositoryHomes,
): Planner {
  const decider = new CandidateDecider({
    rules,
    lookups: makeLookupReader({ config, stores, clock }, forges, revisions, homes),
    homes,
    acts: makeActProofs({ config, stores, clock }, forges, homes),
    security,
    accounts: botAccounts(forges),
    journal: stores.journal,
    tools: { actions, sealer, newId },
    clock,
    logger,
  });
  const rehearser = makeRehearser({ config, stores, clock }, forges, sealer, homes);
  const rateOf = new Map(config.forges.map(({ id, ratePerS }) => [id, ratePerS]));
  return new Planner({
    orgs: config.orgs.map(({ forge, name, budgets }) => ({
      forge,
      org: name,
      caps: { effectsPerPlan: budgets.effectsPerPlan, percentOfSubjects: budgets.percentOfSubjects },
      pace: { ratePerS: rateOf.get(forge) ?? Number.POSITIVE_INFINITY, effectsPerHour: budgets.effectsPerHour },
    })),
    revisions,
    inventory,
    rules,
    decide: (active, candidate, subject) => decider.decide(active, candidate, subject),
    rehearse: (intent) => rehearser.rehearse(intent),
    heldBack: (org) => offers.heldNow(org),
    plans: stores.plans,
    journal: {
      lastSettled: (effectKey) => stores.journal.lastSettled(effectKey),
      recordDecision: (decided, runs) =>
        stores.journal.recordDecision(
          decided,
          runs.map((run) => sealReads(run, sealer)),
        ),
    },
    announce: (ids) => queue.announce('upkeep', [...ids]),
    waits: ({ hash, org, policy }) =>
      alerts.raise(`plan.approval/${org}/${policy ?? ''}`, `a plan of ${org} waits for an approval: forgehand approve ${hash.slice(0, 12)}`, { plan: hash }),
    frozen: ({ revision }, at) => frozenAt(config.orgs.find(({ name }) => name === revision.org)?.freeze ?? [], at),
    twoPeople: twoPeopleOf({ stores }),
    clock,
  });
}

/** Who may approve what takes two people. */
export function twoPeopleOf({ stores }: Pick<Ground, 'stores'>): TwoPeople {
  return new TwoPeople({
    operators: () => stores.operators.list(),
    authorsOf: async (revisionId) => {
      const origin = (await stores.revisions.byId(revisionId))?.origin;
      return origin ? authorsOf(origin) : [];
    },
  });
}

/** What an intent would do: everything of it but the write. */
export function makeRehearser(ground: Pick<Ground, 'config' | 'stores' | 'clock'>, forges: ConnectedForges, sealer: Sealer, homes: RepositoryHomes): Rehearser {
  return new Rehearser(effectTools(ground, forges, sealer, homes));
}
