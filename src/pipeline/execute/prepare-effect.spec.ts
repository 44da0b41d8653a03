import { describe, expect, it } from '@jest/globals';
import type { Target } from '../../core/target.js';
import type { ForgeAccess, OrgLimits } from './forge-access.js';
import { beyondLimit, type TargetResolver } from './prepare-effect.js';

const NOTHING: OrgLimits = { merges: false, approveAndMerge: false, privateMirrors: false, privateReads: false };
const EVERYTHING: OrgLimits = { merges: true, approveAndMerge: true, privateMirrors: true, privateReads: true };
const vault = { id: '7', owner: 'acme', name: 'vault' };
const action = (name: string, operation: string) => ({ name, operations: [operation] as never });

/** The forge tells this visibility of every repository; undefined = it tells none. */
function ask(
  what: { name: string; operations: never },
  target: Target,
  limits: OrgLimits | undefined,
  visibility: boolean | undefined = true,
) {
  const targets = {
    resolve: async (_access: unknown, _forge: string, _org: string, pinned: Target) =>
      visibility === undefined ? pinned : { ...pinned, private: visibility },
  } as unknown as TargetResolver;
  return beyondLimit({ action: what, target, forge: 'main', org: 'acme' }, limits, targets, {} as ForgeAccess).then(
    (limited) => limited?.code ?? null,
  );
}

describe('pipeline/execute/limits', () => {
  const variable = action('org_variable.set', 'updateOrgVariable');
  const mirror = action('push_mirror.ensure', 'createPushMirror');
  const merge = action('pull_request.merge', 'mergePull');
  const organization: Target = { kind: 'organization', id: null, name: 'acme', readFrom: vault };
  const repository = (isPrivate?: boolean): Target => ({
    kind: 'repository',
    ...vault,
    ...(isPrivate === undefined ? {} : { private: isPrivate }),
  });

  it('keeps text of a private repository out of variables of the organization and of the bot', async () => {
    expect(await ask(variable, organization, NOTHING)).toBe('limit.private_reads');
    expect(
      await ask(
        action('user_variable.create', 'createUserVariable'),
        { kind: 'account', login: 'bot', readFrom: vault },
        NOTHING,
      ),
    ).toBe('limit.private_reads');
  });

  it('takes a repository whose visibility nobody tells for a private one', async () => {
    const silent = {
      resolve: async (_access: unknown, _forge: string, _org: string, pinned: Target) => pinned,
    } as unknown as TargetResolver;
    const effect = { action: variable, target: organization, forge: 'main', org: 'acme' };

    expect(await beyondLimit(effect, NOTHING, silent, {} as ForgeAccess)).toMatchObject({
      code: 'limit.private_reads',
    });
    expect(await ask(mirror, repository(), NOTHING)).toBe('limit.private_mirrors');
  });

  it('lets text of public repositories through, and that of the organization itself', async () => {
    expect(await ask(variable, organization, NOTHING, false)).toBeNull();
    expect(await ask(variable, { kind: 'organization', id: null, name: 'acme' }, NOTHING)).toBeNull();
    expect(await ask(action('issue.comment', 'createComment'), repository(true), NOTHING)).toBeNull();
  });

  it('mirrors no private repository and merges nothing', async () => {
    expect(await ask(mirror, repository(true), NOTHING)).toBe('limit.private_mirrors');
    expect(await ask(mirror, repository(false), NOTHING)).toBeNull();
    expect(await ask(merge, repository(false), NOTHING)).toBe('limit.merges');
  });

  it.each([
    ['everything is allowed', EVERYTHING],
    ['nothing is said', undefined],
  ])('stands against nothing where %s', async (_what, limits) => {
    expect(await ask(variable, organization, limits)).toBeNull();
    expect(await ask(mirror, repository(true), limits)).toBeNull();
    expect(await ask(merge, repository(true), limits)).toBeNull();
  });
});
