import type { Clock } from '../../core/clock.js';
import { ForgeError } from '../../core/errors.js';
import type { Forges } from './forges.js';

/** Who belongs to an organization. */
export interface Members {
  /** Null = the forge does not tell, or not us. */
  isMember(forge: string, org: string, login: string): Promise<boolean | null>;
}

const KEPT_MS = 600_000;
const KEPT_AT_MOST = 10_000;

/** Asks the forge, and keeps each answer for ten minutes. */
export class KnownMembers implements Members {
  private readonly kept = new Map<string, { readonly answer: boolean | null; readonly atMs: number }>();

  constructor(
    private readonly forges: Forges,
    private readonly clock: Clock,
  ) {}

  async isMember(forge: string, org: string, login: string): Promise<boolean | null> {
    const key = JSON.stringify([forge, org, login.toLowerCase()]);
    const known = this.kept.get(key);
    if (known && this.clock.monotonicMs() - known.atMs < KEPT_MS) return known.answer;
    const answer = await this.ask(forge, org, login);
    if (answer === undefined) return null;
    if (this.kept.size >= KEPT_AT_MOST) this.kept.clear();
    this.kept.set(key, { answer, atMs: this.clock.monotonicMs() });
    return answer;
  }

  /** Undefined = it could not be asked now. */
  private async ask(forge: string, org: string, username: string): Promise<boolean | null | undefined> {
    const access = this.forges.get(forge, org);
    if (!access?.offers('checkOrgMember')) return null;
    try {
      await access.client.checkOrgMember({ org, username });
      return true;
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      if (error.kind === 'refused' && error.facts.status === 404) return false;
      // A redirect to the public members: we are no member ourselves and are not told.
      return error.kind === 'not-offered' || error.kind === 'moved' || error.kind === 'refused' ? null : undefined;
    }
  }
}
