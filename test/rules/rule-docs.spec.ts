import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { ruleDocs } from './rule-docs.js';

const docs = ruleDocs();
const read = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../docs/${name}`, import.meta.url)), 'utf8');
const examples = [...read('guide.md').matchAll(/```yaml\n(.*?)```/gs)].map(
  ([, text = ''], index) => [index + 1, text] as const,
);

/** The specification's own lists. */
const OP_TYPES =
  'create_repo rename_repo star_repo watch_repo commit_repo create_issue create_pull_request transfer_repo push_tag comment_issue merge_pull_request close_issue reopen_issue close_pull_request reopen_pull_request delete_tag delete_branch mirror_sync_push mirror_sync_create mirror_sync_delete approve_pull_request reject_pull_request comment_pull publish_release pull_review_dismissed pull_request_ready_for_review auto_merge_pull_request';
const TASK_STATES = 'unknown waiting running success failure cancelled cancelling skipped blocked';
const HOOK_EVENTS =
  'create delete fork push issues issue_assign issue_label issue_milestone issue_comment pull_request pull_request_assign pull_request_label pull_request_milestone pull_request_sync pull_request_review_request pull_request_comment pull_request_review_approved pull_request_review_rejected pull_request_review_comment wiki repository release package status workflow_run workflow_job action_run_failure action_run_recover action_run_success';

describe('generated pages for authors of rules', () => {
  it.each([...docs.keys()])('docs/%s is what the definitions say (npm run docs -- rules)', (name) => {
    expect(read(name)).toBe(docs.get(name));
  });

  it.each([...OP_TYPES.split(' '), ...TASK_STATES.split(' '), ...HOOK_EVENTS.split(' ')])(
    'events.md says what %s is told as',
    (word) => {
      const kinds = docs.get('events.md')?.split('## Fields of every event')[0] ?? '';

      expect(kinds).toContain(`\`${word}\``);
    },
  );

  it('the guide starts with five lines, and uses every key of a rule and a step', () => {
    const [first] = examples;
    const guide = read('guide.md');

    expect(first?.[1].trim().split('\n').length).toBeLessThanOrEqual(5);
    for (const key of [
      'where',
      'lookup',
      'if',
      'do',
      'limits',
      'coalesce',
      'schedule',
      'mode',
      'when',
      'unless',
      'for_each',
      'approval',
      'cache',
      'on_missing',
      'secrets',
      'vars',
      'policies',
    ])
      expect([key, new RegExp(`\\b${key}\\b`).test(guide)]).toEqual([key, true]);
  });
});
