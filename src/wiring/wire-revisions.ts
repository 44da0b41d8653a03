import { FolderSource } from '../rules/sources/folder-source.js';
import { RevisionKeeper } from '../rules/revisions/revision-keeper.js';
import { actionCatalogue } from '../actions/index.js';
import { lookupCatalogue } from '../actions/lookups/index.js';
import { CoalescedLookups } from '../actions/lookups/coalesced-lookups.js';
import { CachedLookups } from '../actions/lookups/cached-lookups.js';
import { ForgeLookupReader } from '../actions/lookups/forge-lookup-reader.js';
import { OwnRepositoriesOnly } from '../actions/lookups/own-repositories-only.js';
import type { RepositoryHomes } from '../core/repository-home.js';
import { ConnectedForges } from '../forge/connected-forges.js';
import { BotFactsReader } from '../pipeline/decide/bot-facts.js';
import type { RuleVerdicts } from '../rules/sources/rule-verdicts.js';
import { Rollout } from '../pipeline/decide/rollout.js';
import type { LookupReader } from '../actions/lookups/lookup-reader.port.js';
import type { ActiveRevisions } from '../rules/revisions/active-revisions.port.js';
import type { HookProduct } from '../rules/language/hook-events.js';
import { CelEngine } from '../rules/language/expressions/cel-engine.js';
import { loadSteps } from '../rules/language/load/load-rules.js';
import { orgOf, shadowOrg } from '../pipeline/decide/shadow.js';
import { makeRuleThread } from './wire-rule-thread.js';
import { inSlices } from '../core/in-slices.js';
import { approversOf } from '../core/operators.js';
import { tryLoading } from '../policies/thread/bounded-rules.js';
import type { CompiledRule } from '../rules/language/revision.js';
import { beyondLimits } from '../rules/revisions/operator-limits.js';
import { makeRuleSource } from './wire-rule-sources.js';
import type { Ground } from './ground.js';

export function makeRevisionKeeper({ config, stores, clock, logger, alerts }: Ground, forges: ConnectedForges, verdicts: RuleVerdicts): RevisionKeeper {
  const thread = makeRuleThread();
  const engine = new CelEngine();
  const environment = { actions: actionCatalogue(), lookups: lookupCatalogue(), engine, checkTypes: true };
  const orgs = new Map(config.orgs.map((org) => [org.name, org]));
  const keeper = new RevisionKeeper({
    orgs: config.orgs.flatMap((org) => [
      { name: org.name, source: makeRuleSource(org, stores, forges, verdicts) },
      ...(org.rules.shadow ? [{ name: shadowOrg(org.name), source: new FolderSource(org.rules.shadow.path, org.rules.extendsFrom) }] : []),
    ]),
    outside: async () => String(approversOf(await stores.operators.list(), clock.now())),
    load: async (kept, files, known) => {
      const name = orgOf(kept);
      const org = orgs.get(name);
      const [powers, secrets] = [org?.powers ?? [], Object.keys(org?.secrets ?? {})];
      // What is hostile or too large ends in the thread; what passed there is compiled here, a slice at a time.
      const problems = thread ? await tryLoading(thread, { org: name, files, powers, secrets }) : [];
      await thread?.stop();
      if (problems.length > 0) return { ok: false, problems };
      const approvers = known ? {} : { approvers: approversOf(await stores.operators.list(), clock.now()) };
      const result = await inSlices(loadSteps(files, { ...environment, ...approvers, org: name, powers: new Set(powers), secrets: new Set(secrets) }));
      const beyond = result.ok && org ? beyondLimits(result.revision, org.limits) : [];
      return beyond.length > 0 ? { ok: false, problems: beyond } : result;
    },
    store: stores.revisions,
    clock,
    logger,
    alerts,
  });
  forges.onConnected(() => config.orgs.forEach(({ name }) => keeper.nudge(name, null)));
  return keeper;
}

/** Until a forge was reached we do not know who we are there, and could answer ourselves: its events wait. */
export function revisionsOfConnected({ config }: Ground, keeper: RevisionKeeper, forges: ConnectedForges): ActiveRevisions {
  const forgeOf = new Map(config.orgs.map((org) => [org.name, org.forge]));
  return {
    active: async (org) => {
      const forge = forges.get(forgeOf.get(org) ?? '', org);
      return forge?.capabilities ? keeper.active(org) : null;
    },
    commit: (org) => keeper.commit(org),
    shadow: (org) => keeper.active(shadowOrg(org)),
  };
}

/** Reads that decisions ask for: of the forge, and of what the bot knows of itself. */
export function makeLookupReader(
  { config, stores, clock }: Pick<Ground, 'config' | 'stores' | 'clock'>,
  forges: ConnectedForges,
  revisions: ActiveRevisions,
  homes: RepositoryHomes,
): LookupReader {
  const hookUrl = (name: string): string | null => {
    const hook = config.orgs.find((org) => org.name === name)?.hooks[0];
    return hook && config.server.publicUrl !== null ? `${config.server.publicUrl}/webhooks/${encodeURIComponent(hook.id)}` : null;
  };
  const product = (forge: string, org: string): HookProduct => forges.get(forge, org)?.capabilities?.product ?? null;
  const catalogue = lookupCatalogue();
  // The outermost: an answer that was kept is asked about as well.
  const reader = new OwnRepositoriesOnly(new CoalescedLookups(new CachedLookups(new ForgeLookupReader(forges), clock), catalogue, clock), catalogue, homes);
  return new BotFactsReader({ reader, revisions, gaps: stores.gaps, hookUrl, product });
}

/** What a rule's stage depends on. */
export function stagedOf({ id, mode, canary, textHash }: CompiledRule): Parameters<Rollout['mayWrite']>[1] {
  return { id, kind: 'rule', mode, canary, ruleHash: textHash };
}

export function standingOf({ stores, clock, alerts }: Ground): (org: string, rule: CompiledRule) => Promise<boolean> {
  const rollout = new Rollout({ store: stores.rollouts, clock, alerts });
  return (org, rule) => rollout.mayWrite(org, stagedOf(rule));
}
