import { z } from 'zod';
import { INTENT_STATES } from '../../core/states.js';
import { textOf } from '../../core/reason.js';
import { jsonObject } from '../../core/schema.js';
import { VERSION } from '../../core/version.js';
import { hookReport } from '../../housekeeping/doctor/install-hook.js';
import { readTaskPosition } from '../../polling/task-poller.js';
import { doctorReport } from '../../housekeeping/doctor/check.js';
import { statusReport, type StatusReport } from './answers.js';
import { flag, operationOf } from './operation.js';

const QUARANTINED_SHOWN = 20;
const HELD_SHOWN = 20;

const operation = operationOf(
  'config',
  'orgs',
  'orders',
  'running',
  'forges',
  'keeper',
  'revisions',
  'offers',
  'verdicts',
  'rollouts',
  'cursors',
  'inbox',
  'journal',
  'poisonMessages',
  'doctor',
  'document',
  'metrics',
  'clock',
);
type StatusNeeds = Parameters<Parameters<typeof operation>[0]['handle']>[0];

export const statusOperations = {
  status: operation({
    route: 'GET /v1/status',
    summary: 'Processes, active revisions, and what is held back and why',
    scope: 'read',
    command: 'status',
    input: z.object({}),
    answer: statusReport,
    handle: statusOf,
  }),
  openApi: operation({
    route: 'GET /v1/openapi.json',
    summary: 'These operations as an OpenAPI document',
    scope: 'read',
    command: { none: 'programs read it, to make a client' },
    input: z.object({}),
    answer: jsonObject,
    handle: ({ document }) => document(),
  }),
  doctor: operation({
    route: 'GET /v1/doctor',
    summary: 'Look at the forge, the token, the webhook and the rules of one organization or all',
    scope: 'read',
    command: 'doctor',
    input: z.object({
      org: z.string().optional(),
      operations: flag.default(false).describe('Ask about every operation, not only those that the rules need.'),
    }),
    answer: doctorReport,
    handle: async ({ orgs, orders, doctor }, { org, operations }) => {
      const name = org === undefined ? undefined : orgs.nameOf(org);
      await orders.connected();
      return doctor.examine({ org: name }, operations);
    },
  }),
  installHook: operation({
    route: 'POST /v1/orgs/:org/hook',
    summary: 'Make or repair the webhook of an organization',
    scope: 'operate',
    command: 'hook install',
    input: z.strictObject({
      org: z.string(),
      dryRun: z.boolean().default(false),
      allEvents: z.boolean().default(false),
      hook: z
        .string()
        .regex(/^\d{1,19}$/, 'must be the number of a webhook')
        .optional(),
      isNew: z.boolean().optional(),
      recreate: z.boolean().optional(),
      keepFilter: z.boolean().optional(),
      withoutAuthorization: z.boolean().optional(),
    }),
    answer: hookReport,
    handle: async ({ orgs, orders, doctor }, { org: typed, ...wish }, caller) => {
      const org = orgs.nameOf(typed);
      if (!wish.dryRun) orders.record('hook install', caller, { org, ...wish });
      await orders.connected();
      return doctor.installHook(org, wish);
    },
  }),
};

/** Sets the gauges of the store on its way. */
async function statusOf(needs: StatusNeeds) {
  const { config, inbox, journal, metrics, running, poisonMessages } = needs;
  const deployment: StatusReport['deployment'] = config.store.kind === 'embedded' ? 'embedded' : 'distributed';
  // In the order of the flow: what moves on meanwhile is counted twice, never missed.
  const backlog = await inbox.backlog();
  for (const [what, count] of Object.entries(backlog)) metrics.backlog.set({ what }, count);
  const intents = await journal.countByState();
  for (const state of INTENT_STATES) metrics.intents.set({ state }, intents[state]);
  const quarantined = await poisonMessages.quarantined(QUARANTINED_SHOWN);
  return {
    version: VERSION,
    deployment,
    roles: running ? [running.role] : [],
    startedAt: running?.startedAt ?? null,
    queueHealthy: running ? await running.queueHealthy() : null,
    intents,
    backlog,
    quarantined: quarantined.map(({ topic, id, deaths, since }) => ({ topic, id, deaths, since })),
    paused: await journal.paused(),
    held: await journal.heldByBudgets(HELD_SHOWN),
    orgs: await Promise.all(config.orgs.map(({ name, forge }) => orgStatus(needs, name, forge))),
    forges: needs.forges.list().map(({ credential, capabilities }) => ({
      id: credential,
      product: capabilities?.product ?? null,
      version: capabilities?.version ?? null,
      self: capabilities?.self?.login ?? null,
      reachable: running ? capabilities !== null : null,
    })),
  };
}

async function orgStatus(needs: StatusNeeds, name: string, forge: string) {
  const { keeper, revisions, offers, verdicts, rollouts, cursors, metrics, clock, orgs } = needs;
  const sources = ['feed', 'tasks', ...(orgs.readsLists(name, 'searchIssues') ? (['lists'] as const) : [])] as const;
  const pollers = await Promise.all(
    sources.map(async (source) => {
      const stored = await cursors.read(forge, name, source);
      const advancedAt = stored?.advancedAt ?? null;
      const oldest = source === 'tasks' ? readTaskPosition(stored?.position)?.oldestReadAt : null;
      if (advancedAt)
        metrics.pollAge.set({ org: name, source }, Math.max(0, (clock.now().getTime() - advancedAt.getTime()) / 1000));
      return { source, advancedAt, oldestReadAt: oldest ? new Date(oldest) : null };
    }),
  );
  return {
    name,
    forge,
    revision: await revisionOf(keeper, revisions, name),
    heldBack: keeper.heldBack(name),
    lacking: offers.lacking(name).map(textOf),
    source: await verdicts.of(forge, name),
    stages: await rollouts.list(name),
    pollers,
  };
}

async function revisionOf(
  keeper: StatusNeeds['keeper'],
  revisions: StatusNeeds['revisions'],
  org: string,
): Promise<StatusReport['orgs'][number]['revision']> {
  const kept = await keeper.active(org);
  if (kept) {
    const { hash, rules, policies } = kept.revision;
    return { hash, rules: rules.length, policies: policies.length, loadedAt: kept.loadedAt };
  }
  const stored = await revisions.active(org);
  return stored && { hash: stored.hash, rules: null, policies: null, loadedAt: stored.loadedAt };
}
