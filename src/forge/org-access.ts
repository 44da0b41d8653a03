import { Inject, Injectable } from '@nestjs/common';
import { AppConfig, type HookConfig } from '../config/app-config.js';
import { ForgeError } from '../core/errors.js';
import type { Hook } from '../core/objects/repositories.js';
import { ConnectedForges } from './connected-forges.js';
import { listAll } from './forge-client.js';
import { type Known, type Look, type LookedAt, type LookKind, Looks, youngerThan } from './looks.js';
import { type OrgLook, OrgNumbers } from './org-numbers.js';
import { readOwnRights, type OwnRights } from './own-rights.js';
import { isScopeRefusal } from './probe.js';
import { type ReachedForge, ServerAccessReader } from './server-access.js';

/** A webhook of the organization as it is kept, without secrets. Of a webhook that is not ours the address is one too. */
export interface SeenHook {
  readonly id: string | null;
  readonly type: string | null;
  readonly active: boolean;
  readonly events: readonly string[];
  readonly branch_filter: string | null;
  /** `url` and `content_type`; null where it points elsewhere. */
  readonly config: Readonly<Record<string, string>> | null;
  /** Whether its Authorization header is one that the config names; false where the server hides it. */
  readonly isAuthorized: boolean;
}

/** What the forge's refusal to show its webhooks means. */
export type HooksUnseen = 'not-offered' | 'switched-off' | 'not-owner' | 'scope' | 'unreadable';

export type SeenHooks = { readonly hooks: readonly SeenHook[] } | { readonly why: HooksUnseen };

/** An organization, at the forge that was reached under the credentials that it uses. */
export interface OrgAtForge extends ReachedForge {
  readonly forge: string;
  readonly org: string;
}

/** What is known of an organization. */
export interface KnownOfOrg {
  readonly identity: Known<OrgLook>;
  readonly hooks: Known<SeenHooks>;
  readonly rights: Known<OwnRights>;
}

type OrgAt = Pick<OrgAtForge, 'forge' | 'org' | 'credential'>;

/** Learns and keeps what a forge shows of an organization: its webhooks, and what our account may do in it. */
@Injectable()
export class OrgAccessReader {
  constructor(
    private readonly looks: Looks,
    private readonly access: ServerAccessReader,
    @Inject(ConnectedForges) private readonly forges: Pick<ConnectedForges, 'unguarded'>,
    @Inject(OrgNumbers) private readonly numbers: Pick<OrgNumbers, 'look'>,
    private readonly config: AppConfig,
  ) {}

  async read(org: OrgAt): Promise<KnownOfOrg> {
    const read = <Seen>(kind: LookKind): Promise<Known<Seen>> => this.looks.read(this.at(org, kind));
    return {
      identity: await read('org.identity'),
      hooks: await read('org.hooks'),
      rights: await read('org.rights'),
    };
  }

  /** Of all organizations, with one question to the store for each part. */
  async all(): Promise<(org: OrgAt) => KnownOfOrg> {
    const [identity, hooks, rights] = [
      await this.looks.all<OrgLook>('org.identity'),
      await this.looks.all<SeenHooks>('org.hooks'),
      await this.looks.all<OwnRights>('org.rights'),
    ];
    return ({ forge, org, credential }) => {
      const at = { forge, subject: org, under: this.access.underOf(credential) };
      return { identity: identity(at), hooks: hooks(at), rights: rights(at) };
    };
  }

  /** Which organization has the name now. @throws ForgeError when the forge cannot be asked now */
  async lookAtIdentity(org: OrgAtForge, olderThanMs: number): Promise<void> {
    // The look itself must pass where the organization is stopped.
    const server = this.forges.unguarded(org.forge, org.org);
    if (server)
      await this.looks.look<OrgLook>(this.at(org, 'org.identity'), youngerThan(olderThanMs), () =>
        this.numbers.look(org.forge, org.org, server),
      );
  }

  /** @throws ForgeError when the forge cannot be asked now */
  lookAtHooks(org: OrgAtForge, olderThanMs: number): Promise<Look<SeenHooks>> {
    return this.looks.look<SeenHooks>(this.at(org, 'org.hooks'), youngerThan(olderThanMs), () =>
      readHooks(org, this.config.orgs.find(({ key }) => key === org.org)?.hooks ?? []),
    );
  }

  /** @throws ForgeError when the forge cannot be asked now */
  async lookAtRights(org: OrgAtForge, olderThanMs: number): Promise<void> {
    const hooks = (await this.read(org)).hooks.look?.seen;
    // Owners alone are shown the webhooks.
    const isOwner = hooks === undefined ? null : 'hooks' in hooks ? true : hooks.why === 'not-owner' ? false : null;
    await this.looks.look<OwnRights>(this.at(org, 'org.rights'), youngerThan(olderThanMs), () =>
      readOwnRights(org.client, org.capabilities, org.org, isOwner),
    );
  }

  private at({ forge, org, credential }: OrgAt, kind: LookKind): LookedAt {
    return { forge, subject: org, kind, under: this.access.underOf(credential) };
  }
}

/** What is kept of a webhook. @param ours the webhooks of the organization in the config */
export function seenHook(hook: Hook, ours: ReadonlyArray<Pick<HookConfig, 'id' | 'authorizations'>>): SeenHook {
  const { url, content_type: type } = hook.config ?? {};
  const path = (url ?? '').split(/[?#]/, 1)[0] ?? '';
  const own = ours.find(({ id }) => path.endsWith(`/webhooks/${encodeURIComponent(id)}`));
  const header = hook.authorization_header?.reveal() ?? '';
  return {
    id: hook.id ?? null,
    type: hook.type ?? null,
    active: hook.active === true,
    events: hook.events ?? [],
    branch_filter: hook.branch_filter ?? null,
    config: own ? { url: url ?? '', content_type: type ?? '' } : null,
    isAuthorized: own?.authorizations.some((one) => one.reveal() === header) === true,
  };
}

async function readHooks({ client, capabilities, org }: OrgAtForge, ours: readonly HookConfig[]): Promise<SeenHooks> {
  if (!capabilities.offers('listOrgHooks')) return { why: 'not-offered' };
  try {
    return { hooks: (await listAll(client, 'listOrgHooks', { org })).map((hook) => seenHook(hook, ours)) };
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    if (error.kind === 'not-offered') return { why: 'not-offered' };
    if (error.kind !== 'refused') throw error;
    if (error.facts.status !== 403) return { why: 'unreadable' };
    if (/disabled/i.test(error.facts.forgeMessage ?? '')) return { why: 'switched-off' };
    return { why: isScopeRefusal(error) ? 'scope' : 'not-owner' };
  }
}
