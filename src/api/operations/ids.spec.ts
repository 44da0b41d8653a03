import { describe, expect, it } from '@jest/globals';
import type { IdMatch, IdKind } from '../id-store.port.js';
import { Ids } from './shared.js';

const RUN = '019aa1b2-0000-7000-8000-00000000c0de';

function over(found: IdMatch[]) {
  const asked: Array<[string, readonly IdKind[]]> = [];
  const like = async (text: string, kinds: readonly IdKind[], limit: number): Promise<IdMatch[]> => {
    asked.push([text, kinds]);
    return found.slice(0, limit);
  };
  return { ids: new Ids({ like }), asked };
}

describe('Ids', () => {
  it('takes as much of an id as is unique, in either case', async () => {
    const { ids, asked } = over([{ kind: 'run', id: RUN }]);

    expect(await ids.whole('0000C0DE', ['run', 'intent'], null)).toBe(RUN);
    expect(asked).toEqual([['0000c0de', ['run', 'intent']]]);
  });

  it.each([RUN, 'nope', 'abc', 'rule-7', 'a'.repeat(36)])('asks nothing about %s', async (text) => {
    const { ids, asked } = over([{ kind: 'run', id: 'another' }]);

    expect(await ids.whole(text, ['run'], null)).toBe(text);
    expect(asked).toEqual([]);
  });

  it('leaves what nothing has to the operation, which says what it looked for', async () => {
    expect(await over([]).ids.whole('0000c0de', ['run'], null)).toBe('0000c0de');
  });

  it('refuses what several have, and lists them', async () => {
    const found: IdMatch[] = [
      { kind: 'intent', id: `${RUN}1` },
      { kind: 'run', id: `${RUN}2` },
    ];

    await expect(over(found).ids.whole('019aa1b2', ['run', 'intent'], null)).rejects.toMatchObject({
      code: 'AMBIGUOUS_ID',
      message: `several ids begin or end with 019aa1b2; type more of one of them: intent ${RUN}1, run ${RUN}2`,
    });
    const many = Array.from({ length: 40 }, (_, n): IdMatch => ({ kind: 'run', id: `019aa1b2${n}` }));
    await expect(over(many).ids.whole('019aa1b2', ['run'], null)).rejects.toThrow(/019aa1b29, …$/);
  });

  it('takes a short id that is whole, though others go on after it', async () => {
    const found: IdMatch[] = ['019aa1b2', '019aa1b2-ff'].map((id) => ({ kind: 'run', id }));

    expect(await over(found).ids.whole('019aa1b2', ['run'], null)).toBe('019aa1b2');
  });
});
