import { evaluateExpression, fillTemplate } from './expression.js';
import { CannotDerive, RuleFails } from './failures.js';
import type { Scope } from './operators.js';
import { factsOf, type Fact } from './facts.js';
import { functions } from './functions.js';
import { matchesGlob } from './glob.js';
import type { Handover, JsonObject } from './handover.js';
import { lookUp } from './lookups.js';
import { Model, type ModelRepo } from './model.js';
import type { ForgeReader } from './read-forge.js';
import type { Filter, RuleFileText, WrittenPolicy, WrittenRule } from './rule-files.js';
import { grant, type Write } from './wishes.js';

/** After these a repository may not be as its policies say. */
const POLICY_KINDS = ['repository.created', 'repository.transferred', 'repository.renamed'];

export interface Derived {
  readonly model: Model;
  readonly writes: readonly Write[];
  /** Rule or policy id -> file. */
  readonly files: ReadonlyMap<string, string>;
}

interface Subject {
  readonly fact: Fact | null;
  readonly repo: ModelRepo | null;
  readonly now: Date;
}

/** What has to stand at the forge after all the acts, going by the rule files alone. */
export async function derive(
  handover: Handover,
  files: readonly RuleFileText[],
  reader: ForgeReader,
): Promise<Derived> {
  const derivation = new Derivation(handover, files, reader);
  for (const act of handover.acts) {
    const facts = act.act === 'repository.create' ? null : factsBefore(derivation.model, act);
    derivation.model.perform(act);
    if (act.act === 'start') derivation.reconcileAll(new Date(act.at));
    if (act.act === 'nightfall') await derivation.tickAll(new Date(act.at));
    for (const fact of facts ?? factsOf(derivation.model, act)) await derivation.hear(fact);
  }
  return { model: derivation.model, writes: derivation.writes, files: derivation.files };
}

/** A fact is about the repository as it was told; whatever is not there before the act is told after it. */
function factsBefore(model: Model, act: Handover['acts'][number]): Fact[] | null {
  return act.act.startsWith('release.') ? null : factsOf(model, act);
}

class Derivation {
  readonly model: Model;
  readonly writes: Write[] = [];
  readonly files = new Map<string, string>();

  constructor(
    private readonly handover: Handover,
    private readonly texts: readonly RuleFileText[],
    private readonly reader: ForgeReader,
  ) {
    this.model = new Model(handover.before);
    for (const { file, rules, policies } of texts)
      for (const { id } of [...rules, ...policies]) this.files.set(id, file);
  }

  /** Policies hold for everything that is there from the first moment. */
  reconcileAll(now: Date): void {
    this.eachPolicy((policy, vars) => this.reconcile(policy, vars, now));
  }

  async hear(fact: Fact): Promise<void> {
    if (fact.actor.toLowerCase() === this.handover.bot.login.toLowerCase()) return;
    const repo = fact.repo ? this.model.repo(String(fact.repo.full_name)) : null;
    for (const { rules, vars } of this.texts) {
      for (const rule of rules) {
        if (rule.mode === 'live' && isStarted(rule, fact) && passes(rule.where, fact.repo, fact))
          await this.fire(rule, vars, { fact, repo, now: fact.at });
      }
    }
    if (repo && POLICY_KINDS.includes(fact.kind))
      this.eachPolicy((policy, vars) => this.reconcileOne(policy, vars, repo, fact.at));
  }

  async tickAll(now: Date): Promise<void> {
    for (const { rules, vars } of this.texts) {
      for (const rule of rules.filter(({ schedule, mode }) => schedule && mode === 'live')) {
        const repos =
          rule.where.repo === undefined
            ? [null]
            : [...this.model.repos.values()].filter((repo) => passes(rule.where, repo.info, null));
        for (const repo of repos) await this.fire(rule, vars, { fact: null, repo, now });
      }
    }
    this.reconcileAll(now);
  }

  private eachPolicy(visit: (policy: WrittenPolicy, vars: Scope) => void): void {
    for (const { policies, vars } of this.texts)
      for (const policy of policies.filter(({ mode }) => mode === 'live')) visit(policy, vars);
  }

  private reconcile(policy: WrittenPolicy, vars: Scope, now: Date): void {
    for (const repo of this.model.repos.values()) this.reconcileOne(policy, vars, repo, now);
  }

  private reconcileOne(policy: WrittenPolicy, vars: Scope, repo: ModelRepo, now: Date): void {
    if (!passes(policy.subjects, repo.info, null)) return;
    for (const { action, with: params } of policy.wants) {
      const filled = fillTemplate(
        params,
        { repo: repo.info, vars, now, org: { name: this.handover.org }, bot: { login: this.handover.bot.login } },
        functions,
      );
      this.grant(policy.id, action, filled, repo);
    }
  }

  /** A condition that is false outweighs one that cannot be told. */
  private async fire(rule: WrittenRule, vars: Scope, subject: Subject): Promise<void> {
    try {
      const scope = await this.scopeOf(rule, vars, subject);
      if (!this.holds(rule, scope)) return;
      for (const { action, with: params, when, unless, forEach, first } of rule.steps) {
        const items = forEach === null ? [undefined] : (evaluateExpression(forEach, scope, functions) as unknown[]);
        let remaining = first ?? Infinity;
        for (const item of items) {
          if (remaining === 0) break;
          const inner = item === undefined ? scope : { ...scope, item };
          if (when !== null && evaluateExpression(when, inner, functions) !== true) continue;
          if (unless !== null && evaluateExpression(unless, inner, functions) !== false) continue;
          this.grant(rule.id, action, fillTemplate(params, inner, functions), subject.repo);
          remaining -= 1;
        }
      }
    } catch (error) {
      if (error instanceof RuleFails)
        throw new CannotDerive(`rule ${rule.id}, ${subject.fact?.kind ?? 'on its schedule'}: ${error.message}`);
      throw error;
    }
  }

  private async scopeOf(rule: WrittenRule, vars: Scope, { fact, repo, now }: Subject): Promise<Scope> {
    const { org, bot } = this.handover;
    const event = fact && {
      ...fact.data,
      ...labelsOf(fact.data),
      kind: fact.kind,
      source: fact.source,
      org,
      actor: { login: fact.actor },
      repo: fact.repo,
    };
    const base = { event, repo: repo?.info ?? null, org: { name: org }, vars, now, bot: { login: bot.login } };
    const lookups: Record<string, unknown> = {};
    // What can be told without reading is told first: a rule that is not meant makes no reads.
    if (!this.mayHold(rule, { ...base, lookups })) return { ...base, lookups };
    for (const { as, use, with: params, onMissing } of rule.lookups) {
      const filled = fillTemplate(params, { ...base, lookups }, functions) as JsonObject;
      const answer = await lookUp(use, { model: this.model, reader: this.reader, repo, org }, filled);
      if (answer === null && onMissing === 'fail')
        throw new CannotDerive(`rule ${rule.id}: the lookup ${as} finds nothing`);
      lookups[as] = answer;
    }
    return { ...base, lookups };
  }

  private holds({ conditions }: WrittenRule, scope: Scope): boolean {
    let failure: RuleFails | null = null;
    for (const condition of conditions) {
      try {
        if (evaluateExpression(condition, scope, functions) !== true) return false;
      } catch (error) {
        if (!(error instanceof RuleFails)) throw error;
        failure ??= error;
      }
    }
    if (failure) throw failure;
    return true;
  }

  /** False when a condition is false already, without any read. */
  private mayHold(rule: WrittenRule, scope: Scope): boolean {
    try {
      return this.holds(rule, scope);
    } catch (error) {
      if (error instanceof RuleFails) return true;
      throw error;
    }
  }

  private grant(by: string, action: string, params: unknown, repo: ModelRepo | null): void {
    this.writes.push(
      ...grant(this.model, { by, action, params: params as Record<string, unknown>, repo, org: this.handover.org }),
    );
  }
}

/** `push.branch` and `push.tag` are the two parts of `push`. */
export function isStarted({ on }: Pick<WrittenRule, 'on'>, { kind, data }: Pick<Fact, 'kind' | 'data'>): boolean {
  const part = kind === 'push' ? (typeof data.tag === 'string' ? 'push.tag' : 'push.branch') : kind;
  return on.includes(kind) || on.includes(part);
}

/** The names of the labels, where the fact tells labels. */
export function labelsOf(data: JsonObject): JsonObject {
  const labels = [data.pull_request, data.issue]
    .map((one) => (one as JsonObject | undefined)?.labels)
    .find((one) => one !== undefined);
  return labels === undefined ? {} : { labels: ((labels ?? []) as JsonObject[]).map(({ name }) => name ?? null) };
}

/** `where` and `subjects`. Patterns of one filter are alternatives; a pattern without a slash is about the name alone. */
function passes(where: Filter, repo: JsonObject | null, fact: Fact | null): boolean {
  const list = (value: unknown): string[] => (Array.isArray(value) ? value : [value]).map(String);
  const names = (patterns: unknown): boolean =>
    list(patterns).some(
      (pattern) =>
        repo !== null && matchesGlob(pattern, String(pattern.includes('/') ? repo.full_name : repo.name), true),
    );
  return Object.entries(where).every(([filter, wanted]) => {
    switch (filter) {
      case 'repo':
        return names(wanted);
      case 'not_repo':
        return !names(wanted);
      case 'archived':
      case 'private':
      case 'fork':
        return repo !== null && (repo[filter] === true) === wanted;
      case 'branch':
      case 'tag':
        return (
          typeof fact?.data[filter] === 'string' &&
          list(wanted).some((pattern) => matchesGlob(pattern, String(fact.data[filter])))
        );
      case 'actor':
        // `bot` and `bot:RULE` stand for acts of the bot, and those are no facts here.
        return list(wanted).some(
          (pattern) => fact !== null && !/^bot(?::|$)/.test(pattern) && matchesGlob(pattern, fact.actor, true),
        );
      case 'source':
        return fact !== null && list(wanted).includes(fact.source);
      case 'topics':
        return list(wanted).some((pattern) =>
          ((repo?.topics ?? []) as string[]).some((topic) => matchesGlob(pattern, topic, true)),
        );
      default:
        throw new CannotDerive(`nothing is known here about the filter "${filter}"`);
    }
  });
}
