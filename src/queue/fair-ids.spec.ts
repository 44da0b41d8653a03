import { describe, expect, it } from '@jest/globals';
import { FairIds } from './fair-ids.js';

const any = (): boolean => true;

function takeAll(ids: FairIds, mayBe: (id: string) => boolean = any): string[] {
  const taken: string[] = [];
  for (let next = ids.take(mayBe); next !== null; next = ids.take(mayBe)) taken.push(next.id);
  return taken;
}

describe('queue/fair-ids', () => {
  it('takes one organization after another, and those of one in the order they came', () => {
    const ids = new FairIds();
    for (let n = 1; n <= 4; n += 1) ids.add(`flood-${n}`, 'acme');
    ids.add('quiet-1', 'beta');
    ids.add('quiet-2', 'beta');

    expect(takeAll(ids)).toEqual(['flood-1', 'quiet-1', 'flood-2', 'quiet-2', 'flood-3', 'flood-4']);
    expect(ids.size).toBe(0);
  });

  it('holds an id once, whoever announces it', () => {
    const ids = new FairIds();
    ids.add('a', 'acme');
    ids.add('a', '');
    ids.add('a', 'acme');

    expect(ids.size).toBe(1);
    expect(takeAll(ids)).toEqual(['a']);
  });

  it('passes over what may not be taken now, and keeps it', () => {
    const ids = new FairIds();
    ids.add('runs', 'acme');
    ids.add('next', 'acme');

    expect(takeAll(ids, (id) => id !== 'runs')).toEqual(['next']);
    expect(takeAll(ids)).toEqual(['runs']);
  });

  it('holds nothing after it is cleared', () => {
    const ids = new FairIds();
    ids.add('a', 'acme');
    ids.clear();

    expect([ids.size, takeAll(ids)]).toEqual([0, []]);
  });
});
