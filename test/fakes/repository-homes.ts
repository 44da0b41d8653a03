import type { AskedRepository, RepositoryHome, RepositoryHomes } from '../../src/core/repository-home.js';

const oursAs = ({ org, id, name }: AskedRepository): RepositoryHome => ({
  is: 'ours',
  repository: { id, owner: org, name },
});

/** For tests that are not about whose a repository is: every one is the organization's, under the name it is asked for. */
export const everyHomeIsOurs: RepositoryHomes = {
  of: async (asked) => oursAs(asked),
  peek: oursAs,
  forget: () => undefined,
  doubt: () => undefined,
};
