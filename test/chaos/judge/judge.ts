import { COUNTED, isEffectOf, keyOfRequest, type Counted } from '../effect-key.js';
import type { Blow } from '../rig/slot.js';
import type { Call } from './read-ledger.js';

/** One effect that a delivery asks for. */
export interface Wanted {
  readonly operation: Counted;
  readonly key: string;
}

export const keyText = ({ operation, key }: Wanted): string => `${operation} ${key}`;

export interface Verdict {
  readonly wanted: number;
  /** Wanted keys with an effect. */
  readonly made: number;
  /** Wanted, and the ledger has no effect: what became of them the cross counts tell. */
  readonly missing: readonly string[];
  /** Keys with more than one effect. */
  readonly doubled: readonly string[];
  /** Effects that nobody asked for. */
  readonly phantom: readonly string[];
  /** Requests that were made again although the first had had its effect; harmless where the values are absolute. */
  readonly repeated: readonly string[];
  /** When each key had its effect. */
  readonly madeAt: ReadonlyMap<string, number>;
}

/** Operations that set values: a second call with equal values changes nothing and tells nobody. */
const ABSOLUTE: readonly Counted[] = ['updateUserSettings', 'updateOrgVariable'];

/** What the forge saw against what was asked for. @param names keys by what requests name in their place (`REPO#NUMBER` of a pull request) */
export function judge(
  calls: readonly Call[],
  wanted: readonly Wanted[],
  mayAlso: (key: string) => boolean,
  names: ReadonlyMap<string, string> = new Map(),
): Verdict {
  const effects = new Map<string, number[]>();
  for (const call of calls) {
    const operation = call.operation as Counted;
    if (!(COUNTED as readonly string[]).includes(operation) || !isEffectOf(operation, call.applied)) continue;
    const key = keyOfRequest(operation, call.path, call.body, call.applied) ?? '';
    const text = keyText({ operation, key: names.get(key) ?? key });
    effects.set(text, [...(effects.get(text) ?? []), Date.parse(call.appliedAt ?? call.receivedAt)]);
  }
  const asked = new Set(wanted.map(keyText));
  const isAbsolute = (text: string): boolean => ABSOLUTE.some((name) => text.startsWith(`${name} `));
  const twice = [...effects].filter(([, times]) => times.length > 1).map(([text]) => text);
  return {
    wanted: asked.size,
    made: [...asked].filter((text) => effects.has(text)).length,
    missing: [...asked].filter((text) => !effects.has(text)),
    doubled: twice.filter((text) => !isAbsolute(text)),
    repeated: twice.filter(isAbsolute),
    phantom: [...effects.keys()].filter((text) => !asked.has(text) && !mayAlso(text)),
    madeAt: new Map([...effects].map(([text, times]) => [text, Math.min(...times)])),
  };
}

export interface Phases {
  readonly kills: number;
  /** Kills while a write of that process was at the forge, or on its way back. */
  readonly betweenSentAndAnswer: number;
  /** Writes that were so caught, and had their effect. */
  readonly caughtWithEffect: number;
  readonly caught: number;
}

/** A signal comes through within a few milliseconds of the moment written down. */
const SIGNAL_MS = 20;

/** Kills by phase, by the ledger: was a write of the killed process received and not answered yet? */
export function phasesOf(blows: readonly Blow[], calls: readonly Call[]): Phases {
  const kills = blows.filter(({ signal }) => signal === 'SIGKILL');
  const writes = calls.filter(({ method }) => method !== 'GET');
  const byHost = new Map<string, Call[]>();
  for (const call of writes) byHost.set(call.host ?? '', [...(byHost.get(call.host ?? '') ?? []), call]);
  let between = 0;
  const caught = new Set<Call>();
  for (const { at, host } of kills) {
    const inFlight = (byHost.get(host) ?? []).filter(
      (call) =>
        Date.parse(call.receivedAt) <= at + SIGNAL_MS &&
        Date.parse(call.receivedAt) > at - 60_000 &&
        Date.parse(call.answeredAt ?? call.goneAt ?? '9999') >= at,
    );
    // The forge may have answered before word of the death came through the proxy: nobody read that.
    const open = inFlight.filter(({ answeredAt }) => answeredAt === null || Date.parse(answeredAt) > at + SIGNAL_MS);
    if (open.length > 0) between += 1;
    for (const call of open) caught.add(call);
  }
  return {
    kills: kills.length,
    betweenSentAndAnswer: between,
    caught: caught.size,
    caughtWithEffect: [...caught].filter(({ applied }) => applied.length > 0).length,
  };
}

/** Milliseconds from each kill of a process to its first call afterwards, restart included. */
export function resumeTimes(blows: readonly Blow[], calls: readonly Call[]): number[] {
  return blows
    .filter(({ signal }) => signal === 'SIGKILL')
    .flatMap(({ at, host }) => {
      const next = calls.find((call) => call.host === host && Date.parse(call.receivedAt) > at + 100);
      return next ? [Date.parse(next.receivedAt) - at] : [];
    });
}
