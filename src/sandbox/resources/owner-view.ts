import { type View, type Shown, shaped, webUrl, shownTime, NEVER } from '../render/view.js';
import type { Organization, Owner } from '../entities/people.js';
import type { organization as apiOrganization, user as apiUser } from '../../core/objects/accounts.js';
import { createHash } from 'node:crypto';

/** A user or organization in user shape. Whoever looks at oneself, and a site admin, sees the private fields. */
export function renderUser(view: View, owner: Owner, options: { asOther?: boolean } = {}): Shown<typeof apiUser> {
  const { viewer } = view;
  const isClose =
    !options.asOther && owner.kind === 'user' && viewer !== null && (viewer.id === owner.id || viewer.isAdmin);
  const person = owner.kind === 'user' ? owner : null;
  return shaped(view, 'user', {
    id: owner.id,
    login: owner.login,
    login_name: isClose ? (person?.loginName ?? '') : '',
    source_id: 0,
    full_name: owner.fullName,
    email: shownEmail(view, owner),
    avatar_url: avatarUrl(view, owner),
    html_url: webUrl(view, `/${owner.login}`),
    language: isClose ? (person?.language ?? '') : '',
    is_admin: isClose ? (person?.isAdmin ?? false) : false,
    last_login: isClose ? shownTime(view, person?.lastLogin ?? 0) : NEVER,
    created: shownTime(view, owner.created),
    restricted: isClose ? (person?.restricted ?? false) : false,
    active: isClose,
    prohibit_login: isClose ? (person?.prohibitLogin ?? false) : false,
    location: owner.location,
    pronouns: person && (isClose || !person.hidePronouns) ? person.pronouns : '',
    website: owner.website,
    description: owner.description,
    visibility: owner.visibility,
    followers_count: 0,
    following_count: 0,
    starred_repos_count: person ? [...view.world.repos.values()].filter((repo) => repo.stars.has(person.id)).length : 0,
    username: owner.login,
  });
}

/** The address of an avatar: any stable digest will do. */
export function avatarUrl(view: View, owner: Owner): string {
  return webUrl(
    view,
    `/avatars/${createHash('md5')
      .update(owner.email || owner.login)
      .digest('hex')}`,
  );
}

function shownEmail(view: View, owner: Owner): string {
  if (owner.kind === 'organization') return owner.email;
  return view.viewer !== null && !owner.hideEmail ? owner.email : placeholder(view, owner);
}

function placeholder(view: View, owner: Owner): string {
  return `${view.profile.access.noreply === 'id and name' ? `${owner.id}+` : ''}${owner.login}@noreply.localhost`;
}

/** An organization in its own shape. */
export function renderOrganization(view: View, org: Organization): Shown<typeof apiOrganization> {
  return {
    id: org.id,
    name: org.login,
    full_name: org.fullName,
    email: org.email,
    avatar_url: avatarUrl(view, org),
    description: org.description,
    website: org.website,
    location: org.location,
    visibility: org.visibility,
    repo_admin_change_team_access: false,
    username: org.login,
  };
}
