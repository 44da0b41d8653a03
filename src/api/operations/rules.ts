import { z } from 'zod';
import { UserError } from '../../core/errors.js';
import { nextOccurrence, scheduleKey } from '../../core/occurrences.js';
import { textOf } from '../../core/reason.js';
import { seesWholeOrg, type Visibility } from '../../core/visibility.js';
import { countsOfRule, turnedAwayBy } from '../../insight/rule-counts.js';
import { sourceOf } from '../../insight/source-text.js';
import { stagedOf } from '../../rules/revisions/rule-stages.port.js';
import { rolloutRow, type RolloutRow } from '../../pipeline/rollout-store.port.js';
import { pauseOf } from '../../pipeline/journal-store.port.js';
import type { CompiledPolicy, CompiledRule } from '../../rules/language/revision.js';
import { ruleReport, ruleSummary, type RuleSummary } from './answers.js';
import { needEverything } from './admission.js';
import { operation, reasoned } from './operation.js';
import { checkRule } from './shared.js';
import type { Needs } from './needs.js';

const paused = z.strictObject({ org: z.string().optional(), rule: z.string().optional() });

const ONE_ORG = ': name one organization';

export const ruleOperations = {
  rules: operation({
    route: 'GET /v1/rules',
    summary: 'Rules and policies in the order of their files: mode, triggers, counts of 30 days, what holds them back',
    scope: 'read',
    command: 'rules',
    input: z.object({ org: z.string().optional() }),
    answer: z.array(ruleSummary),
    handle: async (needs, { org }, _caller, visibility) => {
      const names = needs.orgs.namesOf(org, visibility);
      const summaries = await Promise.all(names.map((name) => summariesOf(needs, name, visibility)));
      return summaries.flatMap(({ rules }) => rules.map(({ summary }) => summary));
    },
  }),
  rule: operation({
    route: 'GET /v1/orgs/:org/rules/:rule',
    summary: 'One rule or policy: its text, its conditions and how often each rejected an event',
    scope: 'read',
    command: 'rules',
    input: z.object({ org: z.string().min(1), rule: z.string().min(1) }),
    answer: ruleReport,
    handle: async (needs, { org: typed, rule: id }, _caller, visibility) => {
      const org = needs.orgs.nameOf(typed, visibility);
      await checkRule(needs, id, org, visibility);
      const { active, counts, rules } = await summariesOf(needs, org, visibility);
      const entry = rules.find(({ summary }) => summary.id === id);
      if (!active || !entry)
        throw new UserError('NO_SUCH_RULE', `the active revision of ${org} has no rule or policy ${id}`);
      const isWhole = seesWholeOrg(visibility, org);
      const stored = isWhole ? await needs.revisions.byId(active.id) : null;
      const turnedAway = turnedAwayBy(id, counts);
      const { conditions, actions } = partsOf(entry.compiled);
      return {
        ...entry.summary,
        revision: { id: active.id, loadedAt: active.loadedAt, ...(stored?.origin ? { origin: stored.origin } : {}) },
        source: sourceOf(stored?.files ?? null, entry.compiled.position),
        conditions: conditions.map(({ name, expression, position }) => ({
          name,
          text: expression.compiled.source,
          line: position.line,
          turnedAway: turnedAway.get(name) ?? 0,
        })),
        actions,
        operations: [...entry.compiled.operations],
      };
    },
  }),
  pause: operation({
    route: 'POST /v1/pause',
    summary: 'Hold back every effect, or those of an organization or a rule',
    scope: 'operate',
    about: ['rule'],
    command: 'pause',
    input: paused.extend({ reason: reasoned.reason.describe('Why; `status` shows it.') }),
    answer: z.object({ paused: z.boolean() }),
    handle: async (needs, input, caller, visibility) => {
      const { orgs, orders, journal, clock } = needs;
      const { reason, ...scope } = input;
      if (!scope.org) needEverything(visibility, ONE_ORG);
      if (scope.rule) await checkRule(needs, scope.rule, scope.org, visibility);
      orders.record('pause', caller, input);
      const org = scope.org ? orgs.wholeOf(scope.org, visibility) : null;
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
    about: ['rule'],
    command: 'resume',
    input: paused.extend(reasoned),
    answer: z.object({ resumed: z.boolean().describe('False when there was no such pause.') }),
    handle: async ({ orgs, orders, journal }, scope, caller, visibility) => {
      if (!scope.org) needEverything(visibility, ONE_ORG);
      orders.record('resume', caller, scope);
      const org = scope.org ? orgs.wholeOf(scope.org, visibility) : null;
      const resumed = await journal.resume(org, scope.rule ?? null, caller.name);
      orders.nudge();
      return { resumed };
    },
  }),
  promote: operation({
    route: 'POST /v1/promote',
    summary: 'Let a rule that is in shadow or canary do more, on the evidence of its decisions',
    scope: 'operate',
    about: ['rule', 'to', 'force'],
    command: 'promote',
    input: z.strictObject({
      org: z.string().optional().describe('May be left out where the config has one alone.'),
      rule: z.string().min(1),
      to: z
        .union([z.literal('live'), z.number().positive().max(100)])
        .describe('Percent of the repositories, or all of them.'),
      force: z.boolean().default(false).describe('In spite of too few decisions, or of errors; recorded.'),
      ...reasoned,
    }),
    answer: rolloutRow,
    handle: async (needs, { org: named, rule: id, to, force, ...why }, caller, visibility) => {
      const { orgs, orders, keeper, rollout } = needs;
      const [first, second] = orgs.visible(visibility);
      if (named === undefined && second)
        throw new UserError('WHICH_ORG', 'several organizations are in the config: pass --org');
      const org = orgs.wholeOf(named ?? first?.name ?? '', visibility);
      orders.record('promote', caller, { org, rule: id, to, force, ...why });
      await checkRule(needs, id, org, visibility);
      const rule = (await keeper.active(org))?.revision.rules.find((one) => one.id === id);
      if (!rule) throw new UserError('NO_SUCH_RULE', `the active revision of ${org} has no rule ${id}`);
      const minDecisions = orgs.find(org)?.promotion.minDecisions ?? 0;
      return rollout.promote(org, stagedOf(rule), to, caller.name, { force, minDecisions });
    },
  }),
};

/** The rules of an organization, each with what it did and what holds it back, as far as the caller may know. */
async function summariesOf(needs: Needs, org: string, visibility: Visibility) {
  const { orgs, keeper, journal, offers, rollouts, ruleCounter, clock } = needs;
  const isWhole = seesWholeOrg(visibility, org);
  const active = await keeper.active(org);
  const { since, counts } = await ruleCounter.count(org, visibility);
  const pauses = await journal.paused();
  const stages = isWhole ? await rollouts.list(org) : [];
  const unmet = isWhole ? offers.held(org) : [];
  const forge = orgs.find(org)?.forge ?? '';
  const summarize = (kind: RuleSummary['kind'], compiled: CompiledRule | CompiledPolicy): RuleSummary => {
    const { id, mode, position, schedule } = compiled;
    const next = schedule && nextOccurrence(schedule, scheduleKey(forge, org, id), clock.now());
    const pause = pauseOf(pauses, { org, rule: id });
    const requirement = unmet.find((one) => one.id === id);
    return {
      org,
      id,
      kind,
      place: position,
      mode,
      canary: 'canary' in compiled ? compiled.canary : null,
      disabled: 'disabled' in compiled ? compiled.disabled : null,
      on: 'on' in compiled ? [...compiled.on] : [],
      schedule: schedule && { cron: schedule.cron, tz: schedule.tz, next: next?.fireAt ?? null },
      stage: stages.find((stage) => isStageOf(stage, compiled)) ?? null,
      pause: pause ? { ...pause, reason: pause.reason ?? null } : null,
      unmet: requirement ? textOf(requirement.reason) : null,
      counts: countsOfRule(id, since, counts),
    };
  };
  const { rules = [], policies = [] } = active?.revision ?? {};
  const all = [...rules.map((one) => ['rule', one] as const), ...policies.map((one) => ['policy', one] as const)];
  return { active, counts, rules: all.map(([kind, compiled]) => ({ compiled, summary: summarize(kind, compiled) })) };
}

/** Stages of earlier texts of a rule count no more. */
function isStageOf({ rule, ruleHash }: RolloutRow, { id, textHash }: Pick<CompiledRule, 'id' | 'textHash'>): boolean {
  return rule === id && ruleHash === textHash;
}

function partsOf(compiled: CompiledRule | CompiledPolicy) {
  const { program } = compiled;
  if ('steps' in program)
    return { conditions: program.conditions, actions: [...new Set(program.steps.map(({ action }) => action.name))] };
  const actions = [
    ...program.parts.map(({ action }) => action.name),
    ...program.fixes.map(({ step }) => step.action.name),
  ];
  return { conditions: program.expectations, actions: [...new Set(actions)] };
}
