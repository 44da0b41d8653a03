import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../core/json.js';
import { Secret } from '../../core/secret.js';
import { hasSealedReads, openReads, sealReads, isForOwnersAlone } from './answer-lookups.js';
import { Encryptor } from '../../core/encryptor.js';

const encryptor = new Encryptor(new Secret('ab'.repeat(32)));
const RUN = {
  id: 'r',
  reason: 'condition "says" is false',
  lookups: {
    note: { value: [{ text: 'private words', id: 12345678901234567890n }], asked: 'q1' },
    gone: { missing: true, asked: 'q2' },
    broken: { failed: 'the forge said no', asked: 'q3' },
    '@act': { value: { proven: true } },
  } as unknown as JsonObject,
  trace: { at: 'rules/r.yaml:3:5', conditions: [{ seen: { 'lookups.note': 'private words' } }] },
};
const sealed = sealReads({ run: RUN, readsPrivate: true }, encryptor).run;

describe('pipeline/decide/sealed-answers', () => {
  it('leaves a run alone that read nothing private, also one that was stored before there was a seal', () => {
    const recorded = { run: RUN };

    expect(sealReads(recorded, encryptor)).toBe(recorded);
    expect(openReads(RUN, encryptor)).toBe(RUN);
    expect(hasSealedReads(RUN)).toBe(false);
  });

  it('seals answers that have a value, and the trace, and nothing else', () => {
    expect(JSON.stringify(sealed)).not.toContain('private words');
    expect(hasSealedReads(sealed)).toBe(true);
    expect(sealed).toMatchObject({
      id: 'r',
      reason: RUN.reason,
      lookups: { gone: RUN.lookups['gone'], broken: RUN.lookups['broken'], '@act': RUN.lookups['@act'] },
    });
  });

  it('opens to what was sealed, to the digit', () => {
    expect(openReads(sealed, encryptor)).toEqual(RUN);
    expect(openReads({ lookups: sealed.lookups }, encryptor)).toEqual({ lookups: RUN.lookups });
  });

  it('gives equal reads equal hashes, although each seal is another text', () => {
    const again = sealReads({ run: RUN, readsPrivate: true }, encryptor).run;
    const [first, second] = [sealed, again].map(({ trace }) => trace as unknown as { $sealed: string; $hash: string });

    expect(second?.$sealed).not.toBe(first?.$sealed);
    expect(second?.$hash).toBe(first?.$hash);
  });

  it.each<[string, Encryptor]>([
    [
      'a process that does not have the key',
      new Encryptor(Secret.withheld('keys.data is not for a process of the role web')),
    ],
    ['the holder of another key', new Encryptor(new Secret('cd'.repeat(32)))],
  ])('stays sealed for %s', (_who, other) => {
    expect(openReads(sealed, other)).toEqual(sealed);
  });

  it('takes what tells of a whole organization for private, and what is about no repository not', () => {
    expect([['feed.list'], ['jobs.mine', 'labels.list'], ['package.get']].map(isForOwnersAlone)).toEqual([
      true,
      true,
      true,
    ]);
    expect([[], ['labels.list'], ['release.by_tag']].map(isForOwnersAlone)).toEqual([false, false, false]);
  });

  it.each([
    'hooks.list',
    'tokens.list',
    'org_variable.get',
    'push_mirrors.list',
    'protection.get',
    'actor.rights',
    'team.members',
  ])('seals what the forge answers to owners alone: %s', (use) => {
    expect(isForOwnersAlone(['labels.list', use])).toBe(true);
  });
});
