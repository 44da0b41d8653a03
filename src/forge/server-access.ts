import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { AppConfig, type AuthConfig } from '../config/app-config.js';
import { credentialsOf } from '../config/credentials.js';
import { ofOrgs } from '../config/live-config.js';
import { Clock } from '../core/clock.js';
import { ForgeError } from '../core/errors.js';
import { hashOf } from '../core/ids.js';
import { count, fields, maybeText, text, texts, word, type Shape } from '../core/schema.js';
import type { Secret } from '../core/secret.js';
import type { AccessToken } from '../core/objects/accounts.js';
import { isLostSlash, readVersion, type ForgeCapabilities } from './connected-forges.js';
import { type ForgeClient, listAll, orNull } from './forge-client.js';
import { type Known, type Look, type LookedAt, type LookKind, Looks, youngerThan } from './looks.js';
import { operationNames, type OperationName } from './operations.js';
import { ask, NOBODY, type ProbeAnswer } from './probe.js';

/** What was found out about a forge and our standing there. */
export const serverAccess = z.object({
  product: word<NonNullable<ForgeCapabilities['product']>>().nullable(),
  version: maybeText,
  self: z.object({ id: maybeText, login: text }).nullable(),
  isSiteAdmin: z.boolean().nullable(),
  clockAheadMs: count.nullable(),
  /** Null where the forge does not tell its page sizes. */
  pages: z.object(fields('default most', count.nullable())).nullable(),
  /** Null with a password, and where the forge does not tell what the token may do. */
  scopes: texts.nullable(),
});
export type ServerAccess = Shape<typeof serverAccess>;

/** What a forge answered about an operation under one of our tokens, and when: an ISO text. */
export type OperationAnswers = Readonly<
  Partial<Record<OperationName, { readonly is: ProbeAnswer; readonly at: string }>>
>;

/** A token of the bot's account, without the token itself. */
export type SeenToken = Pick<AccessToken, 'id' | 'name' | 'created_at' | 'last_used_at'>;

/** The tokens of the bot's account. */
export interface SeenTokens {
  /** The one in use; null where it cannot be told from the others. */
  readonly own: SeenToken | null;
  readonly others: readonly SeenToken[];
}

/** What the forge shows of the bot's account. */
export interface SeenAccount {
  /** Null where we have none, or may not see them. */
  readonly tokens: SeenTokens | null;
  /** Organizations that it is a member of, in lower case; null where nobody asked, or the forge does not tell. */
  readonly organizations: readonly string[] | null;
}

/** Whether a proxy keeps paths with `%2F` from the forge; null = it cannot be told. */
export interface SeenSlashes {
  readonly areLost: boolean | null;
}

/** What is known of a forge under one of its credentials. */
export interface KnownOfForge {
  readonly server: Known<ServerAccess>;
  readonly operations: Known<OperationAnswers>;
  readonly account: Known<SeenAccount>;
  readonly slashes: Known<SeenSlashes>;
}

/** A forge that was reached, under one of its credentials. */
export interface ReachedForge {
  readonly credential: string;
  readonly client: ForgeClient;
  readonly capabilities: ForgeCapabilities;
}

/** Names credentials without telling them; empty where this process does not have them. Who signs in with a password may do what the account may, whatever the password is. */
function underOf(auth: AuthConfig): string {
  if (auth.type === 'token' && auth.token.isWithheld) return '';
  const parts = auth.type === 'token' ? ['token', auth.token.reveal()] : ['password', auth.username];
  return hashOf(...parts).slice(0, 16);
}

/** Learns and keeps what a forge is, and what our token may do there; over restarts, for all processes, and while it is away. */
@Injectable()
export class ServerAccessReader {
  /** `under` of each credentials, and its token; null with a password. */
  private readonly credentials: () => ReadonlyMap<string, { readonly under: string; readonly token: Secret | null }>;
  /** Where this process compared what is kept with what the forge told when it was reached. */
  private readonly confirmed = new WeakSet<ForgeCapabilities>();
  /** As this process saw them last. */
  private readonly answers = new Map<string, OperationAnswers>();

  constructor(
    private readonly looks: Looks,
    config: AppConfig,
    private readonly clock: Clock,
  ) {
    this.credentials = ofOrgs(
      config,
      (orgs) =>
        new Map(
          credentialsOf({ forges: config.forges, orgs }).map(({ credential, auth }) => [
            credential,
            { under: underOf(auth), token: auth.type === 'token' ? auth.token : null },
          ]),
        ),
    );
  }

  /** Under what something is known of an organization that uses these credentials. */
  underOf(credential: string): string {
    return this.credentials().get(credential)?.under ?? '';
  }

  async read(credential: string): Promise<KnownOfForge> {
    const read = <Seen>(kind: LookKind): Promise<Known<Seen>> => this.looks.read(this.at(credential, kind));
    return {
      server: await read('server'),
      operations: await read('operations'),
      account: await read('account'),
      slashes: await read('slashes'),
    };
  }

  /** Of all credentials, with one question to the store for each part. */
  async all(): Promise<(credential: string) => KnownOfForge> {
    const [server, operations, account, slashes] = [
      await this.looks.all<ServerAccess>('server'),
      await this.looks.all<OperationAnswers>('operations'),
      await this.looks.all<SeenAccount>('account'),
      await this.looks.all<SeenSlashes>('slashes'),
    ];
    return (credential) => {
      const at = { forge: credential, subject: '', under: this.underOf(credential) };
      return { server: server(at), operations: operations(at), account: account(at), slashes: slashes(at) };
    };
  }

  /**
   * Where the version or the account changed, what was known of the operations is forgotten.
   * @throws ForgeError when the forge cannot be asked now
   */
  async learn(forge: ReachedForge, olderThanMs: number): Promise<ServerAccess> {
    const { credential, capabilities } = forge;
    const isConfirmed = this.confirmed.has(capabilities);
    const isYoung = youngerThan(olderThanMs);
    const { seen } = await this.looks.look<ServerAccess>(
      this.at(credential, 'server'),
      (look, began) => isYoung(look, began) && (isConfirmed || isSameServer(look.seen, capabilities)),
      async (before) => {
        const now = await this.readServer(forge);
        if (before && !isSameServer(before, now)) await this.looks.forget(this.at(credential, 'operations'));
        return now;
      },
    );
    if (!isConfirmed) await this.confirm(forge);
    return seen;
  }

  /**
   * Asks about operations. What cannot be asked now is learned when it is used.
   * @param names those that have to be asked about, by what is known
   */
  async ask(
    { credential, client }: ReachedForge,
    names: (answers: OperationAnswers) => readonly OperationName[],
  ): Promise<OperationAnswers> {
    return this.change(
      credential,
      (before) => names(before).length === 0,
      async (before) => {
        const answers = { ...before };
        for (const name of names(before)) {
          const is = await ask(client, name).catch(ifNotAsked);
          if (is !== null) answers[name] = { is, at: this.clock.now().toISOString() };
        }
        return answers;
      },
    );
  }

  /** A call was answered so. @returns whether that is something else than what was known */
  async note(credential: string, name: OperationName, is: ProbeAnswer): Promise<boolean> {
    const before = this.answers.get(credential)?.[name]?.is;
    // Most calls say nothing new; what was never asked about is worth keeping where it does not work.
    if (before === is || before === 'not-asked' || (before === undefined && is === 'there')) return false;
    const at = this.clock.now().toISOString();
    await this.change(
      credential,
      (answers) => answers[name]?.is === is,
      async (answers) => ({ ...answers, [name]: { is, at } }),
    );
    return true;
  }

  /**
   * The tokens of our account (op 16), and where it is a member.
   * @param asksMembership whether several organizations could be reached
   * @throws ForgeError when the forge cannot be asked now
   */
  async lookAtAccount(forge: ReachedForge, asksMembership: boolean, olderThanMs: number): Promise<void> {
    const { credential, client, capabilities } = forge;
    await this.looks.look<SeenAccount>(this.at(credential, 'account'), youngerThan(olderThanMs), async () => {
      const mine =
        asksMembership && capabilities.offers('listMyOrgs') ? await orNull(listAll(client, 'listMyOrgs', {})) : null;
      const names = mine?.map(({ name, username }) => (name ?? username ?? '').toLowerCase()) ?? null;
      return { tokens: await this.readTokens(forge), organizations: names };
    });
  }

  /** Asks about a branch with a slash of somebody who cannot be there: a forge says so as JSON. @throws ForgeError */
  async lookAtSlashes({ credential, client }: ReachedForge, olderThanMs: number): Promise<void> {
    await this.looks.look<SeenSlashes>(this.at(credential, 'slashes'), youngerThan(olderThanMs), async () => {
      try {
        await client.getBranch({ owner: NOBODY, repo: NOBODY, branch: 'a/b' });
        return { areLost: false };
      } catch (error) {
        if (isLostSlash(error)) return { areLost: true };
        if (error instanceof ForgeError && error.kind === 'refused') return { areLost: false };
        if (error instanceof ForgeError && error.kind === 'not-offered') return { areLost: null };
        throw error;
      }
    });
  }

  private at(credential: string, kind: LookKind): LookedAt {
    return { forge: credential, subject: '', kind, under: this.underOf(credential) };
  }

  private async change(
    credential: string,
    isEnough: (answers: OperationAnswers) => boolean,
    ask: (answers: OperationAnswers) => Promise<OperationAnswers>,
  ): Promise<OperationAnswers> {
    const { seen }: Look<OperationAnswers> = await this.looks.look<OperationAnswers>(
      this.at(credential, 'operations'),
      (look) => isEnough(look.seen),
      (before) => ask(before ?? {}),
    );
    this.answers.set(credential, seen);
    return seen;
  }

  /** What is kept agrees with what the forge said when it was reached: what it lacks need not be found out again. */
  private async confirm({ credential, capabilities }: ReachedForge): Promise<void> {
    const answers = (await this.read(credential)).operations.look?.seen ?? {};
    this.answers.set(credential, answers);
    for (const name of operationNames) if (answers[name]?.is === 'missing') capabilities.noteMissing(name);
    this.confirmed.add(capabilities);
  }

  private async readServer(forge: ReachedForge): Promise<ServerAccess> {
    const { client, capabilities } = forge;
    const { self, isSiteAdmin } = capabilities;
    // Clocks drift, and servers are renewed, while we run.
    const { version, clockAheadMs } = await readVersion(client, this.clock);
    return {
      product: capabilities.product,
      version: version ?? capabilities.version,
      self: self && { id: self.id, login: self.login },
      isSiteAdmin,
      clockAheadMs,
      pages: await readPages(client, capabilities),
      scopes: await this.readScopes(forge),
    };
  }

  /** The call that describes the token in use, else its row among our tokens. */
  private async readScopes(forge: ReachedForge): Promise<readonly string[] | null> {
    const { credential, client, capabilities } = forge;
    if (!this.credentials().get(credential)?.token) return null;
    const own = capabilities.offers('getOwnToken') ? await orNull(client.getOwnToken({})) : null;
    const scopes = own?.scopes ?? (await this.ownTokens(forge))?.own?.scopes;
    return scopes && scopes.length > 0 ? scopes : null;
  }

  private async readTokens(forge: ReachedForge): Promise<SeenTokens | null> {
    const tokens = await this.ownTokens(forge);
    return tokens && { own: tokens.own && seenToken(tokens.own), others: tokens.others.map(seenToken) };
  }

  private async ownTokens({
    credential,
    client,
    capabilities: { self, offers },
  }: ReachedForge): Promise<{ own: AccessToken | null; others: AccessToken[] } | null> {
    const token = this.credentials().get(credential)?.token;
    if (!token || !self || !offers('listTokens')) return null;
    const all = await orNull(listAll(client, 'listTokens', { username: self.login }));
    if (!all) return null;
    const tail = token.reveal().slice(-8);
    const [own = null, ...more] = all.filter((one) => one.token_last_eight?.reveal() === tail);
    return own && more.length === 0 ? { own, others: all.filter((one) => one !== own) } : { own: null, others: [] };
  }
}

function ifNotAsked(error: unknown): null {
  if (error instanceof ForgeError) return null;
  throw error;
}

function isSameServer(
  a: Pick<ServerAccess, 'version' | 'self'>,
  b: Pick<ForgeCapabilities, 'version' | 'self'>,
): boolean {
  return a.version === b.version && a.self?.login === b.self?.login;
}

function seenToken({ id, name, created_at: made, last_used_at: used }: AccessToken): SeenToken {
  return { id: id ?? null, name: name ?? null, created_at: made ?? null, last_used_at: used ?? null };
}

async function readPages(client: ForgeClient, { offers }: ForgeCapabilities): Promise<ServerAccess['pages']> {
  const settings = offers('getApiSettings') ? await orNull(client.getApiSettings({})) : null;
  const count = (value: number | bigint | null | undefined): number | null =>
    value === null || value === undefined ? null : Number(value);
  return settings && { default: count(settings.default_paging_num), most: count(settings.max_response_items) };
}
