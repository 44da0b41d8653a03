import type { OwnershipRefusal } from './repository-owner.js';

/** What an intent acts on. Ids are pinned when the run is decided; names may change later. */
export type Target =
  /** `refused`: the repository did not belong to the organization when the run was decided; the intent ends as refused. */
  | {
      kind: 'repository';
      id: string;
      owner: string;
      name: string;
      private?: boolean;
      archived?: boolean;
      refused?: OwnershipRefusal;
    }
  | { kind: 'organization'; id: string | null; name: string; readFrom?: ReadFrom }
  /** The bot's own account, or the instance (op 4). */
  | { kind: 'account'; login: string; readFrom?: ReadFrom };

/** The repository that the run is about; the effect may contain text from it. Absent = the run is about no repository. */
interface ReadFrom {
  id: string;
  owner: string;
  name: string;
}

/**
 * Order is kept per key: one repository, one organization, one account. A refused target uses the order key of its organization: it must not
 * delay the work of the repository's owner.
 */
export function orderKeyOf(forge: string, target: Target): string {
  switch (target.kind) {
    case 'repository':
      return target.refused ? `${forge}/refused/${target.owner.toLowerCase()}` : `${forge}/repository/${target.id}`;
    case 'organization':
      return `${forge}/organization/${target.name.toLowerCase()}`;
    case 'account':
      return `${forge}/account/${target.login.toLowerCase()}`;
  }
}
