import { describe, expect, it } from '@jest/globals';
import { printTrial } from './print-trial.js';

const place = { file: 'a.yaml', line: 4, col: 5 };
const effect = { stepId: '1', operation: null, reason: null } as const;

describe('cli/print-trial', () => {
  it('says of each rule whether it fires and why, and of each effect what it would do', () => {
    const text = printTrial(
      {
        problems: [],
        event: {
          kind: 'issue.opened',
          repo: 'acme/app',
          subject: '#12',
          actor: 'ann',
          factAt: '2026-07-30T12:00:00.000Z' as never,
          data: {},
        },
        rules: [
          {
            ...{ rule: 'sort', kind: 'rule', verdict: 'fired', away: 0, unknown: 0, mode: 'dry-run', place: null },
            reason: 'all 2 conditions hold; 3 effects planned',
            steps: {
              ...{ rule: 'sort', reason: '', place: null, filters: [], conditions: [], steps: [], effects: [] },
              lookups: [{ name: 'old', answer: '2 issues' }],
            },
            effects: [
              {
                ...effect,
                ...{ action: 'issue.label', itemKey: '12', does: 'write', operation: 'addIssueLabels' },
                params: { add: ['kind/bug'] },
              },
              { ...effect, action: 'issue.state', itemKey: '12', does: 'nothing', reason: 'it is open', params: {} },
              { ...effect, action: 'status.set', itemKey: 'x', does: 'cannot', reason: 'no such commit', params: {} },
              {
                ...{ ...effect, action: 'pull_request.merge', itemKey: '12', does: 'waits', params: {} },
                reason: 'its checks run',
              },
            ],
            waits: ['step 1 would wait for a yes of whoever may approve (approval)'],
          },
          {
            ...{ rule: 'other', kind: 'rule', verdict: 'rejected', away: 1, unknown: 0, mode: 'live', steps: null },
            ...{ place, reason: 'on: push is wanted', effects: [], waits: [] },
          },
        ],
        reads: 1,
        notes: ['the event was made from the object'],
      },
      'acme/app#12',
    );

    expect(text.split('\n')).toEqual([
      '  event    issue.opened on acme/app#12 by ann, 2026-07-30 12:00:00 UTC',
      '  reads    1 lookup; nothing was written',
      '',
      'sort  fired  all 2 conditions hold; 3 effects planned  dry-run',
      'lookups',
      '  lookups.old = 2 issues',
      'before it writes',
      '  step 1 would wait for a yes of whoever may approve (approval)',
      'effects',
      '  would write  issue.label 12  put labels on an issue',
      '           add = ["kind/bug"]',
      '  as it is     issue.state 12  it is open',
      '  cannot       status.set x  no such commit',
      '  would wait   pull_request.merge 12  its checks run',
      '',
      'other  rejected  on: push is wanted',
      '  look at  a.yaml:4:5',
      '',
      'note  the event was made from the object',
    ]);
  });
});
