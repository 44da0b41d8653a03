import { type Permission, permissionOn } from '../../permissions.js';
import type { Profile } from '../../profiles.js';
import { renderRepository } from '../../resources/repository.js';
import type { View } from '../../render/view.js';
import { type Mode, type Organization, type Repository, UNITS, type User, type World } from '../../world.js';
import type { HookEventType } from '../hook-events.js';
import { renderOrganization, renderUser } from '../../resources/owner-view.js';

/** One body to be sent, and which hooks it goes to. */
export interface Payload {
  readonly type: HookEventType;
  readonly body: object;
  /** `repository`: hooks of the repository and of its owner; `owner`: of the owner only. Default `repository`. */
  readonly reach?: 'owner';
  /** Whose hooks, where it is not the happening's own repository. */
  readonly repo?: Repository;
  /** Full ref for the branch filter of push, create and delete. */
  readonly ref?: string;
}

/** In whose name `permissions` of a rendered repository are told: each event of the real servers has its own rule. */
export type Access = 'owner' | 'read' | 'none' | 'doer';

/** What all builders of bodies need. */
export class PayloadContext {
  /** Nobody looks: senders and most users show a placeholder as e-mail. */
  readonly open: View;
  /** The actor looks: issues and pull requests are rendered so. */
  readonly close: View;

  constructor(
    readonly world: World,
    readonly profile: Profile,
    readonly by: User,
  ) {
    const common = { world, profile, baseUrl: world.rootUrl };
    this.open = { ...common, viewer: null };
    this.close = { ...common, viewer: by };
  }

  sender(): object {
    return renderUser(this.open, this.by);
  }

  user(user: User): object {
    return renderUser(this.open, user);
  }

  repository(repo: Repository, access: Access = 'owner'): object {
    return access === 'none'
      ? renderRepository(this.open, repo, null)
      : renderRepository(this.close, repo, this.#permission(repo, access));
  }

  /** The owner in organization shape; absent for a person's repository. */
  organizationOf(repo: Repository): { organization?: object } {
    const owner = this.world.ownerOf(repo);
    return owner.kind === 'organization' ? { organization: this.organization(owner) } : {};
  }

  organization(org: Organization): object {
    return renderOrganization(this.open, org);
  }

  #permission(repo: Repository, access: 'owner' | 'read' | 'doer'): Permission {
    return access === 'doer' ? permissionOn(this.world, this.by, repo) : everywhere(access);
  }
}

function everywhere(mode: Mode): Permission {
  return { mode, units: new Map(UNITS.map((unit) => [unit, mode])) };
}
