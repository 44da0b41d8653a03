import { z } from 'zod';
import { callingAs } from '../../core/caller.js';
import { didYouMean } from '../../core/did-you-mean.js';
import { UserError } from '../../core/errors.js';
import { stagedOf } from '../../pipeline/decide/rollout.js';
import { rolloutRow } from '../../pipeline/rollout-store.port.js';
import type { Needs } from './needs.js';
import { operationOf } from './operation.js';

const operation = operationOf('config', 'orgs', 'orders', 'journal', 'keeper', 'rollout', 'scheduler', 'clock');
const paused = z.strictObject({ org: z.string().optional(), rule: z.string().optional() });

export const ruleOperations = {
  pause: operation({
    route: 'POST /v1/pause',
    summary: 'Hold back every effect, or those of an organization or a rule',
    scope: 'operate',
    command: 'pause',
    input: paused,
    answer: z.object({ paused: z.boolean() }),
    handle: async (needs, scope, caller) => {
      const { orgs, orders, journal, clock } = needs;
      if (scope.rule) await checkRule(needs, scope.rule, scope.org);
      orders.record('pause', caller, scope);
      const org = scope.org ? orgs.nameOf(scope.org) : null;
      await journal.pause({ org, rule: scope.rule ?? null, by: caller.name, at: clock.now() });
      return { paused: true };
    },
  }),
  resume: operation({
    route: 'POST /v1/resume',
    summary: 'End a pause; what was planned meanwhile is done',
    scope: 'operate',
    command: 'resume',
    input: paused,
    answer: z.object({ resumed: z.boolean().describe('False when there was no such pause.') }),
    handle: async ({ orgs, orders, journal }, scope, caller) => {
      orders.record('resume', caller, scope);
      const org = scope.org ? orgs.nameOf(scope.org) : null;
      const resumed = await journal.resume(org, scope.rule ?? null, caller.name);
      orders.nudge();
      return { resumed };
    },
  }),
  promote: operation({
    route: 'POST /v1/promote',
    summary: 'Let a rule that is in shadow or canary do more, on the evidence of its decisions',
    scope: 'operate',
    command: 'promote',
    input: z.strictObject({
      org: z.string().optional().describe('May be left out where the config has one alone.'),
      rule: z.string().min(1),
      to: z
        .union([z.literal('live'), z.number().positive().max(100)])
        .describe('Percent of the repositories, or all of them.'),
      force: z.boolean().default(false).describe('In spite of too few decisions, or of errors; recorded.'),
    }),
    answer: rolloutRow,
    handle: async ({ config, orgs, orders, keeper, rollout }, { org: named, rule: id, to, force }, caller) => {
      const [first, second] = config.orgs;
      if (named === undefined && second)
        throw new UserError('WHICH_ORG', 'several organizations are in the config: pass --org');
      const org = orgs.nameOf(named ?? first?.name ?? '');
      orders.record('promote', caller, { org, rule: id, to, force });
      const rule = (await keeper.active(org))?.revision.rules.find((one) => one.id === id);
      if (!rule) throw new UserError('NO_SUCH_RULE', `the active revision of ${org} has no rule ${id}`);
      const minDecisions = config.orgs.find(({ name }) => name === org)?.promotion.minDecisions ?? 0;
      return rollout.promote(org, stagedOf(rule), to, caller.name, { force, minDecisions });
    },
  }),
  runSchedule: operation({
    route: 'POST /v1/orgs/:org/schedules/:schedule/run',
    summary: 'Fire a schedule (rule or policy id) once, now',
    scope: 'operate',
    command: 'housekeeping run',
    input: z.object({ org: z.string(), schedule: z.string() }),
    answer: z.object({ tickId: z.string(), runs: z.number() }),
    handle: async ({ orgs, orders, scheduler }, { org: typed, schedule }, caller) => {
      const org = orgs.nameOf(typed);
      orders.record('run-schedule', caller, { org, schedule });
      await orders.connected();
      return callingAs({ lane: 'housekeeping', org }, () => scheduler.runNow(org, schedule));
    },
  }),
};

/** A pause of a rule that nobody has would be taken for one that holds. Rules of earlier revisions may still have work waiting. */
async function checkRule(
  { config, orgs, keeper, journal }: Pick<Needs, 'config' | 'orgs' | 'keeper' | 'journal'>,
  rule: string,
  org: string | undefined,
): Promise<void> {
  const names = org ? [orgs.nameOf(org)] : config.orgs.map(({ name }) => name);
  const active = await Promise.all(names.map((name) => keeper.active(name)));
  const known = active.flatMap((kept) => (kept ? [...kept.revision.rules, ...kept.revision.policies] : []));
  if (active.includes(null) || known.some(({ id }) => id === rule)) return;
  const earlier = await Promise.all(names.map((name) => journal.runs({ org: name, rule, limit: 1 })));
  if (earlier.flat().length > 0) return;
  const meant = didYouMean(
    rule,
    known.map(({ id }) => id),
  );
  throw new UserError(
    'NO_SUCH_RULE',
    `there is no rule or policy ${rule} in ${names.join(', ')}${meant ? ` (did you mean ${meant}?)` : ''}`,
  );
}
