import { actions } from '../actions/index.js';
import { newId } from '../core/ids.js';
import { announceIntents } from '../pipeline/execute/executor.js';
import { makeDoctor } from './wire-doctor.js';
import { makeRehearser } from './wire-planner.js';
import type { UndecidedBytes } from '../webhooks/undecided-bytes.js';
import { botAccounts, type Ground } from './ground.js';
import type { RevisionKeeper } from '../rules/revisions/revision-keeper.js';
import type { ConnectedForges } from '../forge/connected-forges.js';
import type { GapKeeper } from '../polling/gaps/gap-keeper.js';
import { AccountWish } from '../housekeeping/account-wish.js';
import { ArchiveFiles } from '../housekeeping/archive-files.js';
import { ArchiveInbox } from '../housekeeping/archive-inbox.js';
import type { ForgeHomes } from '../forge/forge-homes.js';
import { ForgeInventory } from '../forge/forge-inventory.js';
import { frozenAt } from '../policies/freeze.js';
import { jobs } from '../housekeeping/jobs/index.js';
import { JobRunner } from '../housekeeping/jobs/job-runner.js';
import type { OfferCheck } from '../rules/requirements/offer-check.js';
import { Scheduler } from '../housekeeping/scheduler.js';
import type { ServerFootings } from '../forge/server-footing.js';
import type { Wake } from '../housekeeping/wakes.cron.js';
import { auditKey } from '../housekeeping/audit/audit-check.js';
import type { ArrivalToIntents } from '../pipeline/decide.js';
import type { ActiveRevisions } from '../rules/revisions/active-revisions.port.js';
import type { Sealer } from '../core/sealer.js';
import type { Planner } from '../policies/planner.js';

const ANNOUNCED = 500;
const BY = 'housekeeping';

export function makeInventory({ clock }: Ground, forges: ConnectedForges, homes: ForgeHomes): ForgeInventory {
  return new ForgeInventory({ forges, homes, clock });
}

export function makeArchive({ config, stores, clock, logger, onFlushFailed }: Ground): ArchiveInbox {
  const { archive, inboxDays } = config.retention;
  const files = archive === null ? null : new ArchiveFiles(archive, onFlushFailed);
  return new ArchiveInbox({ inbox: stores.inbox, store: stores.archive, files, clock, logger }, inboxDays);
}

export function makeJobRunner(
  { config, stores, queue, clock, logger, alerts }: Ground,
  forges: ConnectedForges,
  keeper: RevisionKeeper,
  inventory: ForgeInventory,
  planner: Planner,
  offers: OfferCheck,
  footings: ServerFootings,
  archive: ArchiveInbox,
  sealer: Sealer,
  homes: ForgeHomes,
): JobRunner {
  const rehearser = makeRehearser({ config, stores, clock }, forges, sealer, homes);
  const account = new AccountWish({
    accounts: botAccounts(forges),
    tools: { actions, sealer, newId },
    rehearse: (intent) => rehearser.rehearse(intent),
    journal: stores.journal,
    announce: (ids) => queue.announce('upkeep', [...ids]),
    clock,
  });
  const doctor = makeDoctor({ config, stores, clock }, forges, keeper, offers, footings, async () => null);
  return new JobRunner({
    jobs,
    orgs: config.orgs.map(({ forge, name }) => ({ forge, org: name })),
    forges: config.forges.map(({ id }) => id),
    audits: config.housekeeping.audits,
    logger,
    tools: {
      clock,
      alerts,
      known: stores.known,
      forges,
      inventory,
      revisions: keeper,
      journal: stores.journal,
      examine: (scope) => doctor.examine(scope, false),
      archive,
      ticks: stores.ticks,
      tickDays: config.retention.tickDays,
      sealAudit: async (limit, youngMs) => {
        const chains = await stores.audit.seal(limit, youngMs, auditKey(sealer));
        // The log lies elsewhere than the store: a head in it shows that links were taken away at the end.
        for (const { org, added, head } of chains) logger.info({ org, added, head: `${head.n}:${head.link}` }, 'audit sealed');
        return chains;
      },
      upkeep: (what) => stores.maintenance(what),
      plan: (org) => planner.plan(org, null, BY),
      applyPlan: (hash) => planner.apply(hash, BY),
      reloadRules: async (org) => {
        await keeper.lookAgain(org);
        return { hash: (await keeper.active(org))?.revision.hash ?? null, problems: keeper.heldBack(org) };
      },
      announceDue: async () => {
        const due = await stores.journal.dueIntents(ANNOUNCED);
        await announceIntents({ journal: stores.journal, queue }, due);
        return due.length;
      },
      wantAccount: (forge, settings, cause, isDryRun) => account.want(forge, settings, cause, isDryRun),
      account: (forge) => config.forges.find(({ id }) => id === forge)?.account ?? null,
      staleBranchDays: config.housekeeping.staleBranchDays,
    },
  });
}

export function makeScheduler({ config, stores, clock, logger }: Ground, revisions: ActiveRevisions, flow: ArrivalToIntents, runner: JobRunner): Scheduler {
  return new Scheduler({
    orgs: config.orgs.map(({ forge, name }) => ({ forge, org: name })),
    revisions,
    jobs: runner.scheduled(),
    ticks: stores.ticks,
    frozen: (name, at) => frozenAt(config.orgs.find((org) => org.name === name)?.freeze ?? [], at),
    decideTick: async (tick) => {
      if (!JobRunner.isJob(tick)) return flow.decideTick(tick);
      await stores.ticks.markDecided(tick.id);
      runner.begin(tick);
      return 0;
    },
    clock,
    logger,
  });
}

/** In processes that schedule. */
export function schedulerWakes(gaps: GapKeeper, archive: ArchiveInbox): readonly Wake[] {
  return [
    { name: 'gaps', everyMs: 5_000, failed: 'entries could not be matched; it is tried again', wake: () => gaps.pass() },
    // Often and little rather than all at once at night.
    { name: 'archive', everyMs: 10 * 60_000, failed: 'old arrivals could not be archived', wake: () => archive.run() },
  ];
}

/** In processes that receive: says that deliveries can come. */
export function receiverWakes(gaps: GapKeeper, undecided: UndecidedBytes): readonly Wake[] {
  return [
    { name: 'beat', everyMs: 5_000, failed: 'the beat could not be kept', wake: () => gaps.beat() },
    { name: 'undecided', everyMs: 2_000, failed: 'the deliveries that wait to be decided could not be counted', wake: () => undecided.count() },
  ];
}
