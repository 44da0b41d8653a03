import type { Known } from '../../forge/looks.js';
import { isFinding, warning, type CheckResult } from './check.js';
import { saw } from './looks.js';

/** What is looked at as one, as sentences name it, and how often its audit does so. */
export const LOOKED = {
  server: { what: 'the server', everyMs: 24 * 3_600_000 },
  slashes: { what: 'the proxy before the forge', everyMs: 24 * 3_600_000 },
  token: { what: 'the token and its account', everyMs: 24 * 3_600_000 },
  identity: { what: 'the number of the organization', everyMs: 24 * 3_600_000 },
  rights: { what: 'the rights of the account in the organization', everyMs: 24 * 3_600_000 },
  names: { what: 'what the rules name', everyMs: 24 * 3_600_000 },
  hooks: { what: 'the webhooks of the organization', everyMs: 3_600_000 },
} as const satisfies Readonly<Record<string, { readonly what: string; readonly everyMs: number }>>;
export type LookedPart = keyof typeof LOOKED;

/** A line about what was seen, or about the look itself. */
export interface AgedResult extends CheckResult {
  /** Null = it is told from what the bot itself has. */
  readonly ageS: number | null;
}

/** What is older than two periods of its audit may have changed since: it is not called good any more. */
export function isStale(at: Date, part: LookedPart, now: Date): boolean {
  return now.getTime() - at.getTime() > 2 * LOOKED[part].everyMs;
}

/**
 * Lines about what was seen, with the age of the look. A look that was never made, that failed, or that is older than twice the period of its audit is a
 * finding of its own; of the lines of an old one, the findings alone stay. Pure.
 * @param lines about what was seen; not asked for where nothing was
 */
export function withAge<Seen>(
  part: LookedPart,
  { look, failure }: Known<Seen>,
  now: Date,
  lines: (seen: Seen) => readonly CheckResult[],
): AgedResult[] {
  const { what } = LOOKED[part];
  const failed = failure
    ? [
        {
          ...warning(saw('look.answer.failed', { what, because: failure.message, at: day(failure.at) }), fresh),
          ageS: age(failure.at, now),
        },
      ]
    : [];
  if (look === null)
    return failed.length > 0 ? failed : [{ ...warning(saw('look.age.never', { what }), fresh), ageS: null }];
  const ageS = age(look.at, now);
  const seen = lines(look.seen).map((line) => ({ ...line, ageS }));
  if (!isStale(look.at, part, now)) return [...seen, ...failed];
  return [...seen.filter(isFinding), { ...stale(part, look.at), ageS }, ...failed];
}

/** That nobody looked for too long. */
export function stale(part: LookedPart, since: Date): CheckResult {
  return warning(
    saw('look.age.stale', { what: LOOKED[part].what, since: day(since) }),
    fresh,
    'type: forgehand housekeeping list (it says when the audits ran last, and why they failed); housekeeping.audits in the config must not be false',
  );
}

const fresh = 'type: forgehand doctor --fresh';

function age(at: Date, now: Date): number {
  return Math.max(0, Math.round((now.getTime() - at.getTime()) / 1000));
}

function day(at: Date): string {
  return `${at.toISOString().replace('T', ' ').slice(0, 16)} UTC`;
}
