import { beforeEach, describe, expect, it } from '@jest/globals';
import { everyRepositoryIsOurs } from '../../../test/fakes/repository-owners.js';
import { ForgeError } from '../../core/errors.js';
import type { OwnershipRefusal, Ownership } from '../../core/repository-owner.js';
import type { LookupAnswer, LookupScope } from './lookup-reader.port.js';
import type { LookupRequest } from '../../rules/language/revision.js';
import { lookupCatalogue } from './index.js';
import { OwnRepositoriesOnly } from './own-repositories-only.js';

const SCOPE: LookupScope = {
  forge: 'main',
  org: 'acme',
  repo: { id: '7', owner: 'victim', name: 'vault', full_name: 'victim/vault', private: false },
};
const request = (use: string): LookupRequest => ({ as: 'a', use, params: {}, onMissing: 'none' });

describe('actions/lookups/own-repositories-only', () => {
  let ownership: () => Promise<Ownership>;
  let answer: () => LookupAnswer;
  let asked: number;
  let read: Array<string | undefined>;
  let told: string[];
  let lookups: OwnRepositoriesOnly;

  beforeEach(() => {
    [asked, read, told] = [0, [], []];
    ownership = async () => ({ is: 'ours', repository: { id: '7', owner: 'acme', name: 'app', private: true } });
    answer = () => ({ value: 1 });
    lookups = new OwnRepositoriesOnly(
      {
        read: async (_request, { repo }) => {
          read.push(repo?.full_name);
          return answer();
        },
      },
      lookupCatalogue(),
      {
        ...everyRepositoryIsOurs,
        of: () => ((asked += 1), ownership()),
        forget: (_forge, id) => void told.push(`forget ${id}`),
        doubt: (_forge, id) => void told.push(`doubt ${id}`),
      },
    );
  });

  it('reads under the owner and name of the forge, whatever the body said', async () => {
    expect(await lookups.read(request('labels.list'), SCOPE)).toEqual({ value: 1 });
    expect(read).toEqual(['acme/app']);
  });

  it.each<OwnershipRefusal>(['repository_elsewhere', 'repository_unconfirmed'])(
    'reads nothing and fails with a code: %s',
    async (code) => {
      ownership = async () => ({ is: 'refused', code });

      expect(await lookups.read(request('labels.list'), SCOPE)).toEqual({
        failed: expect.stringMatching(`^${code}: `),
        code,
      });
      expect(read).toEqual([]);
    },
  );

  it('finds nothing in a repository that is gone, as before', async () => {
    ownership = async () => ({ is: 'refused', code: 'repository_gone' });

    expect(await lookups.read(request('labels.list'), SCOPE)).toEqual({ missing: true });
    expect(read).toEqual([]);
  });

  it('asks nothing about lookups of the organization, and about decisions of no repository', async () => {
    await lookups.read(request('hooks.list'), SCOPE);
    await lookups.read(request('labels.list'), { ...SCOPE, repo: null });

    expect([asked, read.length]).toEqual([0, 2]);
  });

  it('throws while the forge cannot be asked', async () => {
    ownership = () => Promise.reject(new ForgeError('not-sent', 'away', { operation: 'getRepoById' }));

    await expect(lookups.read(request('labels.list'), SCOPE)).rejects.toMatchObject({ kind: 'not-sent' });
  });

  it('doubts what it knows after a 404', async () => {
    answer = () => ({ missing: true });

    await lookups.read(request('release.by_tag'), SCOPE);

    expect(told).toEqual(['doubt 7']);
  });

  it('reads once more under the new name after a redirect, and refuses what went to another owner', async () => {
    const names = ['app', 'renamed'];
    ownership = async () => ({ is: 'ours', repository: { id: '7', owner: 'acme', name: names[asked - 1] ?? '' } });
    answer = () => (read.length === 1 ? { failed: 'moved', moved: true } : { value: 2 });
    expect(await lookups.read(request('labels.list'), SCOPE)).toEqual({ value: 2 });
    expect([read, told]).toEqual([['acme/app', 'acme/renamed'], ['forget 7']]);

    [asked, read] = [0, []];
    ownership = async () =>
      asked === 1
        ? { is: 'ours', repository: { id: '7', owner: 'acme', name: 'app' } }
        : { is: 'refused', code: 'repository_elsewhere' };
    expect(await lookups.read(request('labels.list'), SCOPE)).toMatchObject({ code: 'repository_elsewhere' });
    expect(read).toEqual(['acme/app']);
  });

  it('reads no third time where the redirect leads nowhere else', async () => {
    answer = () => ({ failed: 'moved', moved: true });

    expect(await lookups.read(request('labels.list'), SCOPE)).toEqual({ failed: 'moved', moved: true });
    expect(read).toHaveLength(1);
  });
});
