import { randomBytes } from 'node:crypto';
import type { ActStore } from '../../api/act-store.port.js';
import { LINK_S, linkHash } from '../../api/operations/console.js';
import type { Control } from '../../api/operations/index.js';
import type { KeptSession, SessionStore } from '../../api/session-store.port.js';
import { isPlainHttp, type ConsoleConfig } from '../../config/app-config.js';
import { ACT_ID } from '../../core/audit-chain.js';
import type { Clock } from '../../core/clock.js';
import { hashOf, newId } from '../../core/ids.js';
import type { Logger } from '../../core/logger.js';
import { OPERATOR_SCOPES, operatorState } from '../../core/operator-scopes.js';
import { asOperator, visibilityOf, type ControlCaller } from '../../core/operators.js';
import type { Visibility } from '../../core/visibility.js';
import type { PersonLogin, PersonNow } from '../login/login.port.js';

const HOUR_MS = 3_600_000;
/** A session that was not used for this long is over. */
const IDLE_MS = 8 * HOUR_MS;
/** However much it is used. A person's rights are asked of the forge all the time; those of the others are not. */
const LIFE_MS: Readonly<Record<KeptSession['kind'], number>> = {
  local: 24 * HOUR_MS,
  operator: 24 * HOUR_MS,
  person: 7 * 24 * HOUR_MS,
};
/** Written this often at most. */
const SEEN_EVERY_MS = 60_000;
const LOGIN_MS = 10 * 60_000;
/** Of one person; one more ends the session that was not used for longest. */
const MOST_SESSIONS = 20;

export interface LoggedIn {
  readonly session: KeptSession;
  readonly caller: ControlCaller;
}

/** As far as it matters to whom a session belongs. */
interface Acting {
  readonly session: Pick<KeptSession, 'id' | 'kind' | 'name' | 'grant'>;
  readonly caller: ControlCaller;
}

interface SessionDeps {
  readonly store: SessionStore;
  /** Logins and logouts are links of the audit chain. */
  readonly acts: Pick<ActStore, 'begin' | 'end'>;
  readonly control: () => Control | null;
  readonly login: PersonLogin;
  readonly config: Pick<ConsoleConfig, 'operators' | 'publicUrl'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Sessions of the Console: how they begin, whose rights they have now, and how they end. */
export class Sessions {
  /**
   * Part of each secret on plain http. While this process is away, another program of the machine can listen on its port and is sent the cookies:
   * they are worth nothing to the next process. Empty with https, where nobody else has the certificate.
   */
  private readonly ofProcess: string;
  private readonly since: Date;

  constructor(private readonly deps: SessionDeps) {
    this.ofProcess = isPlainHttp(deps.config) ? newToken() : '';
    this.since = deps.clock.now();
  }

  /** End the sessions of processes before this one, where none outlives its process. */
  async endForeign(): Promise<void> {
    if (this.ofProcess === '') return;
    const { store, clock } = this.deps;
    for (const { id, madeAt } of await store.list()) if (madeAt < this.since) await store.end(id, clock.now());
  }

  /** Always under a new secret: one that was there before the login is worth nothing after it. @returns what the cookie holds */
  async begin(who: Pick<KeptSession, 'kind' | 'name' | 'grant'>, agent: string | undefined): Promise<string> {
    const { store, clock, logger } = this.deps;
    const token = newToken();
    const now = clock.now();
    const session: KeptSession = {
      ...who,
      id: newId(),
      agent: (agent ?? '').replace(/[^\x20-\x7e]/g, '?').slice(0, 120),
      madeAt: now,
      seenAt: now,
      endsAt: new Date(now.getTime() + LIFE_MS[who.kind]),
      endedAt: null,
    };
    await this.makeRoom(session);
    await this.record('login', session, () => store.add(session, this.hashOf(token)));
    logger.info({ session: session.id, by: who.name, kind: who.kind }, 'console.logged-in');
    return token;
  }

  /**
   * Whose session this is, with the rights of now.
   * @param fresh before a write: rights that a forge gives are read at once
   */
  async find(token: string | null, { fresh }: { fresh: boolean }): Promise<LoggedIn | null> {
    if (token === null) return null;
    const { store, clock } = this.deps;
    const session = await store.byTokenHash(this.hashOf(token));
    if (!session || !this.lives(session)) return null;
    const caller = await this.callerOf(session, fresh);
    if (!caller) return null;
    const now = clock.now();
    if (now.getTime() - session.seenAt.getTime() > SEEN_EVERY_MS) await store.markSeen(session.id, now);
    return { session, caller };
  }

  /** What the holders of these tokens may see now; without those who may see nothing any more. To look on is no use of a session. */
  async visibilitiesOf(tokens: readonly string[]): Promise<ReadonlyMap<string, Visibility>> {
    const sessionsByHash = await this.deps.store.byTokenHashes(tokens.map((token) => this.hashOf(token)));
    const callers = new Map<string, Promise<ControlCaller | null>>();
    const visibilities = await Promise.all(
      tokens.map(async (token): Promise<Array<[string, Visibility]>> => {
        const session = sessionsByHash.get(this.hashOf(token));
        if (!session || !this.lives(session)) return [];
        // Windows of one person share the answer.
        const whose = personOf(session);
        const pendingCaller = callers.get(whose) ?? this.callerOf(session, false);
        callers.set(whose, pendingCaller);
        const caller = await pendingCaller;
        return caller?.scopes.includes('read') ? [[token, visibilityOf(caller, 'read')]] : [];
      }),
    );
    return new Map(visibilities.flat());
  }

  /** Those of the same person, or of everybody for who sees everything. */
  async list(of: Acting): Promise<KeptSession[]> {
    const all = (await this.deps.store.list()).filter((session) => this.lives(session));
    return of.caller.grants === null ? all : all.filter((session) => isSamePerson(session, of.session));
  }

  /** Log a person out of a browser. @returns whether the session is one of this person */
  async endOwn(id: string, by: Acting['session']): Promise<boolean> {
    const ownSession = (await this.deps.store.list()).find((session) => session.id === id && isSamePerson(session, by));
    if (!ownSession) return false;
    await this.logOut(ownSession);
    return true;
  }

  /** End the session of this cookie, if it has one. */
  async endOf(token: string | null): Promise<void> {
    const session = token === null ? null : await this.deps.store.byTokenHash(this.hashOf(token));
    if (!session || session.endedAt) return;
    await this.logOut(session);
    await this.sweep();
  }

  private async logOut(session: KeptSession): Promise<void> {
    const ended = await this.record('logout', session, () => this.deps.store.end(session.id, this.deps.clock.now()));
    if (ended) this.deps.logger.info({ session: session.id, by: session.name }, 'console.logged-out');
  }

  /** Like an order of the control API: what cannot be recorded is not done. */
  private async record<Answer>(
    operation: 'login' | 'logout',
    { id: session, kind, name }: Pick<KeptSession, 'id' | 'kind' | 'name'>,
    work: () => Promise<Answer>,
  ): Promise<Answer> {
    const { acts, logger } = this.deps;
    const id = `${ACT_ID}${newId()}`;
    const byKind = kind === 'local' ? 'socket' : kind;
    await acts.begin({ id, by: name, byKind, operation, org: null, about: { session }, reason: null });
    const answer = await work();
    // It was done, whatever the store says now.
    await acts.end(id, 'done').catch(() => logger.error({ act: id, outcome: 'done' }, 'act.outcome-lost'));
    return answer;
  }

  /** Forget what is over; a person whose last session has ended takes the grant along. */
  async sweep(): Promise<void> {
    const { store, clock, login } = this.deps;
    const now = clock.now();
    for (const grant of await store.sweep(now, new Date(now.getTime() - IDLE_MS))) await login.end(grant);
  }

  /** Keep something for a browser that goes to a forge to log in. @returns what its cookie holds */
  async keepLogin(content: string): Promise<string> {
    const token = newToken();
    const endsAt = new Date(this.deps.clock.now().getTime() + LOGIN_MS);
    await this.deps.store.addTicket('login', this.hashOf(token, 'login'), content, endsAt);
    return token;
  }

  async takeLogin(token: string | null): Promise<string | null> {
    return token === null
      ? null
      : this.deps.store.takeTicket('login', this.hashOf(token, 'login'), this.deps.clock.now());
  }

  /** Use a link. On plain http one that was made before this process may have been opened at somebody else's port. @returns whom it logs in */
  async takeLink(code: string): Promise<string | null> {
    const { store, clock } = this.deps;
    const [now, first] = [clock.now(), new Date(this.since.getTime() + LINK_S * 1000 - 1)];
    return store.takeTicket('link', linkHash(code), this.ofProcess !== '' && first > now ? first : now);
  }

  private async makeRoom(of: KeptSession): Promise<void> {
    const { store, clock } = this.deps;
    const own = (await store.list()).filter((session) => personOf(session) === personOf(of));
    for (const { id } of own.slice(MOST_SESSIONS - 1)) await store.end(id, clock.now());
  }

  private hashOf(token: string, of: 'session' | 'login' = 'session'): string {
    return hashOf(`console ${of}`, ...(this.ofProcess === '' ? [] : [this.ofProcess]), token);
  }

  private lives({ endedAt, endsAt, seenAt }: KeptSession): boolean {
    const now = this.deps.clock.now();
    return endedAt === null && endsAt > now && now.getTime() - seenAt.getTime() < IDLE_MS;
  }

  private async callerOf({ kind, name, grant }: KeptSession, fresh: boolean): Promise<ControlCaller | null> {
    switch (kind) {
      case 'local':
        return { kind: 'socket', name, login: null, scopes: OPERATOR_SCOPES, grants: null };
      case 'operator':
        return this.operatorOf(grant ?? '');
      case 'person': {
        const person = await this.deps.login.callerOf(grant ?? '', { fresh });
        return person && this.asSiteOperator(person);
      }
    }
  }

  /** A token that was revoked, or is over, takes its sessions along. */
  private async operatorOf(hash: string): Promise<ControlCaller | null> {
    const operator = (await this.deps.control()?.operatorOf(hash)) ?? null;
    if (!operator || operatorState(operator, this.deps.clock.now()) !== 'active') return null;
    const { name, login, scopes } = operator;
    return { kind: 'operator', name, login, scopes, grants: null };
  }

  private asSiteOperator({ caller, forge, userId }: PersonNow): ControlCaller {
    const names = [caller.name.replace(/^person:/, ''), `id:${userId}@${forge}`];
    const isOne = names.some((name) => this.deps.config.operators.includes(name.toLowerCase()));
    return isOne ? asOperator(caller) : caller;
  }
}

function isSamePerson(one: KeptSession, other: Acting['session']): boolean {
  return one.id === other.id || (one.kind === other.kind && one.grant !== null && one.grant === other.grant);
}

function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Whose share of the Console a session takes: an operator may have several tokens under one name. */
export function personOf({ kind, name, grant }: Pick<KeptSession, 'kind' | 'name' | 'grant'>): string {
  return `${kind} ${kind === 'person' ? (grant ?? name) : name}`;
}
