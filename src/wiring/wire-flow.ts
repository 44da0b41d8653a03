import { RevisionKeeper } from '../rules/revisions/revision-keeper.js';
import { actions } from '../actions/index.js';
import type { ForgeEvent } from '../core/event.js';
import { newId } from '../core/ids.js';
import { stringifyJson, type Json } from '../core/json.js';
import { Misfit, type EventFact } from '../events/event-fact.js';
import { deriveFacts, isNews, statedObjectOf } from '../events/derive/derive-facts.js';
import { foldInto } from '../events/fold.js';
import { normalizeDelivery } from '../events/normalize-delivery.js';
import { normalizeEntry } from '../events/normalize-entry.js';
import { DeathWatch } from '../pipeline/decide/death-watch.js';
import { ActProofs } from '../pipeline/decide/act-proofs.js';
import { EffectWitness } from '../pipeline/decide/witness-event.js';
import { ConnectedForges } from '../forge/connected-forges.js';
import { decideArrival } from '../pipeline/decide/decide-arrival.js';
import { OfferCheck } from '../rules/requirements/offer-check.js';
import { ArrivalToIntents } from '../pipeline/decide.js';
import { Rollout } from '../pipeline/decide/rollout.js';
import type { RepositoryInventory, RuleEngine } from '../pipeline/rule-engine.port.js';
import type { ActiveRevisions } from '../rules/revisions/active-revisions.port.js';
import { Sealer } from '../core/sealer.js';
import type { RepositoryHomes } from '../core/repository-home.js';
import { FindingKeeper } from '../policies/finding-keeper.js';
import type { PolicyGate } from '../pipeline/policy-gate.port.js';
import { mayChangeRules } from './wire-rule-sources.js';
import { botAccounts, ownerName, withSettings, type Ground } from './ground.js';
import { makeLookupReader } from './wire-revisions.js';

export function makeFlow(
  { config, stores, queue, clock, logger, metrics, alerts, security, startedAt }: Ground,
  forges: ConnectedForges,
  sealer: Sealer,
  revisions: ActiveRevisions,
  rules: RuleEngine,
  inventory: RepositoryInventory,
  gate: PolicyGate,
  keeper: RevisionKeeper,
  offers: OfferCheck,
  homes: RepositoryHomes,
): ArrivalToIntents {
  const arrivals = {
    inbox: stores.inbox,
    queue,
    events: { normalizeDelivery, normalizeEntry, foldInto, statedObjectOf, deriveFacts, isNews },
    maxActAgeMs: config.retention.maxAgeMs,
    clock,
    logger,
    security,
    counted: (what: { org: string; kind: string; source: string }, event?: ForgeEvent) => {
      metrics.events.inc(what);
      if (event && mayChangeRules(event)) keeper.nudge(event.org, event.repo?.id ?? null);
    },
  };
  const accounts = botAccounts(forges);
  const witness = new EffectWitness({ recovery: stores.recovery, journal: stores.journal, actions, accounts, clock, logger, alerts });
  const findings = new FindingKeeper({ findings: stores.findings, alerts });
  return new ArrivalToIntents({
    watch: new DeathWatch({ store: stores.deadlyWork, clock, alerts, logger }, { owner: ownerName(), startedAt }),
    witness,
    rollout: new Rollout({ store: stores.rollouts, clock, alerts }),
    heldFor: (org, id) => offers.heldFor(org, id),
    arrivals: { decide: (id) => decideArrival(arrivals, id) },
    inbox: stores.inbox,
    revisions,
    rules,
    lookups: makeLookupReader({ config, stores, clock }, forges, revisions, homes),
    homes,
    inventory,
    gate,
    found: (plan) => findings.keep(plan),
    accounts,
    acts: makeActProofs({ config, stores, clock }, forges, homes),
    security,
    journal: stores.journal,
    queue,
    tools: { actions, sealer, newId },
    alerts,
    clock,
    logger,
    counted: (what) => metrics.runs.inc(what),
  });
}

/** What deliveries say, held against the forge. */
export function makeActProofs(
  { config, stores, clock }: Pick<Ground, 'config' | 'stores' | 'clock'>,
  forges: ConnectedForges,
  homes: RepositoryHomes,
): ActProofs {
  const readRow = (row: object, org: string): readonly EventFact[] => {
    const facts = normalizeEntry({ org, source: 'feed', text: stringifyJson(row as Json), textHash: '' });
    return facts instanceof Misfit ? [] : facts;
  };
  return new ActProofs({ forges: withSettings(config, forges), homes, recovery: stores.recovery, readRow, clock });
}
