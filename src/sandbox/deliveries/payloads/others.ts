import type { ToldOf } from '../../happening.js';
import { rfc3339 } from '../../render/time.js';
import { webUrl } from '../../render/view.js';
import { renderPackage } from '../../resources/package.js';
import { renderRelease } from '../../resources/release.js';
import type { Repository, Told } from '../../world.js';
import type { Payload, PayloadContext } from './context.js';
import { payloadCommit } from './refs.js';
import { renderUser } from '../../resources/owner-view.js';

/** A package is told to its owner's hooks, and to those of the repository it is linked to; `repository` is always null. */
export function packagePayloads(
  context: PayloadContext,
  happening: ToldOf<'package.created' | 'package.deleted'>,
): Payload {
  const { world, profile } = context;
  const owner = world.owner(happening.package.ownerId);
  const isTold = profile.telling.tellsPackageOrganization && owner.kind === 'organization';
  return {
    type: 'package',
    body: {
      action: happening.kind.slice('package.'.length),
      repository: null,
      package: renderPackage(context.close, happening.package),
      organization: isTold ? context.organization(owner) : null,
      sender: context.sender(),
    },
  };
}

/** Times of a status are told in UTC, whatever the server's zone; an address of the server itself becomes absolute. */
export function statusPayloads(context: PayloadContext, happening: ToldOf<'status.set'>): Payload {
  const { status, repo } = happening;
  const commit = repo.git.commits.get(status.sha);
  return {
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
  };
}

type RepositoryTold = Extract<Told, { kind: `repository.${string}` }>;

/** A repository that comes or goes is told to the hooks of its owner; transfers, renames and edits (archiving too) are told to nobody. */
export function repositoryPayloads(context: PayloadContext, happening: RepositoryTold): Payload[] {
  switch (happening.kind) {
    case 'repository.created':
    case 'repository.deleted':
      return [repositoryPayload(context, happening.repo, happening.kind.slice('repository.'.length))];
    case 'repository.forked':
      return forkPayloads(context, happening);
    default:
      return [];
  }
}

/** The owner stands in user shape, also when it is an organization. */
function repositoryPayload(context: PayloadContext, repo: Repository, action: string): Payload {
  return {
    type: 'repository',
    reach: 'owner',
    repo,
    body: {
      action,
      repository: context.repository(repo),
      organization: renderUser(context.open, context.world.ownerOf(repo)),
      sender: context.sender(),
    },
  };
}

/** The original's hooks hear of the fork, where `forkee` is the original; the new owner's hooks hear of a new repository. */
function forkPayloads(context: PayloadContext, happening: ToldOf<'repository.forked'>): Payload[] {
  return [
    {
      type: 'fork',
      repo: happening.original,
      body: {
        forkee: context.repository(happening.original, 'read'),
        repository: context.repository(happening.repo),
        sender: context.sender(),
      },
    },
    repositoryPayload(context, happening.repo, 'created'),
  ];
}

/** Drafts are never told: who makes one must not call this a happening. */
export function releasePayloads(
  context: PayloadContext,
  happening: ToldOf<'release.published' | 'release.updated' | 'release.deleted'>,
): Payload {
  return {
    type: 'release',
    body: {
      action: happening.kind.slice('release.'.length),
      release: renderRelease(context.open, happening.release),
      repository: context.repository(happening.repo, 'doer'),
      sender: context.sender(),
    },
  };
}

export function wikiPayloads(
  context: PayloadContext,
  happening: ToldOf<'wiki.created' | 'wiki.edited' | 'wiki.deleted'>,
): Payload {
  return {
    type: 'wiki',
    body: {
      action: happening.kind.slice('wiki.'.length),
      repository: context.repository(happening.repo),
      sender: context.sender(),
      page: happening.page,
      comment: happening.comment,
    },
  };
}
