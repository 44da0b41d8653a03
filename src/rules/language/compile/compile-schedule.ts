import type { YamlNode } from '../load/node.js';
import type { ReadMap } from '../load/read-map.js';
import { isRefused } from '../load/read-shape.js';
import type { Text } from '../load/read-shape.js';
import type { CatchUp, Limits, ScheduleSpec } from '../revision.js';
import { looksLikeExpression } from './looks-like-expression.js';
import { compileTemplate } from './compile-template.js';
import type { FileContext, Scope } from './file-context.js';
import type { CoalesceProgram } from './program.js';
import { nextOccurrence } from '../../../core/occurrences.js';
import { cronFault, isZone } from '../../../core/schedule-text.js';

/** Five fields, to the minute; UTC unless `tz` says otherwise. */
export function compileSchedule(context: FileContext, schedule: ReadMap<'schedule'>): ScheduleSpec | null {
  const { file } = context;
  const cron = schedule.value('cron');
  const tz = readZone(context, schedule.value('tz'));
  const jitterS = schedule.value('jitter');
  const catchUp = readCatchUp(context, schedule.node('catch_up'));
  if (!cron || tz === null || jitterS === null || catchUp === null || !checkCron(context, cron.start, cron.value, tz))
    return null;
  const gap = jitterS > 0 ? gapOf(cron.value, tz) : null;
  const jitterAt = schedule.node('jitter')?.start;
  if (gap !== null && gap <= jitterS && jitterAt !== undefined)
    file.warn(
      jitterAt,
      `the jitter is as long as the time between two occurrences (${gap / 60} minutes)`,
      'a shorter jitter, or a rarer schedule',
    );
  return { cron: cron.value, tz, jitterS, ...(catchUp === undefined ? {} : { catchUp }) };
}

function checkCron({ file }: FileContext, start: number, cron: string, tz: string): boolean {
  const fault = cronFault(cron, tz);
  if (fault) file.problem(start, ...fault);
  const [, , day = '*', , weekday = '*'] = cron.trim().split(/\s+/);
  if (fault === null && !cron.startsWith('@') && day !== '*' && weekday !== '*')
    file.warn(
      start,
      `this comes on day ${day} of the month and on weekday ${weekday} as well: cron takes either`,
      'one of both as *, and the other in a condition: if: now.getDate() <= 7',
    );
  return fault === null;
}

/** Seconds between the next two occurrences. */
function gapOf(cron: string, tz: string): number | null {
  const spec = { cron, tz, jitterS: 0 };
  const first = nextOccurrence(spec, '', new Date(0));
  const second = first && nextOccurrence(spec, '', new Date(first.at.getTime() + 1000));
  return first && second ? (second.at.getTime() - first.at.getTime()) / 1000 : null;
}

function readZone({ file }: FileContext, tz: Text | 'UTC' | null): string | null {
  if (tz === null || tz === 'UTC') return tz;
  if (isZone(tz.value)) return tz.value;
  file.problem(tz.start, `there is no time zone "${tz.value}"`, 'names are like Europe/Paris');
  return null;
}

const MOST_MADE_UP = 50;

/** @returns undefined when it is not given */
function readCatchUp({ file }: FileContext, node: YamlNode | undefined): CatchUp | null | undefined {
  if (!node) return undefined;
  const value = node.kind === 'scalar' ? node.value : null;
  if (value === 'skip' || value === 'one') return value;
  if (value === 'all') return MOST_MADE_UP;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MOST_MADE_UP) return value;
  if (isRefused(node)) return null;
  file.problem(
    node.start,
    'catch_up is skip, one, all, or how many at most',
    `skip lets go what was missed, one makes up for it once, all makes up for each (the newest ${MOST_MADE_UP})`,
  );
  return null;
}

export function compileCoalesce(
  context: FileContext,
  coalesce: ReadMap<'coalesce'>,
  scope: Scope,
): CoalesceProgram | null {
  const { file } = context;
  const text = coalesce.value('key');
  const key = text && compileTemplate(context, text, { ...scope, lookups: null });
  if (text && key?.kind === 'constant') {
    const lookalike = looksLikeExpression(String(key.value));
    if (lookalike)
      file.newProblem(
        text.start,
        `coalesce.key: ${lookalike.what} is no expression, so all runs have this one key`,
        `write ${lookalike.write}`,
      );
    else
      file.warn(
        text.start,
        'coalesce.key is the same for all runs: those of all repositories become one',
        'key: "${{ repo.full_name }}"',
      );
  }
  if (text && key?.kind === 'secret')
    file.problem(text.start, 'a secret stands alone, in a parameter that is marked secret');
  const seconds = coalesce.value('window');
  return key && seconds !== null ? { key, windowMs: seconds * 1000, position: file.position(coalesce.start) } : null;
}

export function compileLimits(limits: ReadMap<'limits'>): Limits | null {
  const runsPerHour = limits.value('runs_per_hour');
  const effectsPerRun = limits.value('effects_per_run');
  return effectsPerRun === null ? null : { effectsPerRun, runsPerHour };
}

/** Of a policy: what one repository may want, and what one pass over all of them. */
export function compilePolicyLimits(limits: ReadMap<'policy_limits'>): Limits | null {
  const runsPerHour = limits.value('runs_per_hour');
  const effectsPerPlan = limits.value('effects_per_plan');
  const percentOfSubjects = limits.value('percent_of_subjects');
  const effectsPerRun = limits.value('effects_per_run');
  return effectsPerRun === null ? null : { effectsPerRun, runsPerHour, effectsPerPlan, percentOfSubjects };
}
