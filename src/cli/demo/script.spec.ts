import { describe, expect, it } from '@jest/globals';
import { writeScript } from './script.js';

describe('cli/demo/script', () => {
  const seeds = [1, 2, 3, 42, 2 ** 31];

  it.each(seeds)('plays about thirty acts of every sort (seed %i)', (seed) => {
    const script = writeScript(seed);
    const acts = new Set(script.map((one) => (one.kind === 'act' ? one.act : one.kind)));

    expect(script.length).toBeGreaterThanOrEqual(28);
    expect(script.length).toBeLessThanOrEqual(36);
    expect([...acts]).toEqual(
      expect.arrayContaining([
        'push',
        'tag.create',
        'release.draft',
        'release.publish',
        'repository.create',
        'issue.open',
        'issue.label',
        'comment.create',
        'branch.create',
        'branch.delete',
        'pull.open',
        'pull.review',
        'pull.merge',
        'job.finish',
        'package.upload',
        'repository.star',
        'wiki.create',
        'forged',
      ]),
    );
    expect(script.filter((one) => one.kind === 'act' && one.fault === 'drop')).toHaveLength(1);
    expect(script.filter((one) => one.kind === 'act' && one.fault === 'twice')).toHaveLength(1);
    expect(script.filter((one) => one.kind === 'forged')).toHaveLength(1);
  });

  it('is the same for the same seed, and another for another', () => {
    expect(writeScript(7)).toEqual(writeScript(7));
    expect(new Set(seeds.map((seed) => JSON.stringify(writeScript(seed)))).size).toBe(seeds.length);
  });
});
