import { describe, expect, it } from '@jest/globals';
import { actions } from '../../src/actions/index.js';
import { oneLine } from '../../src/core/escape-markdown.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import type { Bindings } from '../../src/rules/language/propose/bindings.js';
import { evaluateTemplate } from '../../src/rules/language/propose/evaluate-template.js';

/** Names, keys, words and addresses: bounded, and left as they are, since another spelling would name another thing. The forge shows them as text. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'issue.assign': ['number', 'add', 'remove', 'one_of'],
  'issue.comment': ['number', 'key'],
  'issue.ensure': ['key', 'labels'],
  'issue.react': ['number', 'comment', 'reaction'],
  'branch.delete': ['branch', 'sha'],
  backport: ['number', 'to', 'assign', 'labels', 'failed'],
  'backport.open': ['number', 'to', 'assign', 'labels', 'failed'],
  'backport.label': ['number', 'to', 'assign', 'labels', 'failed'],
  'review.approve': ['number', 'sha'],
  'pull_request.update_branch': ['number', 'sha', 'style'],
  'branch.create': ['new_branch_name', 'old_ref_name'],
  'repo.create_for_user': ['username', 'name', 'default_branch', 'gitignores', 'issue_labels', 'license', 'readme'],
  'user_variable.create': ['name'],
  'label.ensure': ['name', 'color', 'renamed_from'],
  'milestone.ensure': ['title', 'state', 'renamed_from'],
  'protection.ensure': [
    'name',
    'push_whitelist_usernames',
    'push_whitelist_teams',
    'force_push_allowlist_usernames',
    'force_push_allowlist_teams',
    'merge_whitelist_usernames',
    'merge_whitelist_teams',
    'approvals_whitelist_username',
    'approvals_whitelist_teams',
    'bypass_allowlist_usernames',
    'bypass_allowlist_teams',
    'status_check_contexts',
    'protected_file_patterns',
    'unprotected_file_patterns',
  ],
  notify: ['format'],
  'push_mirror.ensure': ['remote_address', 'remote_username', 'interval'],
  'release_notes.ensure': ['tag', 'since', 'groups', 'other', 'skip'],
  'repository_settings.ensure': ['website', 'default_branch', 'default_merge_style'],
  'topics.ensure': ['add', 'remove', 'set'],
  'issue.label': ['number', 'add', 'remove', 'set', 'within'],
  'workflow.dispatch': ['workflow', 'ref', 'inputs'],
  'pull_request.merge': ['number', 'sha', 'method', 'label', 'by'],
  'pull_request.unqueue': ['number'],
  'label.remove': ['name'],
  'milestone.remove': ['title'],
  'pull_request.request_review': ['number', 'reviewers', 'teams', 'one_of'],
  'run.rerun_failed': ['run'],
  'issue.milestone': ['number', 'title'],
  'issue.state': ['number', 'state'],
  'org_variable.set': ['name'],
  'status.set': ['sha', 'context', 'state', 'target_url'],
  'release.update': ['id', 'tag', 'tag_name', 'target_commitish'],
  'user_settings.update': ['description', 'diff_view_style', 'full_name', 'language', 'location', 'theme', 'website'],
};

/** A whole document that people with push rights wrote in Markdown, such as a section of a changelog: bounded, and kept as Markdown. */
const DOCUMENTS = ['release.update body'];

const texts = [...actions.values()].flatMap(({ name: action, params }) =>
  Object.entries(params)
    .filter(([, { facts }]) => ['string', 'strings', 'any'].includes(facts.type) && !facts.secret && !facts.sealed)
    .map(([name, param]) => ({ place: `${action} ${name}`, action, name, param })),
);

const HOSTILE = '@all fixes #1 <img src=x>\n![x](https://evil.example/x)\u202e\u0007\u200b';

function filled(
  facts: { markdown?: boolean; line?: boolean; title?: boolean; chat?: boolean },
  source = 'event.title',
): unknown {
  const compiled = new CelEngine().compile(source, ['event']);
  const expression = { compiled, positionOf: () => PLACE, start: PLACE, lookups: new Set<string>() };
  const bindings = { all: { event: { title: HOSTILE } }, budget: undefined } as unknown as Bindings;
  return evaluateTemplate({ kind: 'text', parts: ['by ', expression as never] }, bindings, bindings.all, {
    name: 'x',
    position: PLACE,
    ...facts,
  });
}

const PLACE = { file: 'r.yaml', line: 1, col: 1 };

describe('reliability/rendered-texts', () => {
  it('has a decision about every text that a template can fill', () => {
    const undecided = texts.filter(({ place, action, name, param: { facts } }) => {
      const decisions = [
        facts.markdown === true,
        facts.line === true,
        facts.title === true,
        facts.chat === true,
        NAMES[action]?.includes(name) === true,
        DOCUMENTS.includes(place),
      ];
      return decisions.filter(Boolean).length !== 1;
    });

    expect(undecided.map(({ place }) => place)).toEqual([]);
    expect(texts.length).toBeGreaterThan(90);
  });

  it.each(texts.filter(({ param }) => param.facts.type === 'string').map((text) => [text.place, text.param] as const))(
    '%s is bounded',
    (_, { schema }) => {
      expect(schema.safeParse('x'.repeat(1_000_001)).success).toBe(false);
    },
  );

  it('makes text of an event harmless where the forge shows it', () => {
    const markdown = String(filled({ markdown: true }));
    const line = String(filled({ line: true }));
    const title = String(filled({ title: true }));
    const chat = String(filled({ chat: true }));

    expect(markdown).not.toMatch(/@all|#1|<img|!\[|\u202e|\n/);
    expect(chat).not.toMatch(/@all|\]\(|:\/\/|\u202e|\n/);
    expect(title).toBe('by @\u200ball fixes #\u200b1 <img src=x> ![x](https:\u200b//evil.example/x)');
    expect(line).toBe('by @all fixes #1 <img src=x> ![x](https://evil.example/x)');
    expect(oneLine('a\r\n b\u2028c\u202e\u0000')).toBe('a b c');
  });

  it.each(['md_list([event.title])', 'md_table([{"a": event.title}], ["a"])'])(
    'takes %s as Markdown in a Markdown parameter alone, where what others wrote does nothing',
    (source) => {
      const markdown = String(filled({ markdown: true }, source));

      expect(markdown).toMatch(/^by (?:- |\| a \|\n)/);
      expect(markdown).not.toMatch(/@all|#1|<img|!\[|:\/\/|\u202e/);
      for (const facts of [{ line: true }, { title: true }, { chat: true }])
        expect(filled(facts, source)).not.toMatch(/\n/);
    },
  );

  it('escapes what is more than such a call', () => {
    expect(filled({ markdown: true }, 'event.title + md_list(["a"])')).toBe(`${String(filled({ markdown: true }))}- a`);
  });
});
