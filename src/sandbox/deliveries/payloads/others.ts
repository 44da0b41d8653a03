import { renderPackage } from '../../resources/package.js';
import { rfc3339 } from '../../render/time.js';
import { webUrl } from '../../render/view.js';
import type { ToldOf } from '../../told-of.js';
import { payloadCommit } from './commit.js';
import type { Payload, PayloadContext } from './context.js';

/** A package is told to its owner's hooks, and to those of the repository it is linked to; `repository` is always null. */
export function packagePayloads(context: PayloadContext, told: ToldOf<'package.created' | 'package.deleted'>): Payload[] {
  const { world, profile } = context;
  const owner = world.owner(told.package.ownerId);
  const isTold = profile.telling.tellsPackageOrganization && owner.kind === 'organization';
  return [
    {
      type: 'package',
      body: {
        action: told.kind.slice('package.'.length),
        repository: null,
        package: renderPackage(context.close, told.package),
        organization: isTold ? context.organization(owner) : null,
        sender: context.sender(),
      },
    },
  ];
}

/** Times of a status are told in UTC, whatever the server's zone; an address of the server itself becomes absolute. */
export function statusPayloads(context: PayloadContext, told: ToldOf<'status.set'>): Payload[] {
  const { status, repo } = told;
  const commit = repo.git.commits.get(status.sha);
  return [
    {
      type: 'status',
      body: {
        commit: commit ? payloadCommit(context.open, repo, commit) : null,
        context: status.context,
        created_at: rfc3339(status.createdAt, 'UTC'),
        description: status.description,
        id: status.id,
        repository: context.repository(repo),
        sender: context.sender(),
        sha: status.sha,
        state: status.state,
        target_url: status.targetUrl.startsWith('/') ? webUrl(context.open, status.targetUrl) : status.targetUrl,
        updated_at: rfc3339(status.updatedAt, 'UTC'),
      },
    },
  ];
}
