import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { AppConfig } from '../config/app-config.js';
import { credentialsOf } from '../config/credentials.js';
import { Clock } from '../core/clock.js';
import { isJsonObject, type JsonObject } from '../core/json.js';
import { count, fields, maybeText, text, texts, word, type Shape } from '../core/schema.js';
import type { Secret } from '../core/secret.js';
import { readVersion, type ForgeCapabilities } from './connected-forges.js';
import { type ForgeClient, listAll, orNull } from './forge-client.js';
import type { ProbeAnswer } from './probe.js';
import type { AccessToken } from '../core/objects/accounts.js';
import { KnownFacts } from '../core/known-facts.port.js';

/** What was found out about a forge and our standing there; times are ISO texts. */
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
  /** Operations by name, as far as they were asked. */
  operations: z.record(text, word<ProbeAnswer>()),
});
export type ServerAccess = Shape<typeof serverAccess>;

/** The tokens of the bot's account. */
export interface SeenTokens {
  /** The one in use; null where it cannot be told from the others. */
  readonly own: AccessToken | null;
  readonly others: readonly AccessToken[];
}

const KIND = 'server';
/** Read again for the next organization of the same forge no sooner than so. */
const FRESH_MS = 5_000;

/** Learns and keeps what a forge is and what our token may do there; over restarts, and while it is away. */
@Injectable()
export class ServerAccessReader {
  private readonly learned = new Map<string, { atMs: number; footing: ServerAccess }>();
  /** Of each credentials; null with a password. */
  private readonly ownTokens: ReadonlyMap<string, Secret | null>;

  constructor(
    private readonly facts: KnownFacts,
    config: AppConfig,
    private readonly clock: Clock,
  ) {
    this.ownTokens = new Map(
      credentialsOf(config).map(({ credential, auth }) => [credential, auth.type === 'token' ? auth.token : null]),
    );
  }

  /**
   * Reads alone.
   * @param anew ask, however lately it was asked
   * @throws ForgeError when the forge cannot be asked now
   */
  async learn(
    credential: string,
    client: ForgeClient,
    capabilities: ForgeCapabilities,
    anew = false,
  ): Promise<ServerAccess> {
    const earlier = this.learned.get(credential);
    const nowMs = this.clock.monotonicMs();
    if (!anew && earlier && nowMs - earlier.atMs < FRESH_MS) return earlier.footing;
    const { product, self, isSiteAdmin } = capabilities;
    // Clocks drift, and servers are renewed, while we run.
    const { version, clockAheadMs } = await readVersion(client, this.clock);
    const footing = {
      product,
      version: version ?? capabilities.version,
      self: self && { id: self.id, login: self.login },
      isSiteAdmin,
      clockAheadMs,
      pages: await readPages(client, capabilities),
      scopes: await this.readScopes(credential, client, capabilities),
      operations: {},
    };
    this.learned.set(credential, { atMs: nowMs, footing });
    return footing;
  }

  /** Written only where it says something new, so that an idle bot writes nothing. */
  async keep(credential: string, operations: Readonly<Record<string, ProbeAnswer>>): Promise<void> {
    const latest = this.learned.get(credential);
    if (!latest) return;
    const before = (await this.of(credential))?.footing ?? null;
    const isSame =
      before !== null && before.version === latest.footing.version && before.self?.login === latest.footing.self?.login;
    const footing = { ...latest.footing, operations: { ...(isSame ? before.operations : {}), ...operations } };
    if (before !== null && keyOf(before) === keyOf(footing)) return;
    await this.facts.write(credential, '', KIND, footing as unknown as JsonObject);
  }

  /** What was learned last, also by an earlier process. */
  async of(credential: string): Promise<{ footing: ServerAccess; learnedAt: Date } | null> {
    const row = await this.facts.read(credential, '', KIND);
    return row && isJsonObject(row.fact) && isJsonObject(row.fact['operations'])
      ? { footing: row.fact as unknown as ServerAccess, learnedAt: row.learnedAt }
      : null;
  }

  /** The tokens of our account (op 16); null where we have none, or may not see them. @throws ForgeError when the forge cannot be asked now */
  async tokens(
    credential: string,
    client: ForgeClient,
    { self, offers }: Pick<ForgeCapabilities, 'self' | 'offers'>,
  ): Promise<SeenTokens | null> {
    const token = this.ownTokens.get(credential);
    if (!token || !self || !offers('listTokens')) return null;
    const all = await orNull(listAll(client, 'listTokens', { username: self.login }));
    if (!all) return null;
    const tail = token.reveal().slice(-8);
    const own = all.filter((one) => one.token_last_eight?.reveal() === tail);
    return {
      own: own.length === 1 ? (own[0] ?? null) : null,
      others: own.length === 1 ? all.filter((one) => one !== own[0]) : [],
    };
  }

  /** The call that describes the token in use, else its row among our tokens. */
  private async readScopes(
    credential: string,
    client: ForgeClient,
    capabilities: ForgeCapabilities,
  ): Promise<readonly string[] | null> {
    if (!this.ownTokens.get(credential)) return null;
    const own = capabilities.offers('getOwnToken') ? await orNull(client.getOwnToken({})) : null;
    const scopes = own?.scopes ?? (await this.tokens(credential, client, capabilities))?.own?.scopes;
    return scopes && scopes.length > 0 ? scopes : null;
  }
}

async function readPages(client: ForgeClient, { offers }: ForgeCapabilities): Promise<ServerAccess['pages']> {
  const settings = offers('getApiSettings') ? await orNull(client.getApiSettings({})) : null;
  const count = (value: number | bigint | null | undefined): number | null =>
    value === null || value === undefined ? null : Number(value);
  return settings && { default: count(settings.default_paging_num), most: count(settings.max_response_items) };
}

/** The clock always differs by a little. */
function keyOf(footing: ServerAccess): string {
  const rounded = footing.clockAheadMs === null ? null : Math.round(footing.clockAheadMs / 5_000);
  const operations = Object.entries(footing.operations).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify({ ...footing, clockAheadMs: rounded, operations });
}
