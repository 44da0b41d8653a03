import { aConfig } from './a-config.js';
import type { CandidateDecider } from '../../src/pipeline/decide/decide-candidate.js';
import { actions } from '../../src/actions/index.js';
import { ForgeLookupReader } from '../../src/actions/lookups/forge-lookup-reader.js';
import { Encryptor } from '../../src/core/encryptor.js';
import { ForgeError } from '../../src/core/errors.js';
import type { EventRepository } from '../../src/core/event.js';
import { newId } from '../../src/core/ids.js';
import { Secret } from '../../src/core/secret.js';
import { answerLookups } from '../../src/pipeline/decide/answer-lookups.js';
import { planIntents } from '../../src/pipeline/decide/plan-intents.js';
import type { RecordedRun } from '../../src/pipeline/journal-store.port.js';
import { Planner } from '../../src/policies/planner.js';
import { runReason } from '../../src/core/run-reasons.js';
import type { Intent } from '../../src/core/run.js';
import { PureRuleEngine } from '../../src/policies/pure-rule-engine.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import type { Revision } from '../../src/rules/language/revision.js';
import type { ActiveRevision } from '../../src/rules/revisions/active-revisions.port.js';
import { InMemoryPlanStore } from '../fakes/in-memory-plan-store.js';
import { FakeForge } from '../fakes/fake-forge.js';
import { ManualClock } from '../fakes/manual-clock.js';

const ENCRYPTOR = new Encryptor(new Secret('0123456789abcdef'.repeat(4)));

/** Plans over a forge in memory: decided as the bot decides; each intent of a plan would be one write. */
export class PlannerRig {
  readonly clock = new ManualClock();
  readonly plans = new InMemoryPlanStore(() => this.clock.now());
  readonly forge = new FakeForge();
  /** What the organization has now. */
  readonly repositories: EventRepository[];
  /** What was written down. */
  readonly recorded: RecordedRun[] = [];
  /** Why reads of a repository fail now, by its name. */
  readonly broken = new Map<string, ForgeError>();
  readonly waiting: string[] = [];
  /** Runs that the keeper of findings was told of. */
  readonly found: RecordedRun[] = [];
  readonly planner: Planner;
  private readonly decider: Pick<CandidateDecider, 'decide'>;
  readonly active: ActiveRevision;
  private readonly engine = new PureRuleEngine(new CelEngine());

  /** @param names of the repositories; all are public */
  constructor(revision: Revision, names: readonly string[] = ['app', 'web', 'lib'], trusted = true) {
    this.active = { id: 'rev-1', revision, loadedAt: this.clock.now() };
    this.repositories = names.map((name, n) => ({
      id: String(n + 1),
      owner: 'acme',
      name,
      full_name: `acme/${name}`,
      private: false,
      archived: false,
      fork: false,
      default_branch: 'main',
      topics: ['product'],
    }));
    for (const { id, name } of this.repositories) this.forge.addRepository(name, { id });
    const client = new Proxy(this.forge.client, {
      get:
        (target, operation) =>
        async (args: { repo?: string; id?: string }, ...more: unknown[]): Promise<unknown> => {
          const name = args.repo ?? this.repositories.find(({ id }) => id === args.id)?.name;
          const error = this.broken.get(name ?? '');
          if (error) throw error;
          return (Reflect.get(target, operation) as (...all: unknown[]) => Promise<unknown>)(args, ...more);
        },
    });
    this.decider = deciderOf(
      this.engine,
      new ForgeLookupReader({ get: () => ({ client, offers: this.forge.offers }) }),
      this.clock,
    );
    this.planner = new Planner(
      aConfig({
        forges: [{ id: 'main', ratePerS: 10 }],
        orgs: [
          {
            forge: 'main',
            name: 'acme',
            trusted,
            freeze: [],
            budgets: { effectsPerPlan: null, percentOfSubjects: null, effectsPerHour: null },
          },
        ],
      }),
      { active: async () => this.active },
      { list: async () => this.repositories },
      this.engine,
      this.decider,
      {
        rehearse: async ({ action }) => ({
          does: 'write',
          operation: actions.get(action)?.operations[0] ?? '',
          isReadable: true,
          reads: [],
        }),
      },
      { heldNow: async () => new Map() },
      this.plans,
      {
        lastSettled: async (key) =>
          (this.recorded
            .flatMap(({ intents }) => intents)
            .filter(({ effectKey }) => effectKey === key)
            .at(-1) as Intent | undefined) ?? null,
        recordDecision: async (_, runs) => {
          this.recorded.push(...runs);
          return runs.flatMap(({ intents }) => intents.map(({ id }) => id));
        },
      },
      { ring: () => undefined },
      { keep: async (run) => void this.found.push(run as RecordedRun) },
      ENCRYPTOR,
      { raise: (_key, _alert, facts) => void this.waiting.push(String(facts?.['plan'])), resolve: () => undefined },
      { mayApprove: async () => '', mayApply: async () => undefined },
      this.clock,
    );
  }

  /** One occurrence of the schedule of a policy. */
  async pass(policy: string): Promise<readonly RecordedRun[]> {
    const candidate = this.engine.find(this.active.revision, policy);
    if (!candidate) throw new Error(`there is no policy ${policy}`);
    const plan = { forge: 'main', org: 'acme', active: this.active, candidate, now: this.clock.now() };
    const runs: RecordedRun[] = [];
    for (const repo of this.repositories) runs.push(await this.decide(policy, repo));
    const { runs: reviewed, failure } = await this.planner.review({ ...plan, runs, subjects: runs.length });
    if (failure) throw failure;
    this.recorded.push(...reviewed);
    return reviewed;
  }

  private async decide(policy: string, repo: EventRepository): Promise<RecordedRun> {
    const candidate = this.engine.find(this.active.revision, policy);
    if (!candidate) throw new Error(`there is no policy ${policy}`);
    return this.decider.decide(this.active, candidate, {
      forge: 'main',
      org: 'acme',
      cause: { kind: 'tick', tickId: newId(), subject: repo.id, repo: repo.full_name },
      event: null,
      repo,
      since: this.clock.now(),
      now: this.clock.now(),
    });
  }

  /** Every read of the repository fails with this status; null = it is well again. */
  breaks(name: string, status: number | null): void {
    if (status === null) this.broken.delete(name);
    else
      this.broken.set(
        name,
        new ForgeError(status < 500 ? 'refused' : 'unknown', `listLabels: status ${status}`, {
          operation: 'listLabels',
          status,
        }),
      );
  }
}

/** Decides as the bot decides. */
function deciderOf(
  engine: PureRuleEngine,
  reader: ForgeLookupReader,
  clock: ManualClock,
): Pick<CandidateDecider, 'decide'> {
  return {
    decide: async (active, candidate, { repo, cause, since, now }) => {
      const at = now ?? clock.now();
      const facts = { org: 'acme', event: null, repo, bot: { login: 'forgehand', id: '99', others: [] }, now: at };
      const { evaluation, lookups } = await answerLookups(
        (answers) => engine.evaluate(active.revision, candidate, facts as never, answers),
        { reader, scope: { forge: 'main', org: 'acme', repo }, clock: clock, since },
      );
      const { report, steps } = evaluation;
      return planIntents(
        {
          forge: 'main',
          org: 'acme',
          rule: candidate.id,
          kind: 'policy',
          mode: 'live',
          revisionId: active.id,
          cause,
          repo,
          claim: null,
          isAskedFor: false,
          report: { ...report, reason: runReason(`run.${report.verdict}`, { because: report.reason }) },
          steps,
          lookups,
          decidedAt: at,
        },
        { actions, encryptor: ENCRYPTOR, newId, account: 'forgehand' },
      );
    },
  };
}
