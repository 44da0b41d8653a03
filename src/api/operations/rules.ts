import { z } from 'zod';
import { UserError } from '../../core/errors.js';
import { stagedOf } from '../../pipeline/decide/rollout.js';
import { rolloutRow } from '../../pipeline/rollout-store.port.js';
import { needEverything } from './admission.js';
import { operationOf } from './operation.js';
import { checkRule } from './shared.js';

const operation = operationOf('orgs', 'orders', 'journal', 'keeper', 'rollout', 'clock');
const paused = z.strictObject({ org: z.string().optional(), rule: z.string().optional() });

const ONE_ORG = ': name one organization';

export const ruleOperations = {
  pause: operation({
    route: 'POST /v1/pause',
    summary: 'Hold back every effect, or those of an organization or a rule',
    scope: 'operate',
    command: 'pause',
    input: paused.extend({ reason: z.string().trim().min(1).max(500).optional().describe('Why; `status` shows it.') }),
    answer: z.object({ paused: z.boolean() }),
    handle: async (needs, { reason, ...scope }, caller, sight) => {
      const { orgs, orders, journal, clock } = needs;
      if (!scope.org) needEverything(sight, ONE_ORG);
      if (scope.rule) await checkRule(needs, scope.rule, scope.org, sight);
      orders.record('pause', caller, reason === undefined ? scope : { ...scope, reason });
      const org = scope.org ? orgs.wholeOf(scope.org, sight) : null;
      await journal.pause({
        org,
        rule: scope.rule ?? null,
        by: caller.name,
        at: clock.now(),
        ...(reason === undefined ? {} : { reason }),
      });
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
    handle: async ({ orgs, orders, journal }, scope, caller, sight) => {
      if (!scope.org) needEverything(sight, ONE_ORG);
      orders.record('resume', caller, scope);
      const org = scope.org ? orgs.wholeOf(scope.org, sight) : null;
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
    handle: async (needs, { org: named, rule: id, to, force }, caller, sight) => {
      const { orgs, orders, keeper, rollout } = needs;
      const [first, second] = orgs.visible(sight);
      if (named === undefined && second)
        throw new UserError('WHICH_ORG', 'several organizations are in the config: pass --org');
      const org = orgs.wholeOf(named ?? first?.name ?? '', sight);
      orders.record('promote', caller, { org, rule: id, to, force });
      await checkRule(needs, id, org, sight);
      const rule = (await keeper.active(org))?.revision.rules.find((one) => one.id === id);
      if (!rule) throw new UserError('NO_SUCH_RULE', `the active revision of ${org} has no rule ${id}`);
      const minDecisions = orgs.find(org)?.promotion.minDecisions ?? 0;
      return rollout.promote(org, stagedOf(rule), to, caller.name, { force, minDecisions });
    },
  }),
};
