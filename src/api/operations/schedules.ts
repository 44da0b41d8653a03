import { z } from 'zod';
import { callingAs } from '../../core/caller.js';
import { UserError } from '../../core/errors.js';
import { nextOccurrence, scheduleKey } from '../../core/occurrences.js';
import { textOf } from '../../core/reason.js';
import { texts } from '../../core/schema.js';
import { seesWholeOrg } from '../../core/visibility.js';
import {
  isHeldUp,
  scheduleStatus,
  scheduleStatusOf,
  waitsFor,
  type ScheduleFacts,
} from '../../housekeeping/schedule-status.js';
import { pauseOf } from '../../pipeline/journal-store.port.js';
import { rehearsedRun } from './answers.js';
import { operation, reasoned } from './operation.js';
import { makePage, pageOf, paging } from './page-of.js';
import { checkRule } from './shared.js';

/** Of one schedule: those of its last occurrence are among them, unless it looks at more repositories. */
const RUNS_LOOKED_AT = 500;

export const scheduleOperations = {
  schedules: operation({
    route: 'GET /v1/schedules',
    summary:
      'Schedules of rules and policies, those that need attention first: last run, next run, and why one did not run',
    scope: 'read',
    command: 'schedules',
    input: z.object({
      org: z.string().optional(),
      rule: z.string().optional().describe('Id of a rule or policy.'),
      ...paging,
    }),
    answer: pageOf(scheduleStatus),
    handle: async (needs, { org: typed, rule, ...query }, _caller, visibility) => {
      const { orgs, journal, plans, keeper, offers, scheduler, clock } = needs;
      const org = typed === undefined ? undefined : orgs.wholeOf(typed, visibility);
      if (rule !== undefined) await checkRule(needs, rule, org, visibility);
      // A schedule is one of all of its organization.
      const schedules = await scheduler.list(org ?? null, (name) => seesWholeOrg(visibility, name));
      const listed = schedules.filter(({ id }) => rule === undefined || id === rule);
      if (rule !== undefined && listed.length === 0)
        throw new UserError(
          'NO_SCHEDULE',
          `${rule} has no schedule: events start it, see forgehand runs --all --rule ${rule}`,
        );
      const pauses = await journal.paused();
      const contextOf = ({ org: of, id }: ScheduleFacts) => {
        const unmet = offers.heldRules(of).find((one) => one.id === id);
        return {
          pausedBy: pauseOf(pauses, { org: of, rule: id })?.by ?? null,
          unmet: unmet ? textOf(unmet.reason) : null,
          isOld: keeper.heldBack(of).length > 0,
        };
      };
      return makePage(
        {
          items: listed,
          namesOf: ({ org: of, id }) => [of, id],
          needsAttention: (facts) => isHeldUp(facts, contextOf(facts)),
          rowsOf: async (facts) => {
            const passes = await journal.newestPasses(
              facts.map(({ org: of, id }) => ({ org: of, rule: id })),
              RUNS_LOOKED_AT,
            );
            const waitedFor = [...new Set(passes.flatMap((pass) => waitsFor(pass) ?? []))];
            const openPlans = waitedFor.length === 0 ? [] : await plans.beginningWith(waitedFor, visibility);
            return facts.map((one, n) => {
              const pass = passes[n] ?? [];
              const plan = waitsFor(pass);
              const key = scheduleKey(one.forge, one.org, one.id);
              return scheduleStatusOf(one, {
                ...contextOf(one),
                pass,
                next: nextOccurrence(one, key, clock.now())?.fireAt ?? null,
                plan: (plan !== null && openPlans.find(({ hash }) => hash.startsWith(plan))) || null,
              });
            });
          },
        },
        query,
      );
    },
  }),
  runSchedule: operation({
    route: 'POST /v1/orgs/:org/schedules/:schedule/run',
    summary: 'Fire a schedule (rule or policy id) once, now; or show what it would do',
    scope: 'operate',
    takesLong: true,
    about: ['schedule', 'dryRun'],
    command: 'housekeeping run',
    input: z.object({ org: z.string(), schedule: z.string(), dryRun: z.boolean().default(false), ...reasoned }),
    answer: z.object({
      tickId: z.string().describe('Empty of a dry run, which leaves no tick.'),
      runs: z.number().describe('Without those that ended with an error.'),
      undecided: texts.describe('What could not be decided, with the reason.'),
      rehearsed: z.array(rehearsedRun).exactOptional().describe('Of a dry run: what each run would want.'),
    }),
    handle: async (needs, { org: typed, schedule, dryRun, ...why }, caller, visibility) => {
      const { orgs, orders, scheduler, due } = needs;
      const org = orgs.wholeOf(typed, visibility);
      orders.record('run-schedule', caller, { org, schedule, ...(dryRun ? { dryRun } : {}), ...why });
      await checkRule(needs, schedule, org, visibility);
      await orders.connected();
      return callingAs({ priority: 'housekeeping', org }, async () => {
        if (!dryRun) return scheduler.runNow(org, schedule);
        const rehearsed = await due.rehearseTick(await scheduler.tickNow(org, schedule));
        const errors = rehearsed.filter(({ state }) => state === 'error');
        const undecided = errors.map(({ repo, reason }) => `${repo ?? org}: ${reason}`);
        return { tickId: '', runs: rehearsed.length - errors.length, undecided, rehearsed };
      });
    },
  }),
};
