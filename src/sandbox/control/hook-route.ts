import { z } from 'zod';
import { created, Refusal } from '../answer.js';
import { makeHook } from '../resources/hook.js';
import { checked, repoNamed } from './read.js';
import type { ControlRoute } from './router.js';

const wish = z
  .strictObject({
    /** Where it sits: an organization, or a repository `owner/name`. */
    org: z.string().optional(),
    repo: z.string().optional(),
    url: z.url({ protocol: /^https?$/ }),
    content_type: z.enum(['json', 'form']).default('json'),
    secret: z.string().default(''),
    events: z.array(z.string()).default(['push']),
    branch_filter: z.string().default(''),
    authorization_header: z.string().default(''),
  })
  .refine(({ org, repo }) => (org === undefined) !== (repo === undefined), 'either org or repo is needed');

/** Registers an active hook, also where the profile has no call for it; events as in the API, group names too. */
export const hookRoute: ControlRoute = {
  method: 'POST',
  path: '/_sandbox/hooks',
  run: ({ parts, body }) => {
    const { org, repo, url, content_type, secret, events, branch_filter, authorization_header } = checked(wish, body);
    const owner = org === undefined ? undefined : parts.world.orgByName(org);
    if (org !== undefined && !owner) throw new Refusal(404, `no organization ${org}`);
    const hook = makeHook(parts.world, parts.profile.telling, {
      ...(owner ? { orgId: owner.id } : {}),
      ...(repo === undefined ? {} : { repoId: repoNamed(parts, repo).id }),
      type: parts.profile.family,
      config: { url, content_type, secret },
      events,
      isActive: true,
      branchFilter: branch_filter,
      authorizationHeader: authorization_header,
    });
    return created({ id: hook.id, events: hook.events });
  },
};
