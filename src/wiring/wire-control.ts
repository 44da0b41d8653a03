import { StoreControl } from '../api/store-control.js';
import type { StoreControlDeps } from '../api/store-control.js';
import { RevisionKeeper } from '../rules/revisions/revision-keeper.js';
import { callingAs, type CallLane } from '../core/caller.js';
import { UserError } from '../core/errors.js';
import { Sweep } from '../pipeline/recover/sweep.js';
import { ConnectedForges } from '../forge/connected-forges.js';
import { readTaskPosition } from '../polling/task-position.js';
import type { ArchiveInbox } from '../housekeeping/archive-inbox.js';
import type { JobRunner } from '../housekeeping/jobs/job-runner.js';
import { OfferCheck } from '../rules/requirements/offer-check.js';
import type { RuleVerdicts } from '../rules/sources/rule-verdicts.js';
import type { Scheduler } from '../housekeeping/scheduler.js';
import { ServerFootings } from '../forge/server-footing.js';
import { auditKey, checkPage } from '../housekeeping/audit/audit-check.js';
import { ArrivalToIntents } from '../pipeline/decide.js';
import { Rollout } from '../pipeline/decide/rollout.js';
import { openReads } from '../pipeline/decide/sealed-answers.js';
import type { Sealer } from '../core/sealer.js';
import type { Planner } from '../policies/planner.js';
import { twoPeopleOf } from './wire-planner.js';
import { makeExplainer, selfOf } from './wire-explainer.js';
import { VERSION } from '../core/version.js';
import type { Ground } from './ground.js';
import { stagedOf } from './wire-revisions.js';
import { makeDoctor } from './wire-doctor.js';

export interface ControlParts {
  readonly forges: ConnectedForges;
  readonly keeper: RevisionKeeper;
  readonly flow: ArrivalToIntents;
  readonly scheduler: Scheduler;
  readonly sweep: Sweep;
  readonly offers: OfferCheck;
  readonly footings: ServerFootings;
  readonly planner: Planner;
  readonly verdicts: RuleVerdicts;
  readonly runner: JobRunner;
  readonly archive: ArchiveInbox;
  readonly sealer: Sealer;
}

/** What the control service needs of the parts; `running` is null when it serves one command. */
export function makeControl(
  { config, stores, metrics, clock, logger, alerts }: Ground,
  parts: ControlParts,
  running: StoreControlDeps['running'],
): StoreControl {
  const { forges, keeper, flow, scheduler, sweep, offers, footings, planner, verdicts, runner, archive } = parts;
  const forgeOf = new Map(config.orgs.map((org) => [org.name, org.forge]));
  // A running bot connects by itself; a command that opened the store does it for the orders that decide.
  const connectForCommand = async (): Promise<void> => (running ? undefined : forges.start());
  const isReceiver = running && (running.role === 'web' || running.role === 'all');
  const doctor = makeDoctor({ config, stores, clock }, forges, keeper, offers, footings, (hook) =>
    isReceiver ? metrics.refusedAt(hook) : Promise.resolve(null),
  );
  const explainer = makeExplainer({ config, stores }, keeper, forges, parts.sealer);
  return new StoreControl({
    config,
    version: VERSION,
    inbox: stores.inbox,
    journal: stores.journal,
    opened: (run) => openReads(run, parts.sealer),
    gaps: stores.gaps,
    recovery: stores.recovery,
    deadlyWork: stores.deadlyWork,
    metrics,
    running,
    forges: () =>
      forges.list().map(({ credential, capabilities }) => ({
        id: credential,
        product: capabilities?.product ?? null,
        version: capabilities?.version ?? null,
        self: capabilities?.self?.login ?? null,
        reachable: running ? capabilities !== null : null,
      })),
    org: async (name) => {
      const kept = await keeper.active(name);
      const stored = kept ? null : await stores.revisions.active(name);
      const revision = kept
        ? { hash: kept.revision.hash, rules: kept.revision.rules.length, policies: kept.revision.policies.length, loadedAt: kept.loadedAt }
        : stored && { hash: stored.hash, rules: null, policies: null, loadedAt: stored.loadedAt };
      return {
        revision,
        heldBack: [...keeper.heldBack(name)],
        lacking: [...offers.lacking(name)],
        source: (await verdicts.of(forgeOf.get(name) ?? '', name)) ?? null,
      };
    },
    originOf: async (id) => (await stores.revisions.byId(id))?.origin ?? null,
    ruleIds: async (name) => {
      const kept = await keeper.active(name);
      return kept ? [...kept.revision.rules, ...kept.revision.policies].map(({ id }) => id) : null;
    },
    readsLists: (name, operation) => {
      const org = config.orgs.find((one) => one.name === name);
      return org !== undefined && org.lists.everyS > 0 && (forges.get(org.forge, org.name)?.offers(operation) ?? false);
    },
    cursorAge: async (forge, org, source) => {
      const stored = await stores.cursors.read(forge, org, source);
      const oldest = source === 'tasks' ? readTaskPosition(stored?.position)?.oldestReadAt : null;
      return stored && { advancedAt: stored.advancedAt, oldestReadAt: oldest ? new Date(oldest) : null };
    },
    replayEvent: async (id) => {
      await connectForCommand();
      return ordered('interactive', null, () => flow.replayEvent(id));
    },
    runSchedule: async (org, schedule) => {
      await connectForCommand();
      return ordered('housekeeping', org, () => scheduler.runNow(org, schedule));
    },
    doctor: async (org, operations) => {
      await connectForCommand();
      return doctor.examine({ org: org ?? undefined }, operations);
    },
    installHook: async (org, orders) => {
      await connectForCommand();
      return doctor.installHook(org, orders);
    },
    jobs: () => runner.list(),
    runJob: async (job, org, isDryRun, by) => {
      await connectForCommand();
      return runner.run(job, org, isDryRun, by);
    },
    restore: (file) => archive.restore(file),
    plan: async (org, policy, by) => {
      await connectForCommand();
      return ordered('housekeeping', org, () => planner.plan(org, policy, by));
    },
    applyPlan: async (hash, by) => {
      await connectForCommand();
      return ordered('housekeeping', null, () => planner.apply(hash, by));
    },
    decidePlan: async (hash, verdict, by) => {
      await connectForCommand();
      return ordered('housekeeping', null, () => planner.decide(hash, verdict, by));
    },
    plans: stores.plans,
    findings: stores.findings,
    operators: stores.operators,
    twoPeople: twoPeopleOf({ stores }),
    actorOf: async (eventId) => (await stores.inbox.event(eventId))?.actor?.login ?? null,
    audit: (org, after, limit) => checkPage(stores.audit, auditKey(parts.sealer), org, after, limit),
    explain: (query) => ordered('interactive', null, () => explainer.explain(query)),
    history: stores.history,
    rollouts: stores.rollouts,
    promote: async (org, id, order, by) => {
      const kept = await keeper.active(org);
      const rule = kept?.revision.rules.find((one) => one.id === id);
      if (!rule) throw new UserError('NO_SUCH_RULE', `the active revision of ${org} has no rule ${id}`);
      const minDecisions = config.orgs.find(({ name }) => name === org)?.promotion.minDecisions ?? 0;
      const rollout = new Rollout({ store: stores.rollouts, clock, alerts });
      return rollout.promote(org, stagedOf(rule), order.to, by, { force: order.force, minDecisions });
    },
    self: (forge, org) => selfOf(config, forges, forge, org),
    record: (order, by, facts) => logger.info({ order, by, ...facts }, 'order taken'),
    nudge: () => (running?.role === 'worker' || running?.role === 'all' ? void sweep.pass() : undefined),
    alerts,
    now: () => clock.now(),
  });
}

/** A person waits for an order; what reads whole organizations for one waits behind events all the same. */
function ordered<Result>(lane: CallLane, org: string | null, work: () => Promise<Result>): Promise<Result> {
  return callingAs({ lane, org }, work);
}
