import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { CannotDerive } from './failures.js';

/** A rule file as written, its short forms written out. */
export interface RuleFileText {
  readonly file: string;
  readonly vars: Readonly<Record<string, unknown>>;
  readonly rules: readonly WrittenRule[];
  readonly policies: readonly WrittenPolicy[];
}

export interface WrittenRule {
  readonly id: string;
  readonly mode: string;
  readonly on: readonly string[];
  readonly schedule: boolean;
  readonly where: Filter;
  readonly lookups: ReadonlyArray<{
    readonly as: string;
    readonly use: string;
    readonly with: Record<string, unknown>;
    readonly onMissing: string;
  }>;
  readonly conditions: readonly string[];
  readonly steps: readonly WrittenStep[];
}

interface WrittenStep {
  readonly action: string;
  readonly with: Record<string, unknown>;
  readonly when: string | null;
  readonly unless: string | null;
  readonly forEach: string | null;
  /** Null = all of them. */
  readonly first: number | null;
}

export interface WrittenPolicy {
  readonly id: string;
  readonly mode: string;
  readonly subjects: Filter;
  /** Each as a step for each repository, in the order of the file. */
  readonly wants: ReadonlyArray<{ readonly action: string; readonly with: Record<string, unknown> }>;
}

/** `where` and `subjects` under one set of names; values as written. */
export type Filter = Readonly<Record<string, unknown>>;

type Map_ = Record<string, unknown>;

const SECTIONS = {
  labels: 'label.ensure',
  milestones: 'milestone.ensure',
  push_mirrors: 'push_mirror.ensure',
} as const;

export function readRuleFiles(folder: string): RuleFileText[] {
  const names = readdirSync(folder)
    .filter((name) => /\.ya?ml$/.test(name) && !/\.test\.ya?ml$/.test(name))
    .sort();
  if (names.length === 0) throw new CannotDerive(`there are no rule files in ${folder}`);
  return names.map((file) => readFile(file, parse(readFileSync(join(folder, file), 'utf8')) as Map_));
}

function readFile(file: string, { vars, rules, policies }: Map_): RuleFileText {
  return {
    file,
    vars: (vars ?? {}) as Map_,
    rules: ((rules ?? []) as Map_[]).map(readRule),
    policies: ((policies ?? []) as Map_[]).map(readPolicy),
  };
}

function readRule(rule: Map_): WrittenRule {
  checkKeys(rule, ['id', 'mode', 'on', 'schedule', 'where', 'lookup', 'if', 'do', 'limits', 'rights', 'disabled']);
  return {
    id: String(rule.id),
    // Nothing starts a rule that is switched off.
    mode: rule.disabled === undefined ? String(rule.mode ?? 'live') : 'disabled',
    on: asList(rule.on).map(String),
    schedule: rule.schedule !== undefined,
    where: (rule.where ?? {}) as Filter,
    lookups: Object.entries((rule.lookup ?? {}) as Map_).map(([as, lookup]) => {
      const fields = (typeof lookup === 'string' ? { use: lookup } : lookup) as Map_;
      return {
        as,
        use: String(fields.use),
        with: (fields.with ?? {}) as Map_,
        onMissing: String(fields.on_missing ?? 'fail'),
      };
    }),
    conditions: typeof rule.if === 'string' ? [rule.if] : Object.values((rule.if ?? {}) as Map_).map(String),
    steps: asList(rule.do).map((step) => readStep(step as Map_)),
  };
}

function readStep(step: Map_): WrittenStep {
  const short = Object.keys(step).find((key) => key.includes('.'));
  const { when, unless, for_each: forEach, first } = step;
  return {
    action: short ?? String(step.use),
    with: ((short === undefined ? step.with : step[short]) ?? {}) as Map_,
    when: textOrNull(when),
    unless: textOrNull(unless),
    forEach: textOrNull(forEach),
    first: typeof first === 'number' ? first : null,
  };
}

function readPolicy(policy: Map_): WrittenPolicy {
  checkKeys(policy, ['id', 'mode', 'schedule', 'subjects', 'assume_absent', 'limits', ...Object.keys(SECTIONS)]);
  const { repos, not_repos, ...rest } = (policy.subjects ?? {}) as Map_;
  return {
    id: String(policy.id),
    mode: String(policy.mode ?? 'live'),
    subjects: {
      archived: false,
      ...rest,
      ...(repos === undefined ? {} : { repo: repos }),
      ...(not_repos === undefined ? {} : { not_repo: not_repos }),
    },
    wants: Object.entries(SECTIONS).flatMap(([section, action]) =>
      asList(policy[section]).map((item) => ({ action, with: item as Map_ })),
    ),
  };
}

function checkKeys(map: Map_, keys: readonly string[]): void {
  const strange = Object.keys(map).find((key) => !keys.includes(key));
  if (strange !== undefined) throw new CannotDerive(`${String(map.id)}: nothing is known here about "${strange}"`);
}

function asList(value: unknown): unknown[] {
  return value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];
}

function textOrNull(value: unknown): string | null {
  return value === undefined || value === null ? null : String(value);
}
