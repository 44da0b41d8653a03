import { type UnmetCode, isUnmet } from '../../rules/requirements/unmet-requirements.js';
import { type CheckResult, note, ok, problem, warning } from './check.js';
import { saw } from './looks.js';
import type { RuleVerdict } from '../../rules/sources/rule-repository.port.js';
import type { Reason } from '../../core/reason.js';
import { type HookProduct, hookEventsOf, neededEvents } from '../../rules/language/hook-events.js';
import type { OrgLook } from '../../forge/org-numbers.js';
import { shortRevision } from '../../core/ids.js';
import type { EventKind } from '../../core/event-kinds.js';
import { CapabilityCheck } from '../../rules/requirements/capability-check.js';
import { isGiven, type ParamProgram, type PolicyPart, type StepProgram } from '../../rules/language/compile/program.js';
import { sourcesOf } from '../../rules/language/load/revision-sources.js';
import type { Revision } from '../../rules/language/revision.js';
import type { ActiveRevision } from '../../rules/revisions/active-revisions.port.js';
/** What the organization of this name is now. Pure. */
export function examineIdentity(org: string, { is, number, pinned, calledNow }: OrgLook): CheckResult {
  switch (is) {
    case 'ours':
      return ok(saw('org.number.ours', { org, number }));
    case 'untold':
      return note(saw('org.number.untold', { org }));
    case 'renamed':
      return problem(saw('org.number.renamed', { org, calledNow }), nameInConfig(calledNow));
    case 'other':
      return problem(
        saw('org.number.other', { org, number, pinned, calledNow }),
        ...(calledNow === null ? [] : [`if you mean number ${pinned}: ${nameInConfig(calledNow)}`]),
        `if you mean number ${number}: type forgehand orgs accept ${org} --number ${number}. It then sees what the bot knows of the other one`,
      );
    case 'known':
      return problem(saw('org.number.known', { org, number, calledNow }), 'take one of the two organizations away');
  }
}

function nameInConfig(name: string | null): string {
  return `write orgs[].name: ${name} in the config of the bot, and type forgehand reload`;
}

interface RuleFacts {
  readonly active: ActiveRevision | null;
  /** The last verdict about the organization's rules repository; null = the rules are in a folder, or nothing was read yet. */
  readonly verdict: Pick<RuleVerdict, 'state' | 'code' | 'problems'> | null;
  /** Problems of rule files that are newer than the active revision. */
  readonly heldBack: readonly string[];
  readonly heldRules: ReturnType<CapabilityCheck['heldRules']>;
  readonly lacking: ReturnType<CapabilityCheck['lacking']>;
}

/** Bytes of the rule files that no other organization shares: each takes about ten bytes of memory in each process. */
function ownBytesOf(revision: ActiveRevision['revision']): number {
  const own = (sourcesOf(revision)?.files ?? []).filter(({ shared }) => shared === undefined);
  return own.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
}

/** Which rules are active, and what they lack. Pure. @param teams where people change the teams of the organization */
export function examineRules(
  org: string,
  { active, verdict, heldBack, heldRules, lacking }: RuleFacts,
  teams: string,
): CheckResult[] {
  const refused =
    verdict?.state === 'refused' && verdict.code
      ? [problem(saw('rules.refused.newest', { code: verdict.code, first: verdict.problems[0] ?? '' }))]
      : [];
  const [first, ...others] = refused.length > 0 ? [] : heldBack;
  const broken =
    first === undefined
      ? []
      : [
          problem(
            saw('rules.files.broken', { first, others: others.length, isOldActive: active !== null }),
            'type: forgehand check (it lists all of them, with their lines), and correct the files; the bot reads them again by itself',
          ),
        ];
  if (!active && broken.length > 0) return broken;
  if (!active) return [...refused, problem(saw('rules.active.none', { org }), `type: forgehand check --org ${org}`)];
  const { rules, policies } = active.revision;
  const counts = {
    ...{ rules: rules.length, policies: policies.length, revision: shortRevision(active.id) },
    ownKb: Math.ceil(ownBytesOf(active.revision) / 1024),
  };
  return [
    ...refused,
    ...broken,
    ok(saw('rules.active.yes', counts)),
    ...heldRules.map(({ id, reason }) =>
      problem(saw('rule.held.unmet', { id, because: reason }), ...cureOf(reason, teams)),
    ),
    ...examineQueues(active.revision),
    ...lacking
      .filter((reason) => isUnmet(reason) && !heldRules.some((one) => one.reason === reason))
      .map((reason) => warning(saw('rule.lacking.unmet', { because: reason }))),
  ];
}

function cureOf({ code }: Reason<UnmetCode>, teams: string): string[] {
  if (code === 'requirement.scope') return ['make a token with that scope (see token.scopes), and start the bot again'];
  if (code === 'requirement.right')
    return [
      `open ${teams}: put the bot's account into a team with that right (Owners for ownership of the organization)`,
    ];
  return [
    'let the rule do without it, or renew the forge (docs/forges.md says which version has it); a policy may say assume_absent: true',
  ];
}

/** In the repository of the rules: pushes, and pull requests that propose others. */
const ABOUT_RULES = ['push', 'pull_request.opened', 'pull_request.synchronized'] as const satisfies EventKind[];

/** What the rules need, and what the bot itself listens to: new repositories for policies, and what happens to its rules. */
export function wantedEvents(
  revision: Pick<Revision, 'rules' | 'policies'>,
  rulesInRepository: boolean,
  product: HookProduct,
): string[] {
  const own = [
    ...(revision.policies.length > 0 || rulesInRepository ? ['repository'] : []),
    ...(rulesInRepository ? ABOUT_RULES.flatMap((kind) => hookEventsOf(kind, product)) : []),
  ];
  return [...new Set([...neededEvents(revision, product), ...own])].sort();
}

/** What a protection must set, so that nothing comes between the last look of a merge queue and its merge. */
const CLOSES_WINDOW = ['block_on_outdated_branch', 'enable_merge_whitelist'] as const;

/** Whether a policy closes the window of each merge queue, as docs/guarantees.md names it. Pure. */
function examineQueues({ rules, policies }: Revision): CheckResult[] {
  const isClosed = policies.some(({ program }) =>
    [...program.parts.flatMap(partsOf), ...program.fixes.map(({ step }) => step)].some(
      ({ action, params }) => action.name === 'protection.ensure' && closesWindow(params),
    ),
  );
  return rules
    .filter(({ disabled, program }) => disabled === null && program.steps.some(isQueue))
    .map(({ id }) =>
      isClosed
        ? ok(saw('rule.queue.closed', { id }))
        : note(
            saw('rule.queue.open', { id }),
            'protect the target branch: block_on_outdated_branch: true, and only the account of the bot in merge_whitelist_usernames (enable_merge_whitelist: true) and push_whitelist_usernames (enable_push: true, enable_push_whitelist: true), or enable_push: false',
          ),
    );
}

function isQueue({ action, params }: StepProgram): boolean {
  return action.name === 'pull_request.merge' && isGiven(params, 'update');
}

function partsOf({ action, items }: PolicyPart): Array<Pick<StepProgram, 'action' | 'params'>> {
  return items.map(({ params }) => ({ action, params }));
}

function closesWindow(params: readonly ParamProgram[]): boolean {
  const isPushShut = params.some(
    ({ name, template }) => name === 'enable_push' && template.kind === 'constant' && template.value === false,
  );
  return (
    CLOSES_WINDOW.every((name) => isGiven(params, name)) && (isPushShut || isGiven(params, 'enable_push_whitelist'))
  );
}
