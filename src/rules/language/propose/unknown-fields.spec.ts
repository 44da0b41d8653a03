import { describe, expect, it } from '@jest/globals';
import { anEvent } from '../../../../test/builders/arrivals.js';
import { aRule } from '../../../../test/builders/rule-environment.js';
import { DELIVERY, withLearned } from '../../../core/event-knowledge.js';
import type { ForgeEvent } from '../../../core/event.js';
import type { JsonObject } from '../../../core/json.js';
import { normalizeEntry } from '../../../events/normalize-entry.js';
import { textOf } from '../../../core/reason.js';
import { CelEngine } from '../expressions/cel-engine.js';
import { createMatcher } from '../match/matcher.js';
import type { Report } from '../revision.js';
import { evaluateRule } from './evaluate-rule.js';

const engine = new CelEngine();
const REPO = {
  id: '7',
  owner: { login: 'acme' },
  name: 'app',
  full_name: 'acme/app',
  private: false,
  fork: false,
  mirror: false,
  archived: false,
  default_branch: 'main',
  topics: [],
};

/** The event that a row of the feed tells. */
function polled(row: Record<string, unknown>): ForgeEvent {
  const text = JSON.stringify({
    id: 1,
    act_user_id: 3,
    act_user: { id: 3, login: 'ann' },
    repo: REPO,
    created: '2026-07-30T12:00:00Z',
    ...row,
  });
  const facts = normalizeEntry({ org: 'acme', source: 'feed', text, textHash: 'x' });
  if (!Array.isArray(facts)) throw new Error(facts.reason);
  return anEvent({ ...facts[0], source: 'feed' });
}

const SHA = 'a'.repeat(40);
const push = (): ForgeEvent =>
  polled({
    op_type: 'commit_repo',
    ref_name: 'refs/heads/main',
    content: JSON.stringify({
      Commits: [{ Sha1: SHA, Message: 'one' }],
      HeadCommit: { Sha1: SHA, Message: 'one' },
      CompareURL: `acme/app/compare/${'b'.repeat(40)}...${SHA}`,
      Len: 1,
    }),
  });
const issue = (): ForgeEvent => polled({ op_type: 'create_issue', content: '4|A title' });
const pull = (): ForgeEvent => polled({ op_type: 'create_pull_request', content: '5|A title' });
const comment = (): ForgeEvent =>
  polled({ op_type: 'comment_issue', content: '4|x', comment_id: 9, comment: { id: 9, body: '/label bug' } });

/** What a rule about pushes (or another kind) says of an event, with the fields that it needs. */
function judge(event: ForgeEvent, lines: string, awaits?: true): { verdict: Report['verdict']; unknown: string } {
  const steps = lines.includes('do:') ? '' : '\ndo: {milestone.ensure: {title: a}}';
  const rule = aRule(`id: x\non: ${event.kind}\n${lines}${steps}`);
  const evaluation = evaluateRule(
    rule,
    { org: 'acme', event, now: new Date(0), bot: { login: 'forgehand' }, lookups: {}, awaits },
    engine,
  );
  if (evaluation.kind !== 'decided') throw new Error(`needs ${evaluation.request.use}`);
  const { verdict, unknown = [], reason } = evaluation.report;
  if (unknown.length > 0) for (const path of unknown) expect(textOf(reason)).toContain(path);
  return { verdict, unknown: unknown.join(' ') };
}

const needs = (...paths: string[]) => ({ verdict: 'error', unknown: paths.join(' ') });
const FIRED = { verdict: 'fired', unknown: '' };
const NOT_FIRED = { verdict: 'not-fired', unknown: '' };

describe('rules/language/propose, fields that an event does not know', () => {
  it.each<[string, () => ForgeEvent, string, object, object]>([
    [
      'a list of files',
      push,
      `if: any_glob(event.files.added, ["docs/**"])`,
      needs('event.files.added'),
      needs('event.files.added'),
    ],
    [
      'the negation of it',
      push,
      `if: "!any_glob(event.files.removed, ['docs/**'])"`,
      needs('event.files.removed'),
      needs('event.files.removed'),
    ],
    [
      'whether the list is complete',
      push,
      'if: event.files_complete',
      needs('event.files_complete'),
      needs('event.files_complete'),
    ],
    ['what only a delivery tells', push, 'if: event.created', needs('event.created'), needs('event.created')],
    ['whether a field is there', push, 'if: has(event.before)', needs('event.before'), NOT_FIRED],
    ['that a field is not there', push, 'if: "!has(event.before)"', needs('event.before'), FIRED],
    [
      'what stands on the other side of false',
      push,
      'if: event.branch == "dev" && event.created',
      NOT_FIRED,
      NOT_FIRED,
    ],
    ['… written the other way round', push, 'if: event.created && event.branch == "dev"', NOT_FIRED, NOT_FIRED],
    ['what stands on the other side of true', push, 'if: event.created || event.branch == "main"', FIRED, FIRED],
    [
      'both of two',
      push,
      'if: event.created && event.files.added.size() > 0',
      needs('event.created', 'event.files.added'),
      needs('event.created', 'event.files.added'),
    ],
    [
      'a condition beside one that is false',
      push,
      'if: {one: event.created, two: event.branch == "dev"}',
      NOT_FIRED,
      NOT_FIRED,
    ],
    [
      'in a loop over commits',
      push,
      `if: event.commits.exists(c, c.added.exists(f, f == "a"))`,
      needs('event.commits[].added'),
      needs('event.commits[].added'),
    ],
    [
      'the account of a commit',
      push,
      'if: event.commits.exists(c, c.author.username == "ann")',
      needs('event.commits[].author.username'),
      needs('event.commits[].author.username'),
    ],
    [
      'the account of the newest commit',
      push,
      'if: event.head_commit.committer.username == "ann"',
      needs('event.head_commit.committer.username'),
      needs('event.head_commit.committer.username'),
    ],
    ['the name of who made a commit', push, 'if: event.commits.exists(c, c.author.name == "")', FIRED, FIRED],
    ['what the commits do tell', push, `if: event.commits.exists(c, c.message == "one")`, FIRED, FIRED],
    [
      'a step',
      push,
      'do: {milestone.ensure: {title: "${{ event.before }}"}}',
      needs('event.before'),
      needs('event.before'),
    ],
    [
      'an item of for_each',
      push,
      'do: [{milestone.ensure: {title: "${{ item.added[0] }}"}, for_each: event.commits}]\nlimits: {effects_per_run: 3}',
      needs('event.commits[].added'),
      needs('event.commits[].added'),
    ],
    [
      'a step that is left out',
      push,
      'do: [{milestone.ensure: {title: "${{ event.before }}"}, when: "false"}]',
      FIRED,
      FIRED,
    ],
    [
      'an object that is handed on whole',
      push,
      'do: {note.keep: {value: "${{ event.head_commit }}"}}',
      needs('event.head_commit.added'),
      needs('event.head_commit.added'),
    ],
    ['labels', issue, 'if: "!event.labels.exists(l, l == \'bug\')"', needs('event.labels'), needs('event.labels')],
    ['the author', issue, 'if: event.author != "ann"', needs('event.author'), needs('event.author')],
    [
      'the author of what a comment is on',
      comment,
      'if: event.author == "ann"',
      needs('event.author'),
      needs('event.author'),
    ],
    ['the head of a pull request', pull, 'if: event.sha != ""', needs('event.sha'), needs('event.sha')],
    [
      'labels as the issue has them',
      issue,
      'if: event.issue.labels.size() == 0',
      needs('event.issue.labels'),
      needs('event.issue.labels'),
    ],
    ['the title, which the row tells', issue, 'if: event.issue.title == "A title"', FIRED, FIRED],
    ['the base branch, in where', pull, 'where: {branch: main}', needs('event.branch'), needs('event.branch')],
    [
      'the base branch, and a filter that turns the event away',
      pull,
      'where: {branch: main, repo: [other]}',
      NOT_FIRED,
      NOT_FIRED,
    ],
    [
      'who wrote the issue, of a command',
      comment,
      'where: {command: label}\nif: event.issue.user.login == "ann"',
      needs('event.issue.user'),
      needs('event.issue.user'),
    ],
  ])('%s', (_needed, event, lines, open, closed) => {
    expect(judge(event(), lines, true)).toEqual(open);
    expect(judge(event(), lines)).toEqual(closed);
  });

  it('finds rules by a name that is not known', () => {
    const rules = [
      aRule('id: a\non: pull_request.opened\nwhere: {branch: main}\ndo: {milestone.ensure: {title: a}}'),
      aRule('id: b\non: pull_request.opened\nwhere: {branch: "rel/*"}\ndo: {milestone.ensure: {title: a}}'),
      aRule('id: c\non: pull_request.opened\nwhere: {tag: v1}\ndo: {milestone.ensure: {title: a}}'),
    ];
    const found = createMatcher({ org: 'acme', rules }).match(pull(), { botLogin: null });
    expect(found.candidates.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it('a delivery that came later tells what is missing, and its filters are asked again', () => {
    const told = { before: 'b'.repeat(40), created: false, files_complete: true };
    const files = { added: ['docs/a'], modified: [], removed: [] };
    const event = push();
    const data = withLearned({ ...event.data, files_complete: true }, { ...told, files }, [DELIVERY, 'files']);
    expect(judge({ ...event, data }, `if: any_glob(event.files.added, ["docs/**"]) && !event.created`)).toEqual(FIRED);
    const opened = pull();
    const known = { ...opened, data: withLearned(opened.data, { branch: 'dev' }, [DELIVERY]) };
    expect(judge(known, 'where: {branch: main}')).toEqual(NOT_FIRED);
  });

  it('who opened it is told by the pull request or issue, and null where the account is gone', () => {
    const user = { login: 'ann' };
    const of = (data: JsonObject): ForgeEvent => ({ ...issue(), data: { number: 4, ...data } });

    expect(judge(of({ issue: { number: 4, user } }), 'if: event.author == "ann"')).toEqual(FIRED);
    expect(
      judge(of({ issue: { user: { login: 'bob' } }, pull_request: { user } }), 'if: event.author == "ann"'),
    ).toEqual(FIRED);
    expect(judge(of({ issue: { number: 4, user: null } }), 'if: event.author == null')).toEqual(FIRED);
  });

  it('what a delivery leaves out is not known either', () => {
    const event = anEvent({
      kind: 'issue.labeled',
      repo: { ...REPO, owner: 'acme' },
      data: { action: 'label_updated', number: 4, issue: { number: 4, title: 'x', body: '', state: 'open' } },
    });
    expect(judge(event, `if: "!event.labels.exists(l, l == 'bug')"`, true)).toEqual(needs('event.labels'));
    expect(judge(event, 'if: event.issue.milestone == null', true)).toEqual(needs('event.issue.milestone'));
  });
});
