import { describe, expect, it } from '@jest/globals';
import { REPOSITORY, SENDER, SHA_A } from '../../test/builders/sample-bodies.js';
import { stringifyJson } from '../core/json.js';
import { Misfit } from './event-fact.js';
import { normalizeEntry } from './normalize-entry.js';
import { DELIVERY_READERS, ROW_READERS } from './normalize/index.js';
import { meaningOf } from '../../test/recordings-tool/play-feed.js';
import { FEED_ROWS, TASK_ROWS } from './pairing-table.js';

const PUSH = stringifyJson({
  Commits: null,
  HeadCommit: null,
  CompareURL: `acme/app/compare/${SHA_A}...${SHA_A}`,
  Len: 0,
});

const refOf = (opType: string): string => (/tag|release/.test(opType) ? 'refs/tags/v1' : 'refs/heads/main');
const contentOf = (opType: string, when: string | undefined): string =>
  when === 'empty content' || /mirror_sync_(create|delete)|delete_branch/.test(opType)
    ? ''
    : /commit_repo|sync_push|_tag/.test(opType)
      ? PUSH
      : '4|text';

describe('events/pairing-table', () => {
  it.each(FEED_ROWS.map((meaning) => [`${meaning.opType} ${meaning.when ?? ''}`.trim(), meaning] as const))(
    '%s tells what the table says',
    (_name, meaning) => {
      const text = stringifyJson({
        id: 1,
        op_type: meaning.opType,
        content: contentOf(meaning.opType, meaning.when),
        ref_name: refOf(meaning.opType),
        comment_id: 7,
        act_user: SENDER,
        repo: REPOSITORY,
        created: '2026-11-20T19:34:37+01:00',
      });

      const facts = normalizeEntry({ org: 'acme', source: 'feed', text, textHash: '' });

      expect(facts instanceof Misfit ? facts : facts.map(({ kind }) => kind)).toEqual(
        meaning.facts.map(({ kind }) => kind),
      );
    },
  );

  it('knows every word that is read, and no other', () => {
    expect(new Set(FEED_ROWS.map(({ opType }) => opType))).toEqual(new Set(ROW_READERS.keys()));
  });

  it('names deliveries that are read', () => {
    const named = [...FEED_ROWS.flatMap(({ facts }) => facts), ...TASK_ROWS].flatMap(({ deliveries }) => deliveries);

    expect(named.filter((eventType) => !DELIVERY_READERS.has(eventType))).toEqual([]);
  });

  it.each([
    [{ op_type: 'commit_repo', content: '' }, ['branch.created']],
    [{ op_type: 'commit_repo', content: PUSH }, ['push']],
    [{ op_type: 'commit_repo', content: '{}' }, ['push']],
    [{ op_type: 'push_tag', content: PUSH }, ['push', 'tag.created']],
  ])('finds the meaning of %j', (row, kinds) => {
    expect(meaningOf(row)?.facts.map(({ kind }) => kind)).toEqual(kinds);
  });

  it('has no meaning for a word nobody knows', () => {
    expect(meaningOf({ op_type: 'fly_to_the_moon', content: '' })).toBeNull();
  });
});
