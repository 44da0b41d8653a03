import { z } from 'zod';
import { UserError } from '../../core/errors.js';
import { seesWholeOrg, type Visibility } from '../../core/visibility.js';
import { turnedAwayBy } from '../../insight/rule-counts.js';
import { sourceOf } from '../../insight/source-text.js';
import { stagedOf } from '../../rules/revisions/rule-stages.port.js';
import { rolloutRow } from '../../pipeline/rollout-store.port.js';
import { pauseOf } from '../../pipeline/journal-store.port.js';
import type { CompiledPolicy, CompiledRule } from '../../rules/language/revision.js';
import { ruleReport, rulesPage, type RulesPage } from './answers.js';
import { needEverything } from './admission.js';
import { operation, reasoned } from './operation.js';
import { makePage, paging } from './page-of.js';
import { activeRules, summariesOf, unmetOf } from './rule-summaries.js';
import { rulesBehind } from './rules-behind.js';
import { checkRule } from './shared.js';
import type { Needs } from './needs.js';

const paused = z.strictObject({ org: z.string().optional(), rule: z.string().optional() });

const REFUSED_SHOWN = 10;
const PROBLEMS_SHOWN = 10;

const ONE_ORG = ': name one organization';

export const ruleOperations = {
  rules: operation({
    route: 'GET /v1/rules',
    summary:
      'Rules and policies, those that need attention first: mode, triggers, counts of 30 days, what holds them back',
    scope: 'read',
    command: 'rules',
    input: z.object({ org: z.string().optional(), ...paging }),
    answer: rulesPage,
    handle: async (needs, { org, ...query }, _caller, visibility) => {
      const names = needs.orgs.keysOf(org, visibility);
      const [items, pauses, behind] = await Promise.all([
        activeRules(needs, names),
        needs.journal.paused(),
        rulesBehind(needs, visibility),
      ]);
      const isBehind = new Set(behind.map(({ org: of, rule }) => `${of}/${rule}`));
      const page = await makePage(
        {
          items,
          namesOf: ({ org: of, compiled }) => [of, compiled.id],
          needsAttention: (rule) =>
            unmetOf(needs, rule, visibility) !== null ||
            isBehind.has(`${rule.org}/${rule.compiled.id}`) ||
            pauseOf(pauses, { org: rule.org, rule: rule.compiled.id }) !== undefined,
          rowsOf: async (rules) => (await summariesOf(needs, rules, pauses, visibility)).map(({ summary }) => summary),
        },
        query,
      );
      return { ...page, refused: refusedIn(needs, names, visibility) };
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
      const org = needs.orgs.keyOf(typed, visibility);
      await checkRule(needs, id, org, visibility);
      const active = await needs.keeper.active(org);
      const rules = (await activeRules(needs, [org])).filter(({ compiled }) => compiled.id === id);
      const [entry] = await summariesOf(needs, rules, await needs.journal.paused(), visibility);
      const [rule] = rules;
      if (!active || !entry || !rule)
        throw new UserError('NO_SUCH_RULE', `the active revision of ${org} has no rule or policy ${id}`);
      const isWhole = seesWholeOrg(visibility, org);
      const stored = isWhole ? await needs.revisions.byId(active.id) : null;
      const turnedAway = turnedAwayBy(entry.counts);
      const { conditions, actions } = partsOf(rule.compiled);
      return {
        ...entry.summary,
        revision: { id: active.id, loadedAt: active.loadedAt, ...(stored?.origin ? { origin: stored.origin } : {}) },
        source: sourceOf(stored?.files ?? null, rule.compiled.position),
        conditions: conditions.map(({ name, expression, position }) => ({
          name,
          text: expression.compiled.source,
          line: position.line,
          turnedAway: turnedAway.get(name) ?? 0,
        })),
        actions,
        operations: [...rule.compiled.operations],
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
      const org = orgs.wholeOf(named ?? first?.label ?? '', visibility);
      orders.record('promote', caller, { org, rule: id, to, force, ...why });
      await checkRule(needs, id, org, visibility);
      const rule = (await keeper.active(org))?.revision.rules.find((one) => one.id === id);
      if (!rule) throw new UserError('NO_SUCH_RULE', `the active revision of ${org} has no rule ${id}`);
      const minDecisions = orgs.of(org)?.promotion.minDecisions ?? 0;
      return rollout.promote(org, stagedOf(rule), to, caller.name, { force, minDecisions });
    },
  }),
};

/** Organizations whose newer rules were not taken, as far as a page has room for them; `status` names all. */
function refusedIn({ keeper }: Needs, names: readonly string[], visibility: Visibility): RulesPage['refused'] {
  return names
    .filter((org) => seesWholeOrg(visibility, org) && keeper.heldBack(org).length > 0)
    .slice(0, REFUSED_SHOWN)
    .map((org) => ({ org, problems: keeper.heldBack(org).slice(0, PROBLEMS_SHOWN) }));
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
