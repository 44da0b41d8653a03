import { describe, expect, it } from '@jest/globals';
import { markOf, withMark } from '../../src/actions/support/compare.js';
import { EVENT_KINDS } from '../../src/core/event-kinds.js';
import { markIn, wrongIn } from './kinds.js';
import { playsOf, STARTS_NOTHING } from './plays.js';
import { People, type Stage, type StageOrg } from './stage.js';

const NAME = 'issue.opened bb5869a3d1c2';

it('each kind of event is caused by one play, but those that start nothing', () => {
  const [olga, wes, rita] = ['olga', 'wes', 'rita'].map((login) => ({ login }));
  const stage = { olga, wes, rita } as unknown as Stage;
  const plays = playsOf(stage, new People(stage, { name: 'acme' } as StageOrg));

  expect([...plays.map(({ kind }) => kind), ...STARTS_NOTHING].sort()).toEqual([...EVENT_KINDS].sort());
});

describe('markIn', () => {
  it('tells kind and subject of a label', () =>
    expect(markIn({ name: NAME, description: '103' })).toEqual({ kind: 'issue.opened', subject: '103' }));

  it('tells the same of a label that the bot made again after a lost answer, so that its event is not called missed', () => {
    const description = withMark('103', markOf('1a2b3c4d5e6f')) ?? '';
    const mark = markIn({ name: NAME, description });
    const marks = new Map([[mark?.kind ?? '', [mark?.subject ?? '']]]);

    expect(description).toBe('103 [fh:1a2b3c4d]');
    expect(wrongIn(marks, [{ kind: 'issue.opened', subject: '103' }])).toEqual(new Map());
  });

  it.each(['bug', 'issue.opened', 'issue.opened not-a-number'])('takes %s for no mark', (name) =>
    expect(markIn({ name, description: '103' })).toBeNull(),
  );
});
