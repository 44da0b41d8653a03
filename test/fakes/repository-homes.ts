import type { AskedRepository, RepositoryHome, RepositoryHomes } from '../../src/core/repository-home.js';

/** For tests that are not about whose a repository is: every one is the organization's, under the name it is asked for. */
export const everyHomeIsOurs: RepositoryHomes = {
  of: async ({ org, id, name }: AskedRepository): Promise<RepositoryHome> => ({
    is: 'ours',
    repository: { id, owner: org, name },
  }),
  forget: () => undefined,
  doubt: () => undefined,
};
