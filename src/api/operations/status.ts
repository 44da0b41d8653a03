import { z } from 'zod';
import type { OrgConfig } from '../../config/app-config.js';
import type { GapOutcome } from '../../pipeline/gap-store.port.js';
import { UserError } from '../../core/errors.js';
import type { ControlCaller } from '../../core/operators.js';
import { textOf } from '../../core/reason.js';
import { fields, jsonObject, text } from '../../core/schema.js';
import { seesWholeOrg, type Visibility } from '../../core/visibility.js';
import { VERSION } from '../../platform/version.js';
import { hookReport } from '../../housekeeping/doctor/install-hook.js';
import { taskPosition } from '../../polling/task-poller.js';
import { doctorReport, isFinding, type DoctorReport } from '../../housekeeping/doctor/check.js';
import { showWaiting, shownWaiting } from '../../core/waiting.js';
import { awaitsTasks } from '../../polling/task-pace.js';
import { shadowOrg } from '../../rules/revisions/shadow-org.js';
import { statusReport, type StatusReport } from './answers.js';
import { examineWaiting } from '../../housekeeping/doctor/examine-waiting.js';
import { flag, operation } from './operation.js';
import type { Needs } from './needs.js';

const QUARANTINED_SHOWN = 20;
const HELD_SHOWN = 20;
const WAITING_SHOWN = 200;
const INTENTS_COUNTED = 10_000;

export const statusOperations = {
  status: operation({
    route: 'GET /v1/status',
    summary: 'Processes, active revisions, and what is held back and why',
    scope: 'read',
    command: 'status',
    input: z.object({}),
    answer: statusReport,
    handle: (needs, _input, _caller, visibility) => statusOf(needs, visibility),
  }),
  waiting: operation({
    route: 'GET /v1/waiting',
    summary:
      'What is not decided or not done since something else is in the way: since when, what stands before it, what to do',
    scope: 'read',
    command: 'runs',
    input: z.object({
      org: z.string().optional(),
      run: z.string().optional().describe('Only this run and its effects.'),
      event: z.string().optional().describe('Only this event, and its runs.'),
    }),
    answer: z.array(shownWaiting),
    handle: async ({ waiting, ids, orgs, journal }, { org: typed, run, event }, _caller, visibility) => {
      const org = typed === undefined ? null : orgs.nameOf(typed, visibility);
      const eventId = event === undefined ? undefined : await ids.whole(event, ['event'], visibility);
      const runs = eventId === undefined ? [] : await journal.runs({ eventId, visibility, limit: WAITING_SHOWN });
      const runIds = run === undefined ? runs.map(({ id }) => id) : [await ids.whole(run, ['run'], visibility)];
      const rows = await waiting.waiting({
        ...(run === undefined && eventId === undefined ? {} : { runIds }),
        ...(eventId === undefined ? {} : { eventId }),
        limit: WAITING_SHOWN,
        visibility,
      });
      return rows.filter((one) => org === null || one.org === org).map(showWaiting);
    },
  }),
  organizations: operation({
    route: 'GET /v1/orgs',
    summary: 'Organizations of which the caller may see something',
    scope: 'read',
    command: { none: '`status` lists them, with their rules; pages need the names alone' },
    input: z.object({}),
    answer: z.array(
      z.object({ ...fields('name forge', text), isWhole: z.boolean().describe('All of it may be seen.') }),
    ),
    handle: ({ orgs }, _input, _caller, visibility) =>
      orgs.visible(visibility).map(({ name, forge }) => ({ name, forge, isWhole: seesWholeOrg(visibility, name) })),
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
    summary:
      'What the bot knows about the forge, the token, the webhook and the rules of all organizations, or sees now',
    scope: 'read',
    command: 'doctor',
    input: z.object({
      org: z.string().optional().describe('Look at this one now.'),
      fresh: flag.default(false).describe('Look now. Default: answer from what is known, each line with its age.'),
      operations: flag.default(false).describe('Ask about every operation, not only those that the rules need.'),
    }),
    answer: doctorReport,
    handle: async (
      { orgs, orders, doctor, waiting, config, clock },
      { org: typed, fresh, operations },
      _caller,
      visibility,
    ) => {
      const org = typed === undefined ? orgs.onlyWhole(visibility) : orgs.wholeOf(typed, visibility);
      await orders.connected();
      const report = await doctor.examine({ org, isFresh: fresh || typed !== undefined }, operations);
      const rows = await waiting.waiting({ limit: WAITING_SHOWN, visibility });
      const visibleReport = visibility === null || org === undefined ? report : ofOneOrg(report, org);
      const also = examineWaiting(
        rows.filter((one) => org === undefined || one.org === org),
        (name) => config.orgs.find((one) => one.name === name)?.forge ?? '',
        clock.now(),
      );
      const checks = [...visibleReport.checks, ...also];
      return { ...visibleReport, checks, findings: checks.filter(isFinding).length };
    },
  }),
  acceptOrg: operation({
    route: 'POST /v1/orgs/:org/accept',
    summary: 'Work for the organization that has the name now, which is another one than before',
    scope: 'owner',
    about: ['number'],
    command: 'orgs accept',
    input: z.strictObject({
      org: z.string().min(1),
      number: z
        .string()
        .regex(/^\d{1,19}$/, 'must be the number of an organization')
        .optional()
        .describe(
          'Accept exactly this one. Default: the number that the alert named when the organization was stopped.',
        ),
    }),
    answer: z.object({
      org: text,
      number: text.describe('The number that the forge names now.'),
      before: text.nullable().describe('The number before.'),
    }),
    handle: (needs, input, caller) => acceptOrg(needs, input, caller),
  }),
  installHook: operation({
    route: 'POST /v1/orgs/:org/hook',
    summary: 'Make or repair the webhook of an organization',
    scope: 'operate',
    about: ['hook', 'dryRun', 'allEvents', 'isNew', 'recreate', 'keepFilter', 'withoutAuthorization'],
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
    handle: async ({ orgs, orders, doctor }, { org: typed, ...wish }, caller, visibility) => {
      const org = orgs.wholeOf(typed, visibility);
      if (!wish.dryRun) orders.record('hook install', caller, { org, ...wish });
      await orders.connected();
      return doctor.installHook(org, wish);
    },
  }),
};

/** @throws UserError where the forge was not reached, or there is nothing to accept; ForgeError while it cannot be asked */
async function acceptOrg(
  { orgs, orders, forges, numbers }: Needs,
  { org: typed, number: expectedNumber }: { readonly org: string; readonly number?: string | undefined },
  caller: ControlCaller,
) {
  const org = orgs.nameOf(typed, null);
  const forge = orgs.find(org)?.forge ?? '';
  await orders.connected();
  const server = forges.unguarded(forge, org);
  if (!server?.capabilities)
    throw new UserError('FORGE_AWAY', `forge ${forge} cannot be reached: run forgehand doctor to see why`);
  orders.record('orgs accept', caller, { org, ...(expectedNumber === undefined ? {} : { number: expectedNumber }) });
  const { look, wanted, isAccepted } = await numbers.accept(forge, org, server, expectedNumber);
  const { is, pinned, number, calledNow } = look;
  if (is === 'renamed')
    throw new UserError('ORG_RENAMED', `${org} is called ${calledNow} now: correct orgs[].name in the config`);
  if (is !== 'other' || number === null)
    throw new UserError(
      'NOTHING_TO_ACCEPT',
      is === 'ours'
        ? `${org} is the organization that the bot works for (number ${number}): there is nothing to accept`
        : `the forge does not say which organization is called ${org}: there is nothing to accept`,
    );
  if (!isAccepted)
    throw new UserError(
      'OTHER_NUMBER',
      `nothing is accepted: ${org} is organization number ${number} now, ${wanted === null ? 'and nobody was told of that one yet' : expectedNumber === undefined ? `and it was number ${wanted} when the bot stopped` : `not ${wanted}`}. Look who owns it; if you mean number ${number}: forgehand orgs accept ${org} --number ${number}`,
    );
  orders.nudge();
  return { org, number, before: pinned };
}

/**
 * Without what is about credentials, proxies and other organizations: credentials may serve several, and what they reach is told by the names of
 * all of them.
 */
function ofOneOrg({ checks: all }: DoctorReport, org: string): DoctorReport {
  const checks = all.filter((one) => one.org === org && ORG_CHECKS.has(one.check.split('.', 1)[0] ?? ''));
  return { findings: checks.filter(isFinding).length, checks, forges: [] };
}
const ORG_CHECKS: ReadonlySet<string> = new Set(['org', 'rules', 'rule', 'hook', 'delivery', 'look']);

async function statusOf(needs: Needs, visibility: Visibility) {
  const { config, inbox, journal, running, poisonMessages, orgs } = needs;
  const deployment: StatusReport['deployment'] = config.store.kind === 'embedded' ? 'embedded' : 'distributed';
  // In the order of the flow: what moves on meanwhile is counted twice, never missed.
  const backlog = await inbox.backlog(visibility);
  const intents = await journal.countNewestByState(INTENTS_COUNTED, visibility);
  const quarantined = await poisonMessages.quarantined(QUARANTINED_SHOWN, visibility);
  const visibleOrgs = orgs.visible(visibility);
  const paused = await pausesOver(needs, visibleOrgs, visibility);
  return {
    version: VERSION,
    deployment,
    roles: running ? [running.role] : [],
    startedAt: running?.startedAt ?? null,
    queueHealthy: running ? await running.queueHealthy() : null,
    intents,
    behind: await rulesBehind(needs, intents, visibility),
    backlog,
    quarantined: quarantined.map(({ topic, id, deaths, since }) => ({ topic, id, deaths, since })),
    paused: await Promise.all(
      paused.map(async (pause) => ({ ...pause, waiting: await journal.waitingForPause(pause, visibility) })),
    ),
    held: await journal.heldByBudgets(HELD_SHOWN, visibility),
    waiting: (await needs.waiting.waiting({ limit: WAITING_SHOWN, visibility })).map(showWaiting),
    deliveries: await deliveriesOf(needs, visibleOrgs, visibility),
    gaps: await gapsOf(needs, visibility),
    alerts: await alertsOf(needs, visibility),
    orgs: await Promise.all(
      visibleOrgs.map(({ name, forge }) =>
        seesWholeOrg(visibility, name) ? orgStatus(needs, name, forge) : partOfOrg(needs, name, forge),
      ),
    ),
    forges: forgesOf(needs, visibleOrgs, visibility).map(({ credential, capabilities }) => ({
      id: credential,
      product: capabilities?.product ?? null,
      version: capabilities?.version ?? null,
      self: capabilities?.self?.login ?? null,
      reachable: running ? capabilities !== null : null,
    })),
  };
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const GAPS_COUNTED = 200;

/** By the hooks of the organizations that are wholly visible. */
async function deliveriesOf(
  { recentDeliveries, clock }: Pick<Needs, 'recentDeliveries' | 'clock'>,
  orgs: readonly OrgConfig[],
  visibility: Visibility,
): Promise<StatusReport['deliveries']> {
  const whole = orgs.filter(({ name }) => seesWholeOrg(visibility, name));
  const recent = (await recentDeliveries.read()).filter(({ org }) => whole.some(({ name }) => name === org));
  const hooks = whole.flatMap(({ name, hooks: all }) =>
    all.map(({ id }) => {
      const own = recent.filter(({ org, hook }) => org === name && hook === id);
      const last = own.reduce<Date | null>((latest, one) => (latest && latest > one.last ? latest : one.last), null);
      return { org: name, hook: id, count: sumOf(own), last };
    }),
  );
  const now = clock.now().getTime();
  const hours = Array.from({ length: 24 }, (_, n) => {
    const at = new Date((Math.floor(now / HOUR_MS) - 23 + n) * HOUR_MS);
    return { at, count: sumOf(recent.filter(({ hour }) => hour.getTime() === at.getTime())) };
  });
  return { since: new Date(now - DAY_MS), hooks, hours };
}

function sumOf(rows: ReadonlyArray<{ readonly count: number }>): number {
  return rows.reduce((sum, { count }) => sum + count, 0);
}

async function gapsOf(
  { gaps, clock }: Pick<Needs, 'gaps' | 'clock'>,
  visibility: Visibility,
): Promise<StatusReport['gaps']> {
  const since = new Date(clock.now().getTime() - DAY_MS);
  const recentGaps = (await gaps.gaps({ visibility, limit: GAPS_COUNTED })).filter(({ foundAt }) => foundAt >= since);
  const count = (outcome: GapOutcome): number => recentGaps.filter((gap) => gap.outcome === outcome).length;
  return { since, repaired: count('repaired'), late: count('late'), lost: count('not-representable') };
}

/** To somebody who does not see everything: those that name a wholly visible organization. */
async function alertsOf(
  { openAlerts }: Pick<Needs, 'openAlerts'>,
  visibility: Visibility,
): Promise<StatusReport['alerts']> {
  const all = await openAlerts.all();
  return all
    .filter(({ org }) => visibility === null || (org !== null && seesWholeOrg(visibility, org)))
    .map(({ code, message, at }) => ({ code, message, at }));
}

/** Pauses that hold back something visible: of its organizations, of everything, and of rules that one of them has. */
async function pausesOver(
  { journal, keeper }: Pick<Needs, 'journal' | 'keeper'>,
  orgs: ReadonlyArray<{ readonly name: string }>,
  visibility: Visibility,
) {
  const all = await journal.paused();
  if (visibility === null) return all;
  const active = await Promise.all(orgs.map(({ name }) => keeper.active(name)));
  const rules = new Set(
    active.flatMap((one) => (one ? [...one.revision.rules, ...one.revision.policies].map(({ id }) => id) : [])),
  );
  return all.filter(({ org, rule }) =>
    org === null ? rule === null || rules.has(rule) : orgs.some(({ name }) => name === org),
  );
}

/** Under the credentials that the visible organizations use. */
function forgesOf(
  { forges }: Pick<Needs, 'forges'>,
  orgs: ReadonlyArray<{ readonly name: string; readonly forge: string }>,
  visibility: Visibility,
) {
  if (visibility === null) return forges.list();
  const used = orgs.map(({ name, forge }) => forges.get(forge, name)?.credential);
  return forges.list().filter(({ credential }) => used.includes(credential));
}

/** States in which an intent waits for somebody, or ended without its effect. */
const LOOKED_AT = ['unknown', 'waiting', 'dead', 'refused', 'conflict'] as const;
const COUNTED = 100;

async function rulesBehind(
  { journal, keeper }: Pick<Needs, 'journal' | 'keeper'>,
  counts: StatusReport['intents'],
  visibility: Visibility,
): Promise<StatusReport['behind']> {
  const behind = new Map<string, StatusReport['behind'][number]>();
  for (const state of LOOKED_AT) {
    const intents = counts[state] > 0 ? await journal.intentsInState(state, COUNTED, visibility) : [];
    for (const { org, rule } of intents) {
      const key = JSON.stringify([state, org, rule]);
      const earlier = behind.get(key);
      const byCommand = earlier?.byCommand ?? (await takesCommands(keeper, org, rule));
      behind.set(key, { state, org, rule, count: (earlier?.count ?? 0) + 1, byCommand });
    }
  }
  return [...behind.values()];
}

async function takesCommands(keeper: Needs['keeper'], org: string, rule: string): Promise<boolean> {
  const active = await keeper.active(org);
  return active?.revision.rules.some(({ id, program }) => id === rule && !!program.where.command) ?? false;
}

async function orgStatus(needs: Needs, name: string, forge: string) {
  const { keeper, revisions, offers, verdicts, rollouts, cursors, orgs } = needs;
  const [active, shadow] = [await keeper.active(name), await keeper.active(shadowOrg(name))];
  const isQuiet = !awaitsTasks(active, shadow);
  const pollers = await Promise.all(
    orgs.sourcesOf(name).map(async (source) => {
      const stored = await cursors.read(forge, name, source);
      const advancedAt = stored?.advancedAt ?? null;
      const oldest = source === 'tasks' && stored ? taskPosition.safeParse(stored.position).data?.oldestReadAt : null;
      const oldestReadAt = oldest ? new Date(oldest) : null;
      return { source, advancedAt, oldestReadAt, isQuiet: source === 'tasks' && isQuiet };
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

/** To whoever sees some of its repositories: which rules are active. How many, where they lie and how they do is for its owners. */
async function partOfOrg({ keeper, revisions }: Needs, name: string, forge: string) {
  const revision = await revisionOf(keeper, revisions, name);
  return {
    name,
    forge,
    revision: revision && { ...revision, rules: null, policies: null },
    heldBack: [],
    lacking: [],
    source: null,
    stages: [],
    pollers: [],
  };
}

async function revisionOf(
  keeper: Needs['keeper'],
  revisions: Needs['revisions'],
  org: string,
): Promise<StatusReport['orgs'][number]['revision']> {
  const active = await keeper.active(org);
  if (active) {
    const { hash, rules, policies } = active.revision;
    return { id: active.id, hash, rules: rules.length, policies: policies.length, loadedAt: active.loadedAt };
  }
  const stored = await revisions.active(org);
  return stored && { id: stored.id, hash: stored.hash, rules: null, policies: null, loadedAt: stored.loadedAt };
}
