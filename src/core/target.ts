/** What an intent acts on. Ids are pinned when the run is decided; names may change later. */
export type Target =
  | { kind: 'repository'; id: string; owner: string; name: string; private?: boolean; archived?: boolean }
  | { kind: 'organization'; id: string | null; name: string }
  /** The bot's own account, or the instance (op 4). */
  | { kind: 'account'; login: string };

/** Order is kept per lane: one repository, one organization, one account. */
export function laneOf(forge: string, target: Target): string {
  switch (target.kind) {
    case 'repository':
      return `${forge}/repository/${target.id}`;
    case 'organization':
      return `${forge}/organization/${target.name.toLowerCase()}`;
    case 'account':
      return `${forge}/account/${target.login.toLowerCase()}`;
  }
}
