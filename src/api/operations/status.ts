import { z } from 'zod';
import { UserError } from '../../core/errors.js';
import type { ControlCaller } from '../../core/operators.js';
import { fields, jsonObject, text } from '../../core/schema.js';
import { seesWholeOrg } from '../../core/visibility.js';
import { hookReport } from '../../housekeeping/doctor/install-hook.js';
import { isFinding, type DoctorReport } from '../../housekeeping/doctor/check.js';
import { showWaiting, shownWaiting } from '../../core/waiting.js';
import { doctorPage, longCall, statusReport } from './answers.js';
import { tellCall } from './tell-call.js';
import { makePage, paging } from './page-of.js';
import { statusOf } from './status-report.js';
import { examineWaiting } from '../../housekeeping/doctor/examine-waiting.js';
import { flag, operation } from './operation.js';
import type { Needs } from './needs.js';

const WAITING_SHOWN = 200;

export const statusOperations = {
  status: operation({
    route: 'GET /v1/status',
    summary: 'What needs attention, processes, and the organizations with their revisions and polls',
    scope: 'read',
    command: 'status',
    input: z.object({ org: z.string().optional().describe('Only this organization.'), ...paging }),
    answer: statusReport,
    handle: statusOf,
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
      const org = typed === undefined ? null : orgs.keyOf(typed, visibility);
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
      orgs
        .visible(visibility)
        .map(({ key, label, forge }) => ({ name: label, forge, isWhole: seesWholeOrg(visibility, key) })),
  }),
  longCall: operation({
    route: 'GET /v1/calls/:id',
    summary: 'A call of this caller that was answered with its id since it takes long: how far it is, or its answer',
    scope: 'read',
    command: { none: 'commands wait for the answer of what they asked for by it' },
    input: z.object({
      id: z.string().min(1).max(64),
      waitMs: z.coerce
        .number<number>()
        .int()
        .min(0)
        .max(10_000)
        .default(0)
        .describe('Wait for its end, so long at most.'),
    }),
    answer: longCall,
    handle: async ({ longCalls }, { id, waitMs }, caller) => tellCall(await longCalls.look(caller, id, waitMs)),
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
      'What the bot knows about the forge, the token, the webhook and the rules of all organizations, or sees now; findings first',
    scope: 'read',
    takesLong: true,
    command: 'doctor',
    input: z.object({
      org: z.string().optional().describe('Look at this one now.'),
      fresh: flag.default(false).describe('Look now. Default: answer from what is known, each line with its age.'),
      operations: flag.default(false).describe('Ask about every operation, not only those that the rules need.'),
      ...paging,
    }),
    answer: doctorPage,
    handle: async (
      { orgs, orders, doctor, waiting, clock },
      { org: typed, fresh, operations, ...query },
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
        (key) => orgs.of(key)?.forge ?? '',
        clock.now(),
      );
      const checks = [...visibleReport.checks, ...also];
      const page = await makePage(
        {
          items: checks.map((one, n) => ({ one, n })),
          namesOf: ({ one }) => [one.org ?? one.forge, one.check],
          // In the order in which the doctor looks.
          orderOf: ({ n }) => String(n).padStart(8, '0'),
          needsAttention: ({ one }) => isFinding(one),
          rowsOf: (items) => items.map(({ one }) => one),
        },
        query,
      );
      const onPage = new Set(page.rows.map(({ forge }) => forge));
      return {
        ...page,
        findings: checks.filter(isFinding).length,
        forges: visibleReport.forges.filter(({ id }) => onPage.has(id)),
      };
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
  const org = orgs.keyOf(typed, null);
  const forge = orgs.of(org)?.forge ?? '';
  await orders.connected();
  const server = forges.unguarded(forge, org);
  if (!server?.capabilities)
    throw new UserError('FORGE_AWAY', `forge ${forge} cannot be reached: run forgehand doctor to see why`);
  orders.record('orgs accept', caller, { org, ...(expectedNumber === undefined ? {} : { number: expectedNumber }) });
  const { look, wanted, isAccepted } = await numbers.accept(forge, org, server, expectedNumber);
  const { is, pinned, number, calledNow } = look;
  const { label, name } = orgs.of(org) ?? { label: typed, name: typed };
  if (is === 'renamed')
    throw new UserError('ORG_RENAMED', `${label} is called ${calledNow} now: correct orgs[].name in the config`);
  if (is !== 'other' || number === null)
    throw new UserError(
      'NOTHING_TO_ACCEPT',
      is === 'ours'
        ? `${label} is the organization that the bot works for (number ${number}): there is nothing to accept`
        : `the forge does not say which organization is called ${name}: there is nothing to accept`,
    );
  if (!isAccepted)
    throw new UserError(
      'OTHER_NUMBER',
      `nothing is accepted: ${label} is organization number ${number} now, ${wanted === null ? 'and nobody was told of that one yet' : expectedNumber === undefined ? `and it was number ${wanted} when the bot stopped` : `not ${wanted}`}. Look who owns it; if you mean number ${number}: forgehand orgs accept ${label} --number ${number}`,
    );
  orders.nudge();
  // By now the name may be that of another key.
  return { org: orgs.find(typed)?.key ?? org, number, before: pinned };
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
