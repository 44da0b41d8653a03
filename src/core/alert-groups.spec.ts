import { describe, expect, it } from '@jest/globals';
import { groupAlerts } from './alert-groups.js';

const at = (s: number): Date => new Date(s * 1000);
const broken = (org: string | null, s = 0) => ({ code: 'rules.broken', message: `rules of ${org}`, org, at: at(s) });
const many = (count: number, code = 'rules.broken') =>
  Array.from({ length: count }, (_, n) => ({ ...broken(`org-${n}`, n), code }));

describe('core/alert-groups', () => {
  it('lists the same alert of more than ten organizations as one, where its oldest stands', () => {
    const other = { code: 'gaps', message: 'gaps of acme', org: 'acme', at: at(5) };

    expect(groupAlerts([...many(5), other, ...many(12).slice(5)])).toEqual([
      {
        code: 'rules.broken',
        message: 'rules of org-0; the same in 11 more organizations: org-1, org-2, org-3 and 8 more',
        org: null,
        at: at(0),
      },
      other,
    ]);
  });

  it.each([
    ['ten organizations', many(10)],
    ['one organization, however many', Array.from({ length: 30 }, (_, n) => broken('acme', n))],
    ['no organization', Array.from({ length: 30 }, (_, n) => broken(null, n))],
    ['ten of two codes each', [...many(10), ...many(10, 'gaps')]],
  ])('leaves those of %s as they are', (_what, alerts) => {
    expect(groupAlerts(alerts)).toEqual(alerts);
  });
});
