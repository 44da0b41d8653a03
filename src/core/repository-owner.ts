import type { EventKind } from './event-kinds.js';
import type { EventRepository } from './event.js';
import { defineReasons } from './reason.js';

/** A repository as the forge describes it; fields that a server leaves out are absent or null. */
export interface DescribedRepository {
  readonly id?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly full_name?: string | null | undefined;
  readonly owner?: { readonly login?: string | null | undefined } | null | undefined;
  readonly private?: boolean | null | undefined;
  readonly archived?: boolean | null | undefined;
}

/** A repository of the organization under its name of now. */
export interface OwnRepository {
  readonly id: string;
  /** The organization as the config writes it. */
  readonly owner: string;
  readonly name: string;
  readonly private?: boolean;
  readonly archived?: boolean;
}

/**
 * Why a repository may not be read or changed for an organization:
 * `repository_elsewhere` it belongs to another owner; `repository_gone` it was deleted, or our account may not see it;
 * `repository_unconfirmed` the forge cannot find repositories by number, and neither a row of the organization's feed nor the config names it.
 */
const OWNERSHIP_REFUSALS = ['repository_elsewhere', 'repository_gone', 'repository_unconfirmed'] as const;
export type OwnershipRefusal = (typeof OWNERSHIP_REFUSALS)[number];

export type Ownership =
  | { readonly is: 'ours'; readonly repository: OwnRepository }
  | { readonly is: 'refused'; readonly code: OwnershipRefusal };

/** The repository that somebody asks about. `name` is used only where the operator names a repository by its number alone. */
export interface AskedRepository {
  readonly forge: string;
  readonly org: string;
  readonly id: string;
  readonly name: string;
}

export interface OwnershipQuestion {
  /** Oldest answer that is good enough. Default: five minutes. */
  readonly maxAgeMs?: number;
  /** Makes the read where one is due. Default: the forge's own client. */
  readonly read?: ((args: { id: string }) => Promise<DescribedRepository>) | undefined;
}

/**
 * Says whose a repository is. The forge decides, by the repository's number: names change hands, and a body can claim anything. Only the
 * names in the answer are used for calls.
 */
export interface RepositoryOwners {
  /** @throws ForgeError while the forge cannot be asked; whoever asks waits */
  of(repository: AskedRepository, question?: OwnershipQuestion): Promise<Ownership>;
  /** What `of` would answer from memory, without any call; null = it may have to ask. */
  peek(repository: AskedRepository): Ownership | null;
  /** Ask the forge again at the next question, because an event reported a change or a call was redirected. */
  forget(forge: string, id: string): void;
  /** A call was answered 404: from now on, trust the known answer only as long as a write would. */
  doubt(forge: string, id: string): void;
}

/** Longest age of an answer that a write relies on. */
export const WRITE_TRUST_MS = 10_000;

/** By code. No sentence names the other owner: a sender who guesses a number must not learn whose it is. */
export const ownershipReason = defineReasons({
  repository_elsewhere: ({ org, id }: Asked) => `repository number ${id} belongs to another owner than ${org}`,
  repository_gone: ({ id }: Asked) => `repository number ${id} was deleted, or our account may not see it`,
  repository_unconfirmed: ({ org, id }: Asked) =>
    `nothing confirms that repository number ${id} belongs to ${org}: this forge finds none by number; name it in orgs[].repositories`,
});

type Asked = Pick<AskedRepository, 'org' | 'id'>;

/** After such an event the repository may have another name or owner, or be there at all only now. */
export function tellsOfOwner(kind: EventKind): boolean {
  return kind.startsWith('repository.');
}

/** The owner as the forge names it; null when it names none. */
export function ownerOf({ owner, full_name: fullName }: DescribedRepository): string | null {
  return owner?.login ?? fullName?.split('/')[0] ?? null;
}

export function isOwnedBy(repository: DescribedRepository, org: string): boolean {
  return ownerOf(repository)?.toLowerCase() === org.toLowerCase();
}

/** The repositories of an organization, as far as the bot can know them. */
export interface RepositoryInventory {
  /** @param having numbers of repositories that were seen: a reading without them is too old */
  list(forge: string, org: string, having?: readonly string[]): Promise<EventRepository[]>;
}
