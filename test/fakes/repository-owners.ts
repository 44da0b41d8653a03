import type { AskedRepository, Ownership, RepositoryOwners } from '../../src/core/repository-owner.js';

const oursAs = ({ org, id, name }: AskedRepository): Ownership => ({
  is: 'ours',
  repository: { id, owner: org, name },
});

/** For tests that are not about whose a repository is: every one is the organization's, under the name it is asked for. */
export const everyRepositoryIsOurs: RepositoryOwners = {
  of: async (asked) => oursAs(asked),
  peek: oursAs,
  forget: () => undefined,
  doubt: () => undefined,
};
