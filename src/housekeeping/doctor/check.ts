import { z } from 'zod';
import { webAddress } from '../../config/safe-address.js';
import { textOf, type Reason } from '../../core/reason.js';
import { count, maybeText, text, texts, time, word, type Shape } from '../../core/schema.js';
import type { ProbeAnswer } from '../../forge/probe.js';
import { serverAccess } from '../../forge/server-access.js';

/** One thing that the doctor looked at. */
export const check = z.object({
  /** `hook.events`: what was looked at; the same word in every release. */
  check: text,
  /** What was seen, for programs: `hook.events.missing`; begins with `check`. */
  code: text,
  forge: text,
  /** What was seen, in one sentence. */
  said: text,
  /** `ok` it is as it should be; `note` it could not be looked at, or is worth knowing; `warning` and `problem` are findings. */
  state: z.enum(['ok', 'note', 'warning', 'problem']),
  /** Null where it is about the forge or the account. */
  org: maybeText,
  /** Seconds since the bot looked; null = it is told from what the bot itself has. */
  ageS: count.nullable(),
  /** What to click or type, step by step; empty where nothing is to be done. */
  fix: texts,
});
export type Check = Shape<typeof check>;

export const doctorReport = z.object({
  findings: count,
  checks: z.array(check),
  /** What the bot knows about each forge; kept, so that the doctor can report it while the forge is away. */
  forges: z.array(
    serverAccess.extend({
      id: text,
      learnedAt: time,
      /** Operations by name, as far as they were asked. */
      operations: z.record(text, word<ProbeAnswer>()),
    }),
  ),
});
export type DoctorReport = Shape<typeof doctorReport>;
type CheckState = Check['state'];

/** A check without forge, organization and age, which the doctor adds. */
export type CheckResult = Omit<Check, 'forge' | 'org' | 'ageS'>;

export function ok(seen: Reason): CheckResult {
  return checkResult('ok', seen, []);
}

export function note(seen: Reason, ...fix: string[]): CheckResult {
  return checkResult('note', seen, fix);
}

export function warning(seen: Reason, ...fix: string[]): CheckResult {
  return checkResult('warning', seen, fix);
}

export function problem(seen: Reason, ...fix: string[]): CheckResult {
  return checkResult('problem', seen, fix);
}

function checkResult(state: CheckState, seen: Reason, fix: string[]): CheckResult {
  const { code } = seen;
  return { check: code.split('.', 2).join('.'), state, code, said: textOf(seen), fix };
}

export function isFinding({ state }: Pick<Check, 'state'>): boolean {
  return state === 'warning' || state === 'problem';
}

/** Pages of a forge's web front, as people find them. */
interface WebPages {
  readonly hooks: (org: string) => string;
  readonly teams: (org: string) => string;
  readonly tokens: string;
}

/** @param baseUrl address of the API, ends in /api/v1 */
export function webPages(baseUrl: string): WebPages {
  const web = webAddress(baseUrl);
  return {
    hooks: (org) => `${web}/org/${encodeURIComponent(org)}/settings/hooks`,
    teams: (org) => `${web}/org/${encodeURIComponent(org)}/teams`,
    tokens: `${web}/user/settings/applications`,
  };
}
