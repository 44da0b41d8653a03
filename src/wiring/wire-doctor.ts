import { RevisionKeeper } from '../rules/revisions/revision-keeper.js';
import { lookupCatalogue } from '../actions/lookups/index.js';
import { callingAs } from '../core/caller.js';
import { ConnectedForges } from '../forge/connected-forges.js';
import { Doctor, type DoctorDeps } from '../housekeeping/doctor/doctor.js';
import { ruleVerdictOf } from '../rules/sources/rule-verdicts.js';
import { TrustedProxies } from '../webhooks/client-address.js';
import { OfferCheck } from '../rules/requirements/offer-check.js';
import { ServerFootings } from '../forge/server-footing.js';
import { credentialsOf, type Ground } from './ground.js';

export function makeServerFootings({ config, stores, clock }: Ground): ServerFootings {
  const tokens = new Map(credentialsOf(config).map(({ credential, auth }) => [credential, auth.type === 'token' ? auth.token : null]));
  return new ServerFootings({ known: stores.known, token: (credential) => tokens.get(credential) ?? null, clock });
}

export function makeOfferCheck(
  { config, alerts, clock, logger }: Ground,
  keeper: RevisionKeeper,
  forges: ConnectedForges,
  footings: ServerFootings,
): OfferCheck {
  const orgs = config.orgs.map(({ forge, name }) => ({ forge, org: name }));
  const check = new OfferCheck({ orgs, revisions: keeper, forges, lookups: lookupCatalogue(), footings, alerts, clock, logger });
  const look = (): void => void callingAs({ lane: 'housekeeping', org: null }, () => check.check());
  keeper.onActivated(look);
  forges.onConnected(look);
  return check;
}

/** @param refused requests refused at an endpoint since the start; null while none is here */
export function makeDoctor(
  { config, stores, clock }: Pick<Ground, 'config' | 'stores' | 'clock'>,
  forges: ConnectedForges,
  keeper: RevisionKeeper,
  offers: OfferCheck,
  footings: ServerFootings,
  refused: DoctorDeps['refused'],
): Doctor {
  const trusted = new TrustedProxies(config.server.trustedProxies);
  return new Doctor({
    forges: credentialsOf(config).map(({ forge, org, credential, auth }) => ({
      id: forge.id,
      org,
      credential,
      baseUrl: forge.baseUrl,
      signsInBy: auth.type === 'token' ? 'token' : 'password',
    })),
    orgs: config.orgs.map(({ name, forge, hooks, rules }) => ({ org: name, forge, hooks, rulesInRepository: rules.repository !== null })),
    publicUrl: config.server.publicUrl,
    connected: forges,
    revisions: keeper,
    ruleVerdict: (forge, org) => ruleVerdictOf(stores.known, forge, org),
    offers,
    footings,
    gaps: stores.gaps,
    proxies: stores.untrustedProxies,
    trustsProxy: (address) => trusted.trusts(address),
    refused,
    clock,
  });
}
