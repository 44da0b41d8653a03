import type { YamlEntry, YamlNode } from '../load/node.js';
import { readDurationText, readMap, readText, readWhole } from '../load/read-shape.js';
import type { CatchUp, Limits, ScheduleSpec } from '../revision.js';
import { looksLikeExpression } from './looks-like-expression.js';
import { compileTemplate } from './compile-template.js';
import type { FileContext, Scope } from './file-context.js';
import type { CoalesceProgram } from './program.js';
import { nextOccurrence } from '../../../core/occurrences.js';
import { cronFault, isZone, parseDuration } from '../../../core/schedule-text.js';

const MAX_JITTER_S = 24 * 3600;

/** `"30 2 * * *"`, or `{cron, tz, jitter, catch_up}`. Five fields, to the minute; UTC unless `tz` says otherwise. */
export function compileSchedule(context: FileContext, node: YamlNode): ScheduleSpec | null {
  const { file } = context;
  if (node.kind !== 'map') {
    const cron = readText(file, node, 'schedule');
    return cron && checkCron(context, cron.start, cron.value, 'UTC')
      ? { cron: cron.value, tz: 'UTC', jitterS: 0 }
      : null;
  }
  const keys = readMap(
    file,
    node,
    'schedule',
    { cron: 'required', tz: 'optional', jitter: 'optional', catch_up: 'optional' },
    'schedule',
  );
  const cronEntry = keys?.get('cron');
  if (!keys || !cronEntry) return null;
  const cron = readText(file, cronEntry.value, 'schedule.cron');
  const tz = readZone(context, keys.get('tz'));
  const jitterS = readJitter(context, keys.get('jitter'));
  const catchUp = readCatchUp(context, keys.get('catch_up'));
  if (!cron || tz === null || jitterS === null || catchUp === null || !checkCron(context, cron.start, cron.value, tz))
    return null;
  const gap = jitterS > 0 ? gapOf(cron.value, tz) : null;
  const jitterAt = keys.get('jitter')?.value.start;
  if (gap !== null && gap <= jitterS && jitterAt !== undefined)
    context.file.warn(
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

function readZone({ file }: FileContext, entry: YamlEntry | undefined): string | null {
  if (!entry) return 'UTC';
  const tz = readText(file, entry.value, 'schedule.tz');
  if (!tz) return null;
  if (isZone(tz.value)) return tz.value;
  file.problem(tz.start, `there is no time zone "${tz.value}"`, 'names are like Europe/Paris');
  return null;
}

function readJitter({ file }: FileContext, entry: YamlEntry | undefined): number | null {
  if (!entry) return 0;
  const text = readDurationText(file, entry.value, 'schedule.jitter', '20m');
  if (!text) return null;
  const seconds = parseDuration(text.value);
  if (seconds !== null && seconds <= MAX_JITTER_S) return seconds;
  file.problem(text.start, `"${text.value}" is no jitter`, 'a duration up to 24h, like 20m');
  return null;
}

const MOST_MADE_UP = 50;

/** @returns undefined when it is not given */
function readCatchUp({ file }: FileContext, entry: YamlEntry | undefined): CatchUp | null | undefined {
  if (!entry) return undefined;
  const { value: node } = entry;
  const given = node.kind === 'scalar' ? node.value : null;
  if (given === 'skip' || given === 'one') return given;
  if (given === 'all') return MOST_MADE_UP;
  if (typeof given === 'number' && Number.isInteger(given) && given >= 1 && given <= MOST_MADE_UP) return given;
  file.problem(
    node.start,
    'catch_up is skip, one, all, or how many at most',
    `skip lets go what was missed, one makes up for it once, all makes up for each (the newest ${MOST_MADE_UP})`,
  );
  return null;
}

const MAX_WINDOW_S = 24 * 3600;

/** `coalesce: {key: "${{ … }}", window: 2m}` */
export function compileCoalesce(context: FileContext, node: YamlNode, scope: Scope): CoalesceProgram | null {
  const { file } = context;
  const keys = readMap(file, node, 'coalesce', { key: 'required', window: 'required' });
  const keyEntry = keys?.get('key');
  const windowEntry = keys?.get('window');
  const key =
    keyEntry && readText(file, keyEntry.value, 'coalesce.key')
      ? compileTemplate(context, keyEntry.value, { ...scope, lookups: null })
      : null;
  if (key?.kind === 'constant' && keyEntry) {
    const meant = looksLikeExpression(String(key.value));
    if (meant)
      file.newProblem(
        keyEntry.value.start,
        `coalesce.key: ${meant.what} is no expression, so all runs have this one key`,
        `write ${meant.write}`,
      );
    else
      file.warn(
        keyEntry.value.start,
        'coalesce.key is the same for all runs: those of all repositories become one',
        'key: "${{ repo.full_name }}"',
      );
  }
  if (key?.kind === 'secret' && keyEntry)
    file.problem(keyEntry.value.start, 'a secret stands alone, in a parameter that is marked secret');
  const window = windowEntry && readDurationText(file, windowEntry.value, 'coalesce.window', '2m');
  if (!window) return null;
  const seconds = parseDuration(window.value);
  if (seconds === null || seconds < 1 || seconds > MAX_WINDOW_S) {
    file.problem(window.start, `"${window.value}" is no window`, 'a duration up to 24h, like 2m');
    return null;
  }
  return key && { key, windowMs: seconds * 1000, position: file.position(node.start) };
}

const MAX_EFFECTS = 1000;

export function compileLimits({ file }: FileContext, node: YamlNode): Limits | null {
  const keys = readMap(file, node, 'limits', { effects_per_run: 'required', runs_per_hour: 'optional' }, 'limits');
  const effects = keys?.get('effects_per_run');
  const runs = keys?.get('runs_per_hour');
  const effectsPerRun = effects ? readWhole(file, effects.value, 'limits.effects_per_run', 1, MAX_EFFECTS) : null;
  const runsPerHour = runs ? readWhole(file, runs.value, 'limits.runs_per_hour', 1, 10_000) : null;
  return effectsPerRun === null ? null : { effectsPerRun, runsPerHour };
}

/** Of a policy: what one repository may want, and what one pass over all of them. */
export function compilePolicyLimits({ file }: FileContext, node: YamlNode): Limits | null {
  const keys = readMap(file, node, 'limits', {
    effects_per_run: 'optional',
    runs_per_hour: 'optional',
    effects_per_plan: 'optional',
    percent_of_subjects: 'optional',
  });
  if (!keys) return null;
  const read = (key: string, max: number): number | null => {
    const entry = keys.get(key);
    return entry ? readWhole(file, entry.value, `limits.${key}`, 1, max) : null;
  };
  return {
    effectsPerRun: read('effects_per_run', MAX_EFFECTS) ?? MAX_EFFECTS,
    runsPerHour: read('runs_per_hour', 10_000),
    effectsPerPlan: read('effects_per_plan', 100_000),
    percentOfSubjects: read('percent_of_subjects', 100),
  };
}
