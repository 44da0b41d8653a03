import { Inject, Injectable } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { ofOrgs } from '../config/live-config.js';
import { alert, Alerts } from '../core/alerts.js';
import { Clock } from '../core/clock.js';
import { type ForgeError, UserError } from '../core/errors.js';
import { Encryptor } from '../core/encryptor.js';
import { ForgeInventory } from '../forge/forge-inventory.js';
import { sealReads } from '../pipeline/decide/answer-lookups.js';
import { CandidateDecider } from '../pipeline/decide/decide-candidate.js';
import { Rehearser } from '../pipeline/execute/rehearse.js';
import { WorkQueue } from '../pipeline/work-queue.port.js';
import { CapabilityCheck } from '../rules/requirements/capability-check.js';
import { FindingKeeper } from './finding-keeper.js';
import { frozenAt } from './freeze.js';
import { newId, shortRevision } from '../core/ids.js';
import { textOf, type Reason } from '../core/reason.js';
import { type Freeze, runReason } from '../core/run-reasons.js';
import type { ControlCaller } from '../core/operators.js';
import { contradictions, writtenOtherwise } from './contradictions.js';
import {
  PolicyRehearsal,
  capsOf,
  heldOf,
  policyOf,
  undecidedSince,
  subjectKey,
  type Pass,
  type PlannedOrg,
  type PlanScope,
} from './rehearse-policies.js';
import { released, repositoriesOf, wantsLive, withheld } from './plan-runs.js';
import { TrustedPolicies } from './trusted-policies.js';
import { TwoPeople } from '../core/two-people.js';
import { type RecordedRun, JournalStore } from '../pipeline/journal-store.port.js';
import { RuleEngine } from '../pipeline/rule-engine.port.js';
import type { RepositoryInventory } from '../core/repository-owner.js';
import { type ActiveRevision, ActiveRevisions } from '../rules/revisions/active-revisions.port.js';
import { PlanStore } from './plan-store.port.js';
import type { PolicyGate, PolicyPass, ReviewedPass } from '../pipeline/policy-gate.port.js';
import { driftBetween, hashOfPlan, noSuchPlan, planReason } from './policy-plan.js';
import type { ApplyReport, Drift, KeptPlan, PlanCaps, PlanNote, PolicyPlan } from './policy-plan.js';
import { predictCalls, type Pace } from './predicted-calls.js';

/** What a plan would write now. */
interface Ready {
  /** What is not as when it was made; empty = it may be written. */
  readonly drift: readonly Drift[];
  readonly pass: Pass;
  readonly active: ActiveRevision;
  readonly where: PlannedOrg;
}

/** A caller of the control API, or the name of a part of the bot. */
type By = string | ControlCaller;

/** From what policies want to a plan, and from a plan to runs. A plan is decided and rehearsed twice: when it is made, and when it is applied. */
@Injectable()
export class Planner implements PolicyGate {
  private readonly orgs: () => readonly PlannedOrg[];
  private readonly trusted: TrustedPolicies;
  private readonly rehearsal: PolicyRehearsal;

  constructor(
    private readonly config: AppConfig,
    private readonly revisions: ActiveRevisions,
    @Inject(ForgeInventory) inventory: RepositoryInventory,
    @Inject(RuleEngine) rules: Pick<RuleEngine, 'find' | 'subjects'>,
    @Inject(CandidateDecider) decider: Pick<CandidateDecider, 'decide'>,
    @Inject(Rehearser) rehearser: Pick<Rehearser, 'rehearse'>,
    @Inject(CapabilityCheck) capabilities: Pick<CapabilityCheck, 'heldNow'>,
    private readonly plans: PlanStore,
    @Inject(JournalStore) private readonly journal: Pick<JournalStore, 'lastSettled' | 'recordDecision'>,
    @Inject(WorkQueue) private readonly queue: Pick<WorkQueue, 'ring'>,
    @Inject(FindingKeeper) private readonly findings: Pick<FindingKeeper, 'keep'>,
    private readonly encryptor: Encryptor,
    private readonly alerts: Alerts,
    @Inject(TwoPeople) private readonly twoPeople: Pick<TwoPeople, 'mayApprove' | 'mayApply'>,
    private readonly clock: Clock,
  ) {
    this.trusted = new TrustedPolicies(plans);
    this.rehearsal = new PolicyRehearsal(
      inventory,
      rules,
      decider,
      rehearser,
      capabilities,
      journal,
      this.trusted,
      clock,
    );
    const rateOf = new Map(config.forges.map(({ id, ratePerS }) => [id, ratePerS]));
    this.orgs = ofOrgs(config, (orgs) =>
      orgs.map(({ forge, key, trusted, budgets }) => ({
        forge,
        org: key,
        trusted,
        caps: { effectsPerPlan: budgets.effectsPerPlan, percentOfSubjects: budgets.percentOfSubjects },
        pace: { ratePerS: rateOf.get(forge) ?? Number.POSITIVE_INFINITY, effectsPerHour: budgets.effectsPerHour },
      })),
    );
  }

  /**
   * What the policies of an organization would change now, kept under its hash.
   * @throws as `planned`
   */
  async plan(org: string, policy: string | null, by: string): Promise<KeptPlan> {
    return this.plans.keep(await this.planned(org, policy, by));
  }

  /**
   * The same, and nothing is kept.
   * @throws UserError when there is no such organization or policy; ForgeError while the forge cannot be asked
   */
  async planned(org: string, policy: string | null, by: string): Promise<PolicyPlan> {
    const { where, active } = await this.open(org);
    if (policy !== null && !active.revision.policies.some(({ id }) => id === policy)) {
      const ids = active.revision.policies.map(({ id }) => id).join(', ');
      throw new UserError(
        'NO_SUCH_POLICY',
        `there is no policy ${policy} in ${where.org}${ids === '' ? '' : `; there are ${ids}`}`,
      );
    }
    const now = this.clock.now();
    const pass = await this.rehearsal.pass(where, active, { policy, about: null }, now, {
      kind: 'apply',
      by,
      plan: '',
      subject: '',
    });
    return this.asPlan(where, active, { policy, about: null }, now, by, pass);
  }

  /**
   * Write what a plan says, if everything is still as it was when it was made.
   * @throws UserError when there is no such plan, or when its approver would apply it and it takes two people
   */
  async apply(hash: string, by: By): Promise<ApplyReport> {
    const plan = await this.find(hash);
    if (plan.twoPeople && plan.state === 'approved') await this.twoPeople.mayApply(callerOf(by), plan.decidedBy ?? '');
    return this.write(plan, nameOf(by));
  }

  /** Why nothing is written at this time; null = it may be. */
  private frozen(org: string, at: Date): Freeze | null {
    return frozenAt(this.config.orgs.find(({ key }) => key === org)?.freeze ?? [], at);
  }

  private async write(plan: KeptPlan, by: string): Promise<ApplyReport> {
    return this.finish(plan, await this.look(plan, by), by);
  }

  private async finish(plan: KeptPlan, readiness: Ready | ApplyReport, by: string): Promise<ApplyReport> {
    if (!('pass' in readiness)) return { ...readiness, plan };
    const { drift, pass, where, active } = readiness;
    if (drift.length === 0) return this.commit(plan, readiness, by);
    return refusal(plan, [planReason('plan.drifted', { next: await this.renew(where, active, plan, pass) })], drift);
  }

  /** Whether everything is still as the plan says: what it would write now, or why it is not applied. Writes nothing. */
  private async look(plan: KeptPlan, by: string): Promise<Ready | ApplyReport> {
    const refuse = (reasons: readonly Reason[]): ApplyReport => refusal(plan, reasons);
    if (plan.state === 'applied')
      return { outcome: 'applied-before', plan, reasons: [], code: null, drift: [], runs: [] };
    if (plan.state === 'denied') return refuse([planReason('plan.denied', { by: plan.decidedBy ?? 'somebody' })]);
    const { where, active } = await this.open(plan.org);
    if (active.revision.hash !== plan.revision.hash)
      return refuse([
        planReason('plan.rules-changed', {
          made: shortRevision(plan.revision.id),
          now: shortRevision(active.id),
        }),
      ]);
    if (plan.overCapReasons) return refuse(plan.overCapReasons);
    const frozen = this.frozen(where.org, this.clock.now());
    if (frozen !== null) return refuse([planReason('plan.frozen', { ...frozen })]);
    if (plan.needsApproval && plan.state !== 'approved')
      return refuse([planReason('plan.not-approved', { plan: plan.hash.slice(0, 12) })]);
    const pass = await this.rehearsal.pass(where, active, plan, plan.now, {
      kind: 'apply',
      by,
      plan: plan.id,
      subject: '',
    });
    const heldPolicies = heldOf(plan, pass);
    if (heldPolicies.length > 0)
      return refuse(
        heldPolicies.map(({ policy, reason }) => planReason('plan.policy-held', { policy, because: reason })),
      );
    const unread = undecidedSince(plan, pass);
    if (unread.length > 0) return refuse(unread.map((note) => unreadReason(note, plan)));
    const drift = driftBetween(plan, {
      lines: pass.lines,
      isSubject: (line) => pass.looked.includes(subjectKey(line)),
      repository: (id) => pass.repositories.find((repo) => repo.id === id),
    });
    if (drift.length === 0 && pass.overCaps.length > 0) return refuse(pass.overCaps);
    return { drift, pass, active, where };
  }

  private async commit(plan: KeptPlan, { pass, active, where }: Ready, by: string): Promise<ApplyReport> {
    const runs = pass.runs
      .filter(({ writes }) => writes.length > 0)
      .map(({ run, writes }) => released(run, writes, plan));
    await this.trusted.trust(where.org, runs, by);
    const due = await this.journal.recordDecision(
      {},
      runs.map((run) => sealReads(run, this.encryptor)),
    );
    await this.plans.markApplied(plan.id, by);
    // What somebody undoes again and again is a finding, whoever had it made again.
    for (const run of runs) await this.findings.keep(run);
    const policies = active.revision.policies.map(({ id }) => id).filter((id) => (plan.policy ?? id) === id);
    const isLeftOut = (id: string): boolean => pass.heldBack.some(({ policy }) => policy === id);
    const decided = policies.filter((id) => !isLeftOut(id));
    await this.plans.dropOvertaken(where.org, decided, plan.about, plan.hash);
    if (due.length > 0) this.queue.ring('background', where.org);
    return {
      outcome: 'applied',
      plan: await this.find(plan.hash),
      reasons: [],
      code: null,
      drift: [],
      runs: runs.map(({ run }) => run.id),
    };
  }

  /** Somebody said yes to what a schedule wanted, and it is another thing by now: that waits in its place. Null = nothing waits. */
  private async renew(where: PlannedOrg, active: ActiveRevision, plan: KeptPlan, pass: Pass): Promise<string | null> {
    if (plan.madeBy !== SCHEDULE || !pass.needsApproval || pass.overCaps.length > 0) return null;
    const next = await this.plans.keep(this.asPlan(where, active, plan, plan.now, SCHEDULE, pass));
    if (next.state !== 'open') return null;
    await this.plans.dropOvertaken(where.org, plan.policy === null ? [] : [plan.policy], plan.about, next.hash);
    return next.hash.slice(0, 12);
  }

  /**
   * Say yes or no to a plan. One that a schedule made is applied with the yes.
   * @throws UserError when there is no such plan, or when it takes two people and who says yes is no second one
   */
  async decide(
    hash: string,
    verdict: 'approved' | 'denied',
    by: By,
  ): Promise<{ plan: KeptPlan; decided: boolean; applied: ApplyReport | null }> {
    const plan = await this.find(hash);
    const requester = plan.madeBy === SCHEDULE ? null : plan.madeBy;
    // Anybody with the scope may deny: a denial writes nothing.
    if (plan.twoPeople && verdict === 'approved')
      await this.twoPeople.mayApprove(callerOf(by), { requester, actor: null, revisionId: plan.revision.id });
    const isYes = verdict === 'approved' && isWaiting(plan);
    const readiness = isYes ? await this.look({ ...plan, state: 'approved' }, nameOf(by)) : null;
    const scheduledReadiness = plan.madeBy === SCHEDULE ? readiness : null;
    // What cannot be read now is no decision: the plan stays open, and the same yes works when the forge is well again.
    if (scheduledReadiness && !('pass' in scheduledReadiness) && scheduledReadiness.code === 'plan.unread')
      return { plan, decided: false, applied: scheduledReadiness };
    // A plan made by hand is applied by a second order, which would refuse it: nobody says yes to what does not hold any more.
    if (readiness && !scheduledReadiness && isOutdated(readiness))
      return { plan, decided: false, applied: await this.finish(plan, readiness, nameOf(by)) };
    const decided = await this.plans.decide(plan.id, verdict, nameOf(by));
    const decidedPlan = await this.find(plan.hash);
    // An earlier yes may have ended between the two.
    if (!scheduledReadiness || decidedPlan.state !== 'approved') return { plan: decidedPlan, decided, applied: null };
    const applied = await this.finish(decidedPlan, scheduledReadiness, nameOf(by));
    return { plan: await this.find(plan.hash), decided, applied };
  }

  /** What a schedule or an event makes a policy want: caps and approvals hold for it as for a plan made by hand. */
  async review(pass: PolicyPass): Promise<ReviewedPass> {
    const failure: ForgeError[] = [];
    const runs = await this.reviewRuns(pass, (error) => failure.push(error));
    return { runs, failure: failure[0] ?? null };
  }

  private async reviewRuns(
    { forge, org, active, candidate, runs: all, subjects, now }: PolicyPass,
    fail: (error: ForgeError) => void,
  ): Promise<RecordedRun[]> {
    let runs = all;
    if (runs.every(({ intents }) => intents.length === 0)) return [...runs];
    const where = this.orgs().find((one) => one.forge === forge && one.org === org) ?? {
      forge,
      org,
      trusted: false,
      caps: NO_CAPS,
      pace: NO_PACE,
    };
    const frozen = this.frozen(org, this.clock.now());
    if (frozen !== null)
      return runs.map((run) =>
        withheld(run, 'not-fired', (wanted) => runReason('run.held.frozen', { ...frozen, wanted })),
      );
    const policy = policyOf(active, candidate.id);
    const caps = capsOf(policy, where.caps);
    const asks =
      (policy?.approval ?? false) !== false ||
      runs.some(({ intents }) => intents.some(({ approval }) => approval === 'wanted'));
    const isCapped = caps.effectsPerPlan !== null || (caps.percentOfSubjects !== null && subjects !== null);
    const isNew = wantsLive(runs) && (await this.trusted.isNew(where, candidate.id));
    const about = subjects === null ? repositoriesOf(runs) : null;
    const free = async (): Promise<RecordedRun[]> => {
      if (where.trusted) await this.trusted.trust(org, runs, 'trusted: true');
      // What waited before this policy was let free waits no more.
      await this.plans.dropOvertaken(org, [candidate.id], about, '');
      return [...runs];
    };
    const wanted = runs.flatMap(({ intents }) => intents);
    const against = [...contradictions(wanted), ...(await writtenOtherwise(this.journal, active, wanted))];
    if (against.length > 0)
      return runs.map((run) =>
        withheld(run, 'error', (wanted) => runReason('run.held.cap', { caps: against, wanted })),
      );
    if (!asks && !isCapped && !isNew) return free();
    const pass = await this.rehearsal.rehearseAll(
      active,
      where,
      runs.map((run) => ({ run, repo: null })),
      subjects ?? 1,
      subjects,
    );
    // What could not be looked at is left out, and decided again later.
    if (pass.failure !== null) {
      fail(pass.failure);
      runs = pass.runs.map(({ run }) => run);
    }
    if (pass.overCaps.length > 0)
      return runs.map((run) =>
        withheld(run, 'error', (wanted) => runReason('run.held.cap', { caps: pass.overCaps, wanted })),
      );
    if (!pass.needsApproval) return free();
    const scope = { policy: candidate.id, about };
    const plan = await this.plans.keep(this.asPlan(where, active, scope, now, SCHEDULE, pass));
    if (plan.state === 'approved') {
      const approvedRuns = pass.runs.map(({ run, writes }) => released(run, writes, plan));
      await this.trusted.trust(org, approvedRuns, plan.decidedBy ?? SCHEDULE);
      await this.plans.markApplied(plan.id, SCHEDULE);
      return approvedRuns;
    }
    await this.plans.dropOvertaken(org, [candidate.id], about, plan.hash);
    this.alerts.raise(
      `plan.approval/${org}/${plan.policy ?? ''}`,
      alert('plan.approval', { org, plan: plan.hash.slice(0, 12) }),
      { plan: plan.hash },
    );
    const code = asks ? 'run.held.approval' : 'run.held.new-policy';
    return runs.map((run) =>
      withheld(run, 'not-fired', (wanted) => runReason(code, { plan: plan.hash.slice(0, 12), wanted })),
    );
  }

  private async find(hash: string): Promise<KeptPlan> {
    const plan = await this.plans.find(hash);
    if (!plan) throw noSuchPlan(hash);
    return plan;
  }

  private async open(org: string): Promise<{ where: PlannedOrg; active: ActiveRevision }> {
    const where = this.orgs().find((one) => one.org === org);
    const active = where ? await this.revisions.active(where.org) : null;
    if (!where || !active)
      throw new UserError('NO_SUCH_ORG', `organization ${org} is not in the config, or has no rules yet`);
    return { where, active };
  }

  private asPlan(
    where: PlannedOrg,
    active: ActiveRevision,
    { policy, about }: PlanScope,
    now: Date,
    by: string,
    pass: Pass,
  ): PolicyPlan {
    const { lines, runs, findings, notes, subjects, overCaps, needsApproval, twoPeople, newPolicies, heldBack } = pass;
    const heldPolicies = heldBack.length > 0 ? { held: heldBack.map((one) => one.policy) } : {};
    const calls = predictCalls(
      runs.map(({ rehearsed }) => rehearsed),
      where.pace,
    );
    return {
      hash: hashOfPlan(
        active.revision.hash,
        { policy, about: about && [...about], isScheduled: by === SCHEDULE, ...heldPolicies },
        lines,
      ),
      id: newId(),
      forge: where.forge,
      org: where.org,
      policy,
      about,
      revision: { id: active.id, hash: active.revision.hash },
      now,
      madeAt: this.clock.now(),
      madeBy: by,
      subjects,
      lines,
      findings,
      notes,
      overCaps: overCaps.map(textOf),
      ...(overCaps.length > 0 ? { overCapReasons: overCaps } : {}),
      needsApproval,
      ...(twoPeople ? { twoPeople } : {}),
      ...(newPolicies.length > 0 ? { newPolicies: [...newPolicies] } : {}),
      heldBack,
      calls,
    };
  }
}

const SCHEDULE = 'schedule';

/** The rules or what they look at changed since the plan was made. */
function isOutdated(readiness: Ready | ApplyReport): boolean {
  return 'pass' in readiness ? readiness.drift.length > 0 : readiness.code === 'plan.rules-changed';
}

/** Nobody applied or denied it. */
function isWaiting({ state }: KeptPlan): boolean {
  return state === 'open' || state === 'approved';
}

function refusal(plan: KeptPlan, reasons: readonly Reason[], drift: readonly Drift[] = []): ApplyReport {
  const code = reasons[0]?.code ?? null;
  return { outcome: 'refused', plan, reasons: reasons.map(textOf), code, drift: [...drift], runs: [] };
}

function unreadReason({ repo, reason }: PlanNote, { hash, org, madeBy }: KeptPlan): Reason {
  return planReason('plan.unread', {
    where: repo ?? org,
    error: reason,
    plan: hash.slice(0, 12),
    again: madeBy === SCHEDULE ? 'approve' : 'apply',
  });
}

const NO_CAPS: PlanCaps = { effectsPerPlan: null, percentOfSubjects: null };
const NO_PACE: Pace = { ratePerS: Number.POSITIVE_INFINITY, effectsPerHour: null };

function nameOf(by: By): string {
  return typeof by === 'string' ? by : by.name;
}

/** A part of the bot works for nobody in particular: it is no second person. */
function callerOf(by: By): ControlCaller {
  return typeof by === 'string' ? { kind: 'command', name: by, login: null, scopes: [], grants: null } : by;
}
