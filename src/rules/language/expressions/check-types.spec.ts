import { describe, expect, it } from '@jest/globals';
import { aLoadEnvironment } from '../../../../test/builders/rule-environment.js';
import { lookupCatalogue } from '../../../actions/lookups/index.js';
import { actionCatalogue } from '../../../actions/index.js';
import { loadRules } from '../load/load-rules.js';

const LOOKUPS = '{mirrors: {use: push_mirrors.list}, head: {use: branch.get, on_missing: none, with: {branch: main}}}';

/** Problems of a condition as `col: message (hint)`, its first character in column 9. */
function check(condition: string, on = 'release.published', more = ''): string[] {
  const text = `version: 1
org: acme
vars: {labels: [{name: a, exclusive: true}, {name: b}], limit: 3}
rules:
  - id: x
    on: ${on}
    lookup: ${LOOKUPS}
    if:
      a: |-
        ${condition}
${more}    do: {milestone.ensure: {title: a}}
`;
  const result = loadRules(
    [{ path: 'r', text }],
    aLoadEnvironment({ actions: actionCatalogue(), lookups: lookupCatalogue(), checkTypes: true }),
  );
  return result.ok
    ? []
    : result.problems.map(
        ({ line, col, message, hint }) =>
          `${line === 10 ? '' : `line ${line}, `}${col - 9}: ${message}${hint ? ` (${hint})` : ''}`,
      );
}

const FIELDS: Array<[string, string, string?]> = [
  ['event.relase.draft', '6: an event of release.published has no "relase" (did you mean "release"?)'],
  ['event.release.tagname == "v1"', '14: event.release has no "tagname" (did you mean "tag_name"?)'],
  ['event . release . prerelese', '18: event.release has no "prerelese" (did you mean "prerelease"?)'],
  ['event["relase"].draft', '7: an event of release.published has no "relase" (did you mean "release"?)'],
  ['repo.full_nam == "acme/web"', '5: repo has no "full_nam" (did you mean "full_name"?)'],
  ['lookups.mirrors.all(m, m.lasterror == "")', '25: m has no "lasterror" (did you mean "last_error"?)'],
  [
    'lookups.mirrors.last_error == ""',
    '16: a list has no fields (of one: [0]; of any: .exists(x, x.name == "…"); of all: .map(x, x.name))',
  ],
  ['lookups.head.commit.author.mail == ""', '27: lookups.head.commit.author has no "mail" (did you mean "email"?)'],
  ['vars.labels.exists(l, l.colour == "")', '24: l has no "colour" (there are: name, exclusive)'],
  ['bot.name == "x"', '4: bot has no "name" (there are: login, id, hook_url, needed_events)'],
  ['has(event.relase)', '10: an event of release.published has no "relase" (did you mean "release"?)'],
  ['event.actor.login.name == ""', '18: a text has no fields (it is a text already)'],
  [
    'event.number > 1',
    '6: release.published has no "number" (ask first: has(event.number) && …, or list fewer kinds under on)',
    '[issue.opened, release.published]',
  ],
];

const OPERANDS: Array<[string, string]> = [
  [
    'event.release.id == 12',
    '17: an id (a text) never equals a whole number: this can never hold (ids are texts: "12")',
  ],
  [
    'event.release.created_at > "2026-01-01"',
    '25: > compares two of a kind, these are a time and a text (timestamp("2026-12-31T00:00:00Z"))',
  ],
  [
    'event.release.created_at > duration("5h")',
    '25: > compares two of a kind, these are a time and a duration (how long ago a time was: age(time) > duration("36h"))',
  ],
  [
    'event.release.draft == "false"',
    '20: true or false never equals a text: this can never hold (without quotes: false)',
  ],
  ['event.tag + 1 == "v1"', '10: + does not take a text and a whole number (to write it into a text: string(…))'],
  ['event.tag && event.release.draft', '6: && joins conditions, this is a text (compare it: … != "")'],
  ['!event.tag', '7: ! turns a condition round, this is a text (compare it: … != "")'],
  ['event.release.draft.startsWith("v")', '19: true or false has no startsWith() (it is: string.startsWith(string))'],
  ['event.tag.startsWith(1)', '9: startsWith does not take a whole number (it is: string.startsWith(string))'],
  ['age(event.tag) > duration("1h")', '0: age does not take a text (it is: age(timestamp))'],
  ['age(now) > duration("5d")', '20: "5d" is no duration (days(5), or duration("120h"))'],
  ['glob(["a"], "b")', '0: glob does not take a list and a text (of lists: any_glob(texts, patterns))'],
  ['now > timestamp("yesterday")', '16: "yesterday" is no time (times are like "2026-12-31T18:00:00Z")'],
  ['event.tag in "v1"', '10: in looks into a list, this is a text (for a part of a text: text.contains("…"))'],
  ['event.tag[0] == "v"', '9: a text has no elements (for a part of a text: text.substring(0, 7))'],
  ['lookups.mirrors["a"] != null', '16: a list is asked by number, this is a text (the first one is [0])'],
  [
    'lookups.mirrors > 1',
    '16: > compares two of a kind, these are a list and a whole number (for one of a list: value in list, or list.exists(x, …))',
  ],
  [
    'event.tag.all(c, c == "v")',
    '5: only a list can be walked, this is a text (for a text: .contains("…"), .split(","))',
  ],
  ['(event.release.draft ? 1 : 2) == "x"', '30: a whole number never equals a text: this can never hold'],
];

const IMPOSSIBLE: Array<[string, string]> = [
  ['event.kind == "push"', '14: event.kind is never "push" (it may be: release.published)'],
  ['event.source == "webhok"', '16: event.source is never "webhok" (did you mean "webhook"?)'],
  ['event.source in ["feed", "taks"]', '25: event.source is never "taks" (did you mean "tasks"?)'],
  [
    'event.tag == "a" && event.tag == "b"',
    '20: event.tag == "a" must hold as well (line 10): this can never hold (the rule would never fire; to switch a rule off: disabled: "why")',
  ],
  [
    'repo.private && !repo.private',
    '17: repo.private == true must hold as well (line 10): this can never hold (the rule would never fire; to switch a rule off: disabled: "why")',
  ],
  [
    'repo.size > 5 && repo.size < 3',
    '17: repo.size > 5 must hold as well (line 10): this can never hold (the rule would never fire; to switch a rule off: disabled: "why")',
  ],
  ['false', '0: this is never true (the rule would never fire; to switch a rule off: disabled: "why")'],
];

describe('rules/language/expressions/check-types', () => {
  it.each(FIELDS)('%s: names the field that is not there', (...[condition, problem, on]) => {
    expect(check(condition, typeof on === 'string' ? on : undefined)).toEqual([problem]);
  });

  it.each([...OPERANDS, ...IMPOSSIBLE])('%s: tells what can never work', (condition, problem) => {
    expect(check(condition)).toEqual([problem]);
  });

  it.each<string[]>([
    ['event.release.id == "12" && event.tag.startsWith("v")'],
    ['event.release.created_at > now - duration("36h") && age(event.release.created_at) < duration("2h30m")'],
    ['event.release.assets.size() > 0 && event.release.assets.all(a, a.size < 1000000)'],
    ['lookups.head == null || lookups.head.protected'],
    ['lookups.mirrors.filter(m, m.last_error != "").map(m, m.remote_address).join(", ") == ""'],
    ['vars.labels.exists(l, has(l.exclusive) && l.exclusive) && vars.limit >= 3'],
    ['has(event.release.id) ? event.release.id != "1" : true'],
    ['has(event.release.something_of_a_newer_server) && event.release.something_of_a_newer_server == 4'],
    ['has(event.number) && event.number > 1', '[issue.opened, release.published]'],
    ['event.kind == "issue.opened" && event.number > 1', '[issue.opened, release.published]'],
    ['event.kind != "issue.opened" || event.issue.state == "open"', '[issue.opened, release.published]'],
    ['event.repo.full_name == repo.full_name && event.actor.login == bot.login'],
    ['type(event.tag) == string && [1, 2.5].exists(n, n > 2)'],
    ['parse_yaml(event.release.body).owner == "x" && {"a": 1}.a == 1 && {event.tag: 1}[event.tag] == 1'],
    ['event.release.name != null && event.release.name in ["a", "b"]'],
    ['repo.size > 3 && repo.size < 5 && repo.size != 7'],
    ['section(event.release.body, event.tag) != null'],
    ['event.release.author.login.lowerAscii() == "x" && event.tag.split(".")[0] == "v1"'],
  ])('%s: is fine', (...[condition = '', on]) => {
    expect(check(condition, typeof on === 'string' ? on : undefined)).toEqual([]);
  });

  it('holds conditions against the filters of where', () => {
    const where = (filter: string): string => `    where: ${filter}\n`;

    expect(check('event.tag == "v2"', 'release.published', where('{tag: "v1*"}'))).toEqual([
      '0: where.tag never lets "v2" through: this can never hold (the rule would never fire; to switch a rule off: disabled: "why")',
    ]);
    expect(check('repo.archived', 'release.published', where('{archived: false}'))).toHaveLength(1);
    expect(check('event.tag == "v1.0"', 'release.published', where('{tag: "v1*"}'))).toEqual([]);
    expect(check('true', 'release.published', where('{branch: main}'))).toEqual([
      'line 11, 4: release.published is about no branch: this filter turns it away (leave where.branch out)',
    ]);
  });

  it('asks nothing of a file that is not to be checked', () => {
    const text =
      'version: 1\norg: acme\nrules:\n  - {id: x, on: push, if: event.nothing == 1, do: {milestone.ensure: {title: a}}}\n';

    expect(loadRules([{ path: 'r', text }], aLoadEnvironment()).ok).toBe(true);
    expect(loadRules([{ path: 'r', text }], aLoadEnvironment({ checkTypes: true })).ok).toBe(false);
  });
});
