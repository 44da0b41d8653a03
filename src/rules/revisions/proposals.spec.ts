import { beforeEach, describe, expect, it } from '@jest/globals';
import { anEvent } from '../../../test/builders/arrivals.js';
import { BotError, UserError } from '../../core/errors.js';
import type { ForgeEvent } from '../../core/event.js';
import type { RuleFile } from '../language/revision.js';
import { Proposals } from './proposals.js';

const SHA = 'a'.repeat(40);
const FILES: RuleFile[] = [{ path: 'rules/a.yaml', text: 'rules: []' }];
const BAD = [2, 3].map((line) => `rules/a.yaml:${line}:1: no such\nkey`);
const HISTORY = 'on the last 2 events: nothing would have changed';

describe('rules/revisions/proposals', () => {
  let problems: readonly string[];
  let failure: Error | null;
  let compared: unknown[];
  let outside: boolean[];
  let isTried: boolean;
  let proposals: Proposals;

  beforeEach(() => {
    [compared, outside, problems, isTried, failure] = [[], [], [], true, null];
    proposals = new Proposals(
      {
        comesFrom: async (_, repository) => repository === '7',
        proposed: async (_, repository, _commit, isOutside) => {
          if (failure) throw failure;
          outside.push(isOutside);
          return repository === '7' ? { files: FILES, isTried, problems } : null;
        },
      },
      { onHistory: async (...asked) => (compared.push(asked), HISTORY) },
    );
  });

  const pull = (from: string | null, over: Partial<ForgeEvent> = {}): ForgeEvent =>
    anEvent({
      kind: 'pull_request.opened',
      data: { number: 3, sha: SHA, pull_request: { head: { repo: from === null ? null : { id: from } } } },
      ...over,
    });
  const taken = { context: 'forgehand/rules', state: 'success' };

  it('tells whether the rules would be taken, held against history where the branch is one of the repository', async () => {
    const event = pull('7', { kind: 'pull_request.synchronized' });

    expect(await proposals.commitOf(event)).toBe(SHA);
    expect(await proposals.judge(event, SHA)).toEqual({
      ...{ isTried: true, problems: [], history: HISTORY },
      status: { ...taken, description: `These rules would be taken; ${HISTORY}` },
    });
    expect([compared, outside]).toEqual([[['acme', FILES]], [false]]);
  });

  it('tells the first of the problems in one line, and holds nothing against history', async () => {
    problems = BAD;

    expect(await proposals.judge(pull('7'), SHA)).toMatchObject({
      problems: ['rules/a.yaml:2:1: no such\nkey', 'rules/a.yaml:3:1: no such\nkey'],
      history: null,
      status: { state: 'failure', description: 'Would not be taken: rules/a.yaml:2:1: no such key; and 1 more' },
    });
    expect(compared).toEqual([]);
  });

  it.each([
    ['a fork', '99'],
    ['a fork that is gone, or is not told', null],
  ])('tells %s the verdict alone', async (_, from) => {
    const event = pull(from);

    expect(await proposals.commitOf(event)).toBe(SHA);
    expect(await proposals.judge(event, SHA)).toMatchObject({
      status: { ...taken, description: 'These rules would be taken' },
    });
    expect([compared, outside]).toEqual([[], [true]]);
  });

  it('says that nobody tried, and why', async () => {
    [isTried, problems] = [false, ['no fork may try them']];

    expect(await proposals.judge(pull('99'), SHA)).toMatchObject({
      isTried: false,
      status: { state: 'failure', description: 'Not checked: no fork may try them' },
    });
  });

  it('tells what is wrong with the index, and nothing while the forge cannot be asked', async () => {
    failure = new UserError('RULES_FILE_MISSING', 'b.yaml is not there');
    expect(await proposals.judge(pull('7'), SHA)).toMatchObject({ problems: ['b.yaml is not there'], history: null });

    failure = new BotError('FORGE_NOT_REACHED', 'not yet', 'transient');
    await expect(proposals.judge(pull('7'), SHA)).rejects.toBe(failure);
  });

  it.each<[string, Partial<ForgeEvent>]>([
    ['of another repository', { repo: { id: '8', owner: 'acme', name: 'lib', full_name: 'acme/lib' } }],
    ['whose head did not move', { kind: 'pull_request.labeled' }],
    ['without a whole commit id', { data: { number: 3, sha: '../x' } }],
  ])('says nothing to a pull request %s', async (_, over) => {
    expect(await proposals.commitOf(pull('7', over))).toBeNull();
  });
});
