import type { Alerts } from '../core/alerts.js';
import type { Clock } from '../core/clock.js';
import { ForgeError } from '../core/errors.js';
import type { Logger } from '../core/logger.js';
import type { Forges } from './forges.js';

export interface ForgeHealthDeps {
  readonly forges: Forges;
  readonly clock: Clock;
  readonly alerts: Alerts;
  readonly logger: Logger;
}

/** So many calls in a row without an answer open the breaker. */
const SILENCES = 8;
const FIRST_PAUSE_MS = 10_000;
const LAST_PAUSE_MS = 120_000;
/** Between two looks whether the credentials are accepted again: 5 s, 10 s, … */
const FIRST_PROBE_MS = 5_000;
const LAST_PROBE_MS = 300_000;

interface State {
  silences: number;
  /** Milliseconds, monotonic; 0 = closed. */
  openUntilMs: number;
  pauseMs: number;
  /** Credentials were refused by a read that needs nothing but them. */
  isLockedOut: boolean;
  nextProbeMs: number;
  probeMs: number;
  probing: Promise<Credentials> | null;
}

export type Credentials = 'accepted' | 'refused' | 'unclear';

/**
 * One breaker per forge and process, so that a thousand intents do not each find out that a forge is away, or that a token was revoked.
 * While it is open intents stay planned and burn no try; one alert tells.
 */
export class ForgeHealth {
  private readonly states = new Map<string, State>();

  constructor(private readonly deps: ForgeHealthDeps) {}

  /** Why nothing should be sent to this forge now, and for how long; null = go ahead. */
  holds(forge: string): { reason: string; againInMs: number } | null {
    const state = this.of(forge);
    const now = this.deps.clock.monotonicMs();
    if (state.isLockedOut) {
      if (now >= state.nextProbeMs) void this.checkCredentials(forge);
      return { reason: `forge ${forge} does not accept our credentials; nothing is sent until it does`, againInMs: FIRST_PROBE_MS };
    }
    if (state.openUntilMs > now)
      return { reason: `forge ${forge} gave no answer to ${SILENCES} calls in a row; nothing is sent for a while`, againInMs: state.openUntilMs - now };
    return null;
  }

  /** A call was answered, whatever the answer. */
  answered(forge: string): void {
    const state = this.of(forge);
    if (state.openUntilMs > 0) this.deps.alerts.resolve(`forge.silent/${forge}`);
    Object.assign(state, { silences: 0, openUntilMs: 0, pauseMs: FIRST_PAUSE_MS });
  }

  /** A call failed. Only what says that the forge is away counts. */
  failed(forge: string, error: unknown): void {
    if (!isSilence(error)) {
      if (error instanceof ForgeError && error.facts.status !== undefined) this.answered(forge);
      return;
    }
    const state = this.of(forge);
    state.silences += 1;
    if (state.silences < SILENCES) return;
    const now = this.deps.clock.monotonicMs();
    // Calls that were under way when it opened tell nothing new.
    if (state.openUntilMs > now) return;
    state.openUntilMs = now + state.pauseMs;
    state.pauseMs = Math.min(state.pauseMs * 2, LAST_PAUSE_MS);
    this.deps.logger.warn({ forge, silences: state.silences, forMs: state.openUntilMs - now }, 'breaker of the forge opened');
    this.deps.alerts.raise(`forge.silent/${forge}`, 'the forge gives no answers; intents stay planned', { forge });
  }

  /**
   * A 401 may mean a revoked token, or only that this one thing is refused (op 7 answers a blocked target so): one read that needs nothing
   * but the credentials tells. Many askers share one read. `refused` closes the connection until the credentials are accepted again.
   */
  async checkCredentials(forge: string): Promise<Credentials> {
    const state = this.of(forge);
    state.probing ??= this.probe(forge).finally(() => (state.probing = null));
    const found = await state.probing;
    const now = this.deps.clock.monotonicMs();
    if (found === 'refused') {
      if (!state.isLockedOut) {
        this.deps.logger.error({ forge }, 'credentials are not accepted any more');
        this.deps.alerts.raise(`forge.locked-out/${forge}`, 'the forge does not accept our credentials any more; intents stay planned until it does', {
          forge,
        });
      }
      state.probeMs = state.isLockedOut ? Math.min(state.probeMs * 2, LAST_PROBE_MS) : FIRST_PROBE_MS;
      state.isLockedOut = true;
      state.nextProbeMs = now + state.probeMs;
    } else if (found === 'accepted') {
      if (state.isLockedOut) this.deps.logger.info({ forge }, 'credentials are accepted again');
      state.isLockedOut = false;
      this.deps.alerts.resolve(`forge.locked-out/${forge}`);
    } else state.nextProbeMs = now + state.probeMs;
    return found;
  }

  private async probe(forge: string): Promise<Credentials> {
    const access = this.deps.forges.get(forge);
    if (!access) return 'unclear';
    try {
      // Op 11 needs nothing but to be somebody; a forge of the 20 operations has no shorter way to ask.
      if (access.offers('getSelf')) await access.client.getSelf({});
      else await access.client.listMyJobs({ limit: 1 });
      return 'accepted';
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      if (error.facts.status === 401) return 'refused';
      // It knows us, and says that we may not ask this.
      return error.kind === 'refused' ? 'accepted' : 'unclear';
    }
  }

  private of(forge: string): State {
    const known = this.states.get(forge);
    if (known) return known;
    const state: State = { silences: 0, openUntilMs: 0, pauseMs: FIRST_PAUSE_MS, isLockedOut: false, nextProbeMs: 0, probeMs: FIRST_PROBE_MS, probing: null };
    this.states.set(forge, state);
    return state;
  }
}

/** Our own doing says nothing about the forge. */
const OURS = new Set(['stopped', 'stood-still', 'argument', 'paused']);

function isSilence(error: unknown): boolean {
  if (!(error instanceof ForgeError) || OURS.has(error.facts.detail ?? '')) return false;
  if (error.kind === 'not-sent') return true;
  return error.kind === 'unknown' && (error.facts.status === undefined || error.facts.status >= 502);
}
