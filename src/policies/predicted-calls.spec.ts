import { describe, expect, it } from '@jest/globals';
import { predictCalls, type RehearsedRun } from './predicted-calls.js';

const NO_LIMIT = { ratePerS: 5, effectsPerHour: null };

function write(operation: string, reads: string[], mode: 'live' | 'dry-run' = 'live'): RehearsedRun['writes'][number] {
  const told = reads.map((read) => ({ operation: read, isShared: read === 'listOrgLabels' }));
  return { mode, rehearsal: { does: 'write', operation, isReadable: true, reads: told } };
}

const run = (name: string | null, ...writes: RehearsedRun['writes'][number][]): RehearsedRun => ({
  policy: 'standard',
  repo: name === null ? null : { id: name, name: `acme/${name}` },
  writes,
});

describe('policies/predicted-calls', () => {
  it('counts each write with the reads before it, and once in a run what serves all of it', () => {
    const label = write('createLabel', ['getRepoById', 'listLabels', 'listOrgLabels']);

    expect(
      predictCalls(
        [run('app', label, label, write('createMilestone', ['getRepoById', 'listMilestones'])), run('web', label)],
        NO_LIMIT,
      ),
    ).toEqual({
      reads: { getRepoById: 4, listLabels: 3, listOrgLabels: 2, listMilestones: 1 },
      writes: { createLabel: 3, createMilestone: 1 },
      runs: [
        { policy: 'standard', repo: { id: 'app', name: 'acme/app' }, calls: 10 },
        { policy: 'standard', repo: { id: 'web', name: 'acme/web' }, calls: 4 },
      ],
      atLeastS: 3,
    });
  });

  it('leaves out runs that write nothing, and the write of a dry run', () => {
    expect(
      predictCalls([run('app'), run(null, write('updateOrgVariable', ['listOrgVariables'], 'dry-run'))], NO_LIMIT),
    ).toEqual({
      reads: { listOrgVariables: 1 },
      writes: {},
      runs: [{ policy: 'standard', repo: null, calls: 1 }],
      atLeastS: 1,
    });
  });

  it.each([
    [10, 0],
    [11, 3600],
    [20, 3600],
    [21, 7200],
  ])('lets %d writes wait %d s where ten are allowed in an hour', (writes, atLeastS) => {
    const all = Array.from({ length: writes }, () => write('createLabel', []));

    expect(
      predictCalls([run('app', ...all)], { ratePerS: Number.POSITIVE_INFINITY, effectsPerHour: 10 }).atLeastS,
    ).toBe(atLeastS);
  });
});
