import { describe, expect, it } from '@jest/globals';
import { aLoadEnvironment, aRevision } from '../../../../test/builders/rule-environment.js';
import type { LoadEnvironment, RuleFile } from '../revision.js';
import { neededEvents } from '../hook-events.js';
import { loadRules } from './load-rules.js';

const HEAD = 'version: 1\norg: acme\n';

/** Problems in their printed form, without the file name. */
function problems(text: string, overrides: Partial<LoadEnvironment> = {}): string[] {
  return problemsOf([{ path: 'r.yaml', text }], overrides).map((line) => line.replace('r.yaml:', ''));
}

function problemsOf(files: readonly RuleFile[], overrides: Partial<LoadEnvironment> = {}): string[] {
  const result = loadRules(files, aLoadEnvironment(overrides));
  return result.ok
    ? []
    : result.problems.map(
        ({ file, line, col, message, hint }) => `${file}:${line}:${col}: ${message}${hint ? ` (${hint})` : ''}`,
      );
}

/** A rule that is fine but for the lines given; its keys stand from line 5 on, indented by four. */
function withLines(...lines: string[]): string {
  const keys = new Set(lines.map((line) => /^\w+/.exec(line)?.[0]));
  const base = [
    ['id', 'id: x'],
    ['on', 'on: push'],
    ['do', 'do: {label.ensure: {name: a, color: "#ffffff"}}'],
  ]
    .filter(([key]) => !keys.has(key))
    .map(([, line]) => line!);
  return `${HEAD}rules:\n  -\n${[...base, ...lines].map((line) => `    ${line}`).join('\n')}\n`;
}

function policyWith(...lines: string[]): string {
  return `${HEAD}policies:\n  -\n${['id: p', ...lines].map((line) => `    ${line}`).join('\n')}\n`;
}

type BadFile = [situation: string, text: string, ...problems: string[]];

const BAD_FILES: BadFile[] = [
  ['an empty file', '', '1:1: the file is empty (it starts with: version: 1)'],
  ['only a comment', '# nothing\n', '1:1: the file is empty (it starts with: version: 1)'],
  [
    'a list at the top',
    '- a\n',
    '1:1: the file must be a map of keys, this is a list (a rule file has version: 1, org, and rules or policies)',
  ],
  [
    'a list that is closed twice',
    withLines('on: [push]]'),
    '7:15: this ] closes nothing (take it out, or open it before: [ … ])',
  ],
  [
    'a login with @ and without quotes',
    withLines('on: push', 'where: {actor: @ann}'),
    '8:20: a value that begins with "@" means something to YAML (put it in quotes)',
  ],
  [
    'a comma that is missing',
    withLines('on: push', 'where: {repo: app archived: false}'),
    '8:19: inside { } or [ ] a ": " begins a key (is a comma missing before it? A text that holds ": " stands in quotes)',
  ],
  [
    'a merge conflict',
    'version: 1\norg: acme\n<<<<<<< HEAD\nrules: []\n=======\nrules: []\n>>>>>>> other\n',
    '3:1: here begins what git leaves of a merge conflict (resolve it: keep one of the two sides)',
  ],
  [
    'a colon of another script',
    withLines('on: push', 'where: {repo\uff1a {app: 1}}'),
    '8:17: "\uff1a" (U+FF1A) is a letter to YAML (write the plain sign of the keyboard: : , # - " \' { } [ ])',
  ],
  [
    'the file of a program that nobody knows',
    'frontend:\n  - src/**\n',
    '1:1: this is the file of another program, and no rule file (a rule file has version: 1, org, and rules or policies)',
  ],
  ['no version, no org', 'rules: []\n', '1:1: the file needs "version"', '1:1: the file needs "org"'],
  ['another version', 'version: 2\norg: acme\nrules: []\n', '1:10: version must be 1'],
  [
    'another organization',
    'version: 1\norg: acne\nrules: []\n',
    '2:6: these are rules of "acne", and they were given for "acme"',
  ],
  ['neither rules nor policies', HEAD, '1:1: the file has neither rules nor policies'],
  [
    'an unknown key at the top',
    HEAD + 'ruels: []\nrules: []\n',
    '3:1: unknown key "ruels" in the file (did you mean "rules"?)',
  ],
  ['rules is a map', HEAD + 'rules: {a: 1}\n', '3:8: rules must be a list, this is a map'],
  ['a flow map without an end', HEAD + 'rules: [{id: x\n', '3:9: this { is never closed'],
  [
    'a text without an end',
    HEAD + 'rules: "x\n',
    '3:8: this " is never closed (a value that begins with the quote " ends with it)',
  ],
  [
    'a tab as indentation',
    HEAD + 'rules:\n\t- id: x\n',
    '4:1: Tabs are not allowed as indentation (indent with spaces)',
  ],
  [
    'two documents',
    HEAD + 'rules: []\n---\na: 1\n',
    '4:1: a file holds one document (put the second one into a file of its own)',
  ],
  ['a key twice', HEAD + 'rules: []\nrules: []\n', '4:1: the key "rules" stands here twice'],
  [
    'a merge key',
    HEAD + 'vars:\n  a: &a {b: 1}\n  c:\n    <<: *a\nrules: []\n',
    '6:5: merge keys (<<) are not supported (write the keys out, or use an alias for a whole value)',
  ],
  [
    'a tag',
    HEAD + 'vars:\n  a: !!str 1\nrules: []\n',
    '4:6: the tag !!str is not allowed (a value that begins with "!" is a tag to YAML: put it in quotes)',
  ],
  [
    'an unquoted negation',
    withLines('if: !repo.fork'),
    '8:9: the tag !repo.fork is not allowed (a value that begins with "!" is a tag to YAML: put it in quotes)',
  ],
  [
    'an unquoted pattern',
    withLines('where: {repo: */x}'),
    '8:19: there is no anchor "&/x" before this alias (a value that begins with "*" is an alias to YAML: put a pattern in quotes)',
  ],
  [
    'a key that reaches into JavaScript',
    HEAD + 'vars:\n  __proto__: {admin: true}\nrules: []\n',
    '4:3: the key "__proto__" is not allowed',
  ],
  ['another key of that kind', withLines('where:', '  constructor: 1'), '9:7: the key "constructor" is not allowed'],
  ['a key that is a list', HEAD + '? [a]\n: 1\nrules: []\n', '3:3: a key must be a plain word'],
  [
    'an alias inside its own anchor',
    HEAD + 'vars:\n  a: &a [*a]\nrules: []\n',
    '4:9: an alias stands inside its own anchor',
  ],
  ['a YAML directive', '%YAML 1.1\n---\nversion: 1\n', '1:1: directives (%…) are not allowed'],
  [
    'no id',
    HEAD + 'rules:\n  - on: push\n    do: {label.ensure: {name: a, color: "#ffffff"}}\n',
    '4:5: a rule needs "id"',
  ],
  [
    'an id with a space',
    withLines('id: "a b"'),
    '7:9: "a b" cannot be an id (letters, digits, ".", "_" and "-", at most 64)',
  ],
  ['an id that is a number', withLines('id: 7'), '7:9: id must be a text, this is the number 7 (put it in quotes)'],
  [
    'unknown key in a rule',
    withLines('wehre: {repo: x}'),
    '8:5: unknown key "wehre" in a rule (did you mean "where"?)',
  ],
  [
    'nothing that starts it',
    HEAD + 'rules:\n  - id: x\n    do: {label.ensure: {name: a, color: "#ffffff"}}\n',
    '4:5: a rule needs "on" or "schedule": nothing would ever start it',
  ],
  [
    'an unknown event kind',
    withLines('on: [push, relase.published]'),
    '7:16: there is no event kind "relase.published" (did you mean "release.published"?)',
  ],
  [
    'a kind that starts nothing',
    withLines('on: hook.tested'),
    '7:9: no rule can be started by hook.tested (test calls of a hook are recorded only)',
  ],
  ['an empty list of kinds', withLines('on: []'), '7:9: on is an empty list: nothing could ever match'],
  ['an unknown mode', withLines('mode: dryrun'), '8:11: mode cannot be "dryrun" (did you mean "dry-run"?)'],
  ['an unknown filter', withLines('where: {repos: [x]}'), '8:13: unknown key "repos" in where (did you mean "repo"?)'],
  [
    'a repository of another organization',
    withLines('where: {repo: [acme/web, acne/api]}'),
    '8:30: acne/api is not in the organization acme (its repositories are acme/…)',
  ],
  [
    'a negated pattern',
    withLines('where: {repo: ["!web"]}'),
    '8:20: a pattern cannot be negated (to leave repositories out say not_repo)',
  ],
  ['a pattern with an open class', withLines('where: {branch: "release/["}'), '8:21: a [ has no ]'],
  [
    'a text where a flag belongs',
    withLines('where: {archived: "no"}'),
    '8:23: where.archived must be true or false, this is a text',
  ],
  [
    'an unknown source',
    withLines('where: {source: [webhok]}'),
    '8:22: where.source cannot be "webhok" (did you mean "webhook"?)',
  ],
  [
    'a catching up that is none',
    withLines('schedule: {cron: "0 3 * * *", catch_up: 51}', 'where: {repo: "*"}', 'limits: {effects_per_run: 1}'),
    '8:45: catch_up is skip, one, all, or how many at most (skip lets go what was missed, one makes up for it once, all makes up for each (the newest 50))',
  ],
  [
    'a cron expression with seconds',
    withLines('schedule: "0 0 3 * * *"', 'where: {repo: "*"}', 'limits: {effects_per_run: 1}'),
    '8:15: a cron expression has five fields, this has 6 (minute hour day month weekday: "30 2 * * *" is every night at half past two)',
  ],
  [
    'a cron expression out of range',
    withLines('schedule: "99 3 * * *"', 'where: {repo: "*"}', 'limits: {effects_per_run: 1}'),
    '8:15: "99" is no minute (0 to 59; several are "1,15", a range is "1-5", a step is "*/10")',
  ],
  [
    'a cron expression that never comes',
    withLines('schedule: "0 3 31 2 *"', 'where: {repo: "*"}', 'limits: {effects_per_run: 1}'),
    '8:15: "0 3 31 2 *" never comes',
  ],
  [
    'an unknown time zone',
    withLines('schedule: {cron: "0 3 * * *", tz: Europe/Pari}', 'where: {repo: "*"}', 'limits: {effects_per_run: 1}'),
    '8:39: there is no time zone "Europe/Pari" (names are like Europe/Paris)',
  ],
  [
    'a jitter that is no duration',
    withLines('schedule: {cron: "0 3 * * *", jitter: soon}', 'where: {repo: "*"}', 'limits: {effects_per_run: 1}'),
    '8:43: schedule.jitter cannot be "soon" (a duration up to 24h, like 20m)',
  ],
  [
    'a schedule without limits',
    withLines('schedule: "0 3 * * *"', 'where: {repo: "*"}'),
    '8:5: a rule with a schedule needs limits (limits: {effects_per_run: 20})',
  ],
  [
    'a repository action in a rule that runs for the organization',
    withLines('schedule: "0 3 * * *"', 'limits: {effects_per_run: 1}'),
    '7:10: label.ensure acts on a repository, and this rule runs once for the organization (to run for each repository say where: {repo: [...]})',
  ],
  [
    'filters that mean nothing on a tick',
    HEAD +
      'rules:\n  - id: x\n    schedule: "0 3 * * *"\n    where: {branch: main, archived: false}\n    limits: {effects_per_run: 1}\n    do: {org_variable.set: {name: A, value: b}}\n',
    '6:13: where.branch looks at an event, and a schedule has none',
    '6:27: where.archived needs where.repo: without it a scheduled rule runs once for the organization (where: {repo: ["*"], …} is every repository)',
  ],
  [
    'event and repo where there are none',
    HEAD +
      'rules:\n  - id: x\n    schedule: "0 3 * * *"\n    limits: {effects_per_run: 1}\n    if: event.tag == "x"\n    do: {org_variable.set: {name: A, value: "${{ repo.name }}"}}\n',
    '7:9: there is no "event" here (only a rule with "on" has one)',
    '8:50: there is no "repo" here: this runs once for the organization (to run for each repository say where: {repo: [...]})',
  ],
  [
    'an unknown limit',
    withLines('limits: {effects: 3}'),
    '8:14: unknown key "effects" in limits (write effects_per_run: 20)',
  ],
  [
    'a limit of zero',
    withLines('limits: {effects_per_run: 0}'),
    '8:31: limits.effects_per_run must be a whole number from 1 to 1000, this is the number 0',
  ],
  [
    'for_each without limits',
    withLines('do: {label.ensure: {name: "${{ item }}", color: "#ffffff"}, for_each: "[\'a\']"}'),
    '7:65: a rule with for_each needs limits (limits: {effects_per_run: 20})',
  ],
  [
    '${{ }} in a condition',
    withLines('if: "${{ event.ref == \'x\' }}"'),
    "8:10: this is an expression already: ${{ }} has no place in it (write: event.ref == 'x')",
  ],
  [
    'a condition that is a number',
    withLines('if: 1 + 1'),
    '8:9: a condition must be true or false, this is a number (compare it: … > 0)',
  ],
  [
    'a condition that is a text',
    withLines('if: event.ref + "x"'),
    '8:9: a condition must be true or false, this is a text (compare it: … != "")',
  ],
  [
    'a condition that is a YAML boolean',
    withLines('if: true'),
    '8:9: a condition is an expression in a text, this is the boolean true (put it in quotes)',
  ],
  ['an empty condition', withLines('if: ""'), '8:9: the condition "if" is empty'],
  ['one = for two', withLines('if:', '  main: event.branch = "main"'), '9:26: unexpected "=" (to compare, write ==)'],
  [
    'a mistake in the second line of a block',
    withLines('if:', '  main: |', '    event.branch == "main"', '    && evnt.x'),
    '11:12: there is no variable "evnt" here (did you mean "event"?)',
  ],
  [
    'a mistake in the second line of a folded block',
    withLines('if:', '  main: >-', '    event.branch == "main"', '      && event.tag.strtsWith("v")'),
    '11:23: there is no function "strtsWith" (did you mean "startsWith"?)',
  ],
  [
    'a mistake after escapes in double quotes',
    withLines('if: "event.branch == \\"main\\" && nope"'),
    '8:38: there is no variable "nope" here (did you mean "now"?)',
  ],
  [
    'a mistake after doubled single quotes',
    withLines("if: 'event.branch == ''main'' && nope'"),
    '8:38: there is no variable "nope" here (did you mean "now"?)',
  ],
  [
    'two wrong conditions of three',
    withLines('if:', '  a: nope', '  b: event.x(', '  c: event.branch == "x"'),
    '9:10: there is no variable "nope" here (did you mean "now"?)',
    '10:17: this ( is never closed',
  ],
  [
    `the forge's word for repo`,
    withLines('if: event.repository.name == "x"'),
    '8:15: an event has no "repository" (write repo)',
  ],
  [
    'an unknown lookup',
    withLines('lookup: {b: branch.gett}'),
    '8:17: there is no lookup "branch.gett" (did you mean "branch.get"?)',
  ],
  [
    'an action under lookup',
    withLines('lookup: {b: label.ensure}'),
    '8:17: there is no lookup "label.ensure" (it is an action: it belongs under do)',
  ],
  [
    'a misspelt parameter of a lookup',
    withLines('lookup: {b: {use: branch.get, with: {brnch: main}}}'),
    '8:42: branch.get has no parameter "brnch" (did you mean "branch"?)',
  ],
  [
    'lookups in a circle',
    withLines(
      'lookup:',
      '  a: {use: branch.get, with: {branch: "${{ lookups.b.name }}"}}',
      '  b: {use: branch.get, with: {branch: "${{ lookups.c.name }}"}}',
      '  c: {use: branch.get, with: {branch: "${{ lookups.b.name }}"}}',
    ),
    '10:7: lookups wait for each other in a circle: b -> c -> b (one of them must do without the others)',
  ],
  [
    'a lookup of itself',
    withLines('lookup: {a: {use: branch.get, with: {branch: "${{ lookups.a.name }}"}}}'),
    '8:14: lookups wait for each other in a circle: a -> a (one of them must do without the others)',
  ],
  [
    'an item in a lookup without for_each',
    withLines('lookup: {a: {use: branch.get, with: {branch: "${{ item }}"}}}'),
    '8:55: there is no "item" here (item is one element of a for_each)',
  ],
  [
    'a lookup over a text',
    withLines('lookup: {a: {use: branch.get, for_each: event.ref + "x", with: {branch: "${{ item }}"}}}'),
    '8:45: for_each walks a list, this is a text',
  ],
  [
    'more reads than a lookup may make',
    withLines('lookup: {a: {use: branch.get, for_each: event.names, max: 500, with: {branch: "${{ item }}"}}}'),
    '8:63: max must be a whole number from 1 to 100, this is the number 500',
  ],
  [
    'a part of several reads',
    withLines('lookup: {a: {use: branch.get, for_each: event.names, first: 2, with: {branch: "${{ item }}"}}}'),
    '8:58: first bounds one read, and for_each makes several (cut the list that it walks)',
  ],
  [
    'an age that is none',
    withLines('lookup: {a: {use: branch.get, cache: soon, with: {branch: main}}}'),
    '8:42: cache cannot be "soon" (a duration up to 24h, like 10m)',
  ],
  [
    'a lookup that is not declared',
    withLines('if: lookups.brnch != null', 'lookup: {branch: {use: branch.get, with: {branch: main}}}'),
    '8:17: there is no lookup "brnch" (did you mean "branch"?)',
  ],
  [
    'an unquoted null',
    withLines('lookup: {b: {use: branch.get, with: {branch: main}, on_missing: null}}'),
    '8:69: on_missing is empty (write none)',
  ],
  [
    'a lookup that cannot be named',
    withLines('lookup: {"a-b": {use: branch.get, with: {branch: main}}}'),
    '8:14: "a-b" cannot name a lookup (letters, digits and _, so that lookups.NAME can be written)',
  ],
  [
    'an unknown action',
    withLines('do: {label.ensur: {name: a}}'),
    '7:10: there is no action "label.ensur" (did you mean "label.ensure"?)',
  ],
  [
    'a lookup under do',
    withLines('do: {use: branch.get, with: {branch: main}}'),
    '7:15: there is no action "branch.get" (it is a lookup: it belongs under lookup)',
  ],
  [
    'two actions in one step',
    withLines('do: {label.ensure: {name: a, color: "#ffffff"}, milestone.ensure: {title: x}}'),
    '7:53: a step does one thing (put the second action into a step of its own: do is a list then)',
  ],
  [
    'an unknown key in a step',
    withLines('do: {use: label.ensure, wiht: {name: a}}'),
    '7:29: unknown key "wiht" in the step (did you mean "with"?)',
  ],
  ['no steps', withLines('do: []'), '7:9: do is an empty list: the rule would do nothing'],
  [
    'a misspelt parameter',
    withLines('do: {label.ensure: {name: a, colour: "#ffffff"}}'),
    '7:34: label.ensure has no parameter "colour" (did you mean "color"?)',
  ],
  [
    'a colour that became a comment',
    withLines('do:', '  label.ensure:', '    name: a', '    color: #d73a4a'),
    '10:16: label.ensure: color must be a text, this is empty (an unquoted # starts a comment: put the value in quotes)',
  ],
  [
    'a constant that the action refuses',
    withLines('do: {label.ensure: {name: a, color: red}}'),
    '7:41: label.ensure: color: is no colour like #d73a4a',
  ],
  [
    'a version that YAML reads as a number',
    withLines('do: {milestone.ensure: {title: 1.10}}'),
    '7:36: milestone.ensure: title must be a text, this is the number 1.1 (put it in quotes)',
  ],
  [
    'a day that does not exist',
    withLines('do: {milestone.ensure: {title: a, due_on: 2026-02-31}}'),
    '7:47: milestone.ensure: due_on must be a time (2026-12-31 or 2026-12-31T18:00:00Z), this is a text (a day is written YYYY-MM-DD)',
  ],
  [
    'a text for a flag',
    withLines('do: {label.ensure: {name: a, color: "#ffffff", exclusive: "yes"}}'),
    '7:63: label.ensure: exclusive must be true or false, this is a text',
  ],
  [
    'a template with text for a flag',
    withLines('do: {label.ensure: {name: a, color: "#ffffff", exclusive: "x${{ event.ref }}"}}'),
    '7:63: label.ensure: exclusive must be true or false, this is a text',
  ],
  ['${{ without an end', withLines('do: {milestone.ensure: {title: "a ${{ event.ref"}}'), '7:39: this ${{ has no }}'],
  [
    'two mistakes in one text',
    withLines('do: {milestone.ensure: {title: "release ${{ minr(event.tag) }} of ${{ event.tag.x( }}"}}'),
    '7:49: there is no function "minr" (did you mean "minor"?)',
    '7:86: this ( is never closed',
  ],
  [
    'an unknown var',
    withLines('do: {milestone.ensure: {title: "${{ vars.nope }}"}}'),
    '7:46: there is no "nope" in vars',
  ],
  [
    'item without for_each',
    withLines('do: {milestone.ensure: {title: "${{ item.name }}"}}'),
    '7:41: there is no "item" here (item is one element of a for_each)',
  ],
  [
    '${{ }} in when',
    withLines('do: {milestone.ensure: {title: a}, when: "${{ true }}"}'),
    '7:47: this is an expression already: ${{ }} has no place in it (write: true)',
  ],
  [
    'for_each over a text',
    withLines('do: {milestone.ensure: {title: a}, for_each: event.ref + "x"}', 'limits: {effects_per_run: 3}'),
    '7:50: for_each walks a list, this is a text',
  ],
  [
    'an approval of somebody else',
    withLines('do: {milestone.ensure: {title: a}, approval: everybody}'),
    '7:50: approval must be "owners", "two-people", true or false (approval: owners)',
  ],
  [
    'a window that is none',
    withLines('coalesce: {key: "${{ repo.name }}", window: 2}'),
    '8:49: coalesce.window is a duration, this is the number 2 (with its unit: 2m)',
  ],
  [
    'a window that is too long',
    withLines('coalesce: {key: "${{ repo.name }}", window: 48h}'),
    '8:49: coalesce.window cannot be "48h" (a duration up to 24h, like 2m)',
  ],
  ['a window without a key', withLines('coalesce: {window: 2m}'), '8:15: coalesce needs "key"'],
  [
    'a coalesce key that reads',
    withLines(
      'coalesce: {key: "${{ lookups.b.name }}", window: 2m}',
      'lookup: {b: {use: branch.get, with: {branch: main}}}',
    ),
    '8:34: lookups cannot be used here',
  ],
  [
    'key without for_each',
    withLines('do: {milestone.ensure: {title: a}, key: b}'),
    '7:40: key names the items of for_each, and there is none',
  ],
  [
    'two steps with one id',
    withLines('do:', '  - {milestone.ensure: {title: a}, id: m}', '  - {milestone.ensure: {title: b}, id: m}'),
    '9:44: two steps have the id "m"',
  ],
  [
    'a power that was not granted',
    withLines('do: {repo.create_for_user: {username: a, name: b}}'),
    `7:10: repo.create_for_user needs the power "repo.create_for_user", which the operator did not grant to acme (orgs[].powers: [repo.create_for_user] in the operator's config)`,
  ],
  [
    'a secret written out',
    withLines('do: {push_mirror.ensure: {remote_address: "https://x/y", remote_password: hunter2}}'),
    '7:79: push_mirror.ensure: remote_password takes a secret, never its value ("${{ secrets.NAME }}", with the name listed under secrets)',
  ],
  [
    'a secret that the file does not list',
    withLines(
      'do: {push_mirror.ensure: {remote_address: "https://x/y", remote_password: "${{ secrets.mirror_token }}"}}',
    ),
    '7:79: the file does not list the secret "mirror_token" (secrets: [mirror_token])',
  ],
  [
    'a secret in a parameter that shows it',
    withLines('do: {milestone.ensure: {title: "${{ secrets.mirror_token }}"}}'),
    '7:36: milestone.ensure: title is no secret parameter: a secret would be visible there',
  ],
  [
    'a secret inside a text',
    withLines('do: {milestone.ensure: {title: "x ${{ secrets.mirror_token }}"}}'),
    '7:43: a secret stands alone, in a parameter that is marked secret ("${{ secrets.mirror_token }}")',
  ],
  [
    'a secret that the operator did not define',
    HEAD + 'secrets: [mirror_tokn]\nrules: []\n',
    '3:11: the operator defined no secret "mirror_tokn" for acme (orgs[].secrets) (did you mean "mirror_token"?)',
  ],
  ['an expression in vars', HEAD + 'vars: {a: "${{ now }}"}\nrules: []\n', '3:11: vars are constants: no ${{ }} here'],
  [
    'a regular expression that does not parse',
    withLines('if: event.ref.matches("(")'),
    '8:27: the regular expression does not parse: missing closing ): `(`',
  ],
  [
    'an unknown function',
    withLines('if: glb(event.ref, "x")'),
    '8:9: there is no function "glb" (did you mean "glob"?)',
  ],
  ['a constant pattern that is wrong', withLines('if: glob(event.ref, "[")'), '8:25: glob: a [ has no ]'],
  [
    'a function with too few arguments',
    withLines('if: glob(event.ref)'),
    '8:9: "glob" is called differently (it is: glob(string, string))',
  ],
  [
    'three loops one inside the other',
    withLines('if: event.a.all(x, x.b.all(y, y.c.all(z, z)))'),
    '8:38: loops (all, exists, map, filter) may stand 2 deep, this is one deeper',
  ],
  [
    'a policy that says nothing',
    policyWith('subjects: {repos: ["*"]}'),
    '5:5: a policy needs labels, milestones, push_mirrors, branches, settings, topics, variables, protections, expect or fix: it says nothing',
  ],
  ['a policy without subjects', policyWith('labels: [{name: a, color: "#ffffff"}]'), '5:5: a policy needs "subjects"'],
  [
    'an unknown key in subjects',
    policyWith('subjects: {repo: ["*"]}', 'labels: [{name: a, color: "#ffffff"}]'),
    '6:16: unknown key "repo" in subjects (did you mean "repos"?)',
  ],
  [
    'a misspelt setting of a label',
    policyWith('subjects: {repos: ["*"]}', 'labels: [{name: a, colr: "#ffffff"}]'),
    '7:24: label.ensure has no parameter "colr" (did you mean "color"?)',
  ],
  [
    'an event in a policy',
    policyWith('subjects: {repos: ["*"]}', 'milestones: [{title: "${{ event.tag }}"}]'),
    '7:31: there is no "event" here (only a rule with "on" has one)',
  ],
  [
    'a lookup in a policy',
    policyWith('subjects: {repos: ["*"]}', 'milestones: [{title: "${{ lookups.x }}"}]'),
    '7:39: lookups cannot be used here',
  ],
  [
    'two rules with one id',
    withLines() + '  - {id: x, on: push, do: {milestone.ensure: {title: a}}}\n',
    '8:5: the id "x" is taken (by r.yaml:5)',
  ],
];

describe('rules/load', () => {
  it.each(BAD_FILES.map(([situation, text, ...expected]) => ({ situation, text, expected })))(
    '$situation => told where it stands',
    ({ text, expected }) => {
      expect(problems(text)).toEqual(expected);
    },
  );

  it('tells every mistake of every file at once, by file and place', () => {
    const files = [
      { path: 'b.yaml', text: withLines('mode: dryrun', 'limits: {effects_per_run: 0}') },
      { path: 'a.yaml', text: `${HEAD}rules: "x` },
      { path: 'c.yaml', text: withLines('id: y') },
    ];

    expect(problemsOf(files).map((line) => line.split(': ')[0])).toEqual(['a.yaml:3:8', 'b.yaml:8:11', 'b.yaml:9:31']);
  });

  it('finds an id that another file has', () => {
    const files = [
      { path: 'a.yaml', text: withLines() },
      {
        path: 'b.yaml',
        text: policyWith('subjects: {repos: ["*"]}', 'labels: [{name: a, color: "#ffffff"}]').replace('id: p', 'id: x'),
      },
    ];

    expect(problemsOf(files)).toEqual(['b.yaml:5:5: the id "x" is taken (by a.yaml:5)']);
  });

  it('points at a repeated mistake through an alias where the value is written', () => {
    const text = `${HEAD}rules:\n  - {id: a, on: push, do: &d {label.ensure: {name: a, colour: x}}}\n  - {id: b, on: push, do: *d}\n`;

    expect(problems(text)).toEqual(['4:55: label.ensure has no parameter "colour" (did you mean "color"?)']);
  });

  it('refuses what the forge does not offer, and only that', () => {
    const text = withLines(
      'lookup: {b: {use: branch.get, with: {branch: main}}}',
      'if: lookups.b != null',
      'do: {note.keep: {value: 1}}',
    );

    expect(problems(text, { offered: new Set(['getBranch', 'noteKeep']) })).toEqual([]);
    expect(problems(text, { offered: new Set(['createLabel']) })).toEqual([
      '7:23: branch.get needs getBranch, which this forge does not offer',
      '9:10: note.keep needs noteKeep, which this forge does not offer',
    ]);
  });

  it('loads a rule that needs a power where it is granted', () => {
    const text = withLines('do: {repo.create_for_user: {username: a, name: b}}');

    expect(problems(text, { powers: new Set(['repo.create_for_user']) })).toEqual([]);
  });

  it.each([
    [0, 'no operator'],
    [1, 'only one operator'],
  ])('refuses approval: two-people where %i people could approve, in rules and policies', (approvers, told) => {
    const rule = withLines('do: {milestone.ensure: {title: a}, approval: two-people}');
    const policy = `${HEAD}policies:\n  - {id: p, approval: two-people, subjects: {repos: ["*"]}, labels: [{name: a, color: "#ff0000"}]}\n`;
    const said = `approval: two-people takes two operators who may approve, and there is ${told} (forgehand operators add NAME --scopes approve)`;

    expect(problems(rule, { approvers })).toEqual([`7:50: ${said}`]);
    expect(problems(policy, { approvers })).toEqual([
      expect.stringMatching(/^\d+:\d+: approval: two-people takes two operators/),
    ]);
  });

  it('takes approval: two-people where two could approve, and where nobody can tell (offline)', () => {
    const rule = withLines('do: {milestone.ensure: {title: a}, approval: two-people}');

    expect([problems(rule, { approvers: 2 }), problems(rule)]).toEqual([[], []]);
  });

  it('keeps YAML 1.2 words: on, yes and no are texts', () => {
    const text = `${HEAD}vars: {a: yes, b: on, c: 010, d: 0x1f}\nrules: []\n`;

    expect(problems(text)).toEqual([]);
  });

  it('gives rules and policies in the order of the files, with what others need to know', () => {
    const revision = aRevision([
      `${HEAD}rules:\n  - id: nightly\n    mode: dry-run\n    on: [push, tag.created]\n    schedule: {cron: "30 2 * * *", tz: Europe/Paris, jitter: 10m, catch_up: all}\n    where: {repo: "*"}\n    lookup: {b: {use: branch.get, with: {branch: main}, on_missing: none}}\n    if: lookups.b == null\n    do: {milestone.ensure: {title: a}}\n    limits: {effects_per_run: 20, runs_per_hour: 4}\n`,
      policyWith('subjects: {repos: ["*"]}', 'labels: [{name: a, color: "#ffffff"}]'),
    ]);

    expect(revision.rules[0]).toMatchObject({
      id: 'nightly',
      mode: 'dry-run',
      on: ['push', 'tag.created'],
      schedule: { cron: '30 2 * * *', tz: 'Europe/Paris', jitterS: 600, catchUp: 50 },
      tickScope: 'repository',
      limits: { effectsPerRun: 20, runsPerHour: 4 },
      operations: ['createMilestone', 'getBranch', 'listMilestones'],
      position: { file: 'rules/1.yaml', line: 4, col: 5 },
    });
    expect(revision.policies[0]).toMatchObject({
      id: 'p',
      mode: 'live',
      schedule: { cron: '0 3 * * *', tz: 'UTC' },
      operations: ['createLabel', 'listLabels'],
    });
  });

  const BRANCH = 'event.branch may be missing: pull_request.opened may lack it';
  it.each<[string, string, string[]]>([
    ['pull_request.opened', 'if: event.branch == "main"', [BRANCH]],
    ['pull_request.opened', 'if: has(event.branch) && event.branch == "main"', []],
    ['pull_request.opened', 'where: {source: webhook}\n    if: event.branch == "main"', []],
    ['pull_request.opened', 'if: [event.source == "webhook", event.branch == "main"]', []],
    ['pull_request.opened', 'where: {source: [webhook, feed]}\n    if: event.branch == "main"', [BRANCH]],
    ['[issue.opened, pull_request.opened]', 'if: \'"a" in event.labels && event.author == "ann"\'', []],
    ['[pull_request.opened, status.set, task.finished]', 'if: event.sha != ""', []],
    [
      'release.published',
      'if: event.release.id != ""',
      ['event.release.id is missing where the feed reported release.published'],
    ],
    ['release.published', 'if: event.release.tag_name != ""', []],
    ['release.updated', 'if: event.release.id != ""', []],
    [
      'issue.labeled',
      'if: event.actor.login == "ann"',
      ['event.actor is missing where a list of issues reported issue.labeled'],
    ],
    [
      'issue.deleted',
      'if: event.actor.login == "ann"',
      ['the forge does not show who did it (issue.deleted), and this rule depends on that: it would never fire'],
    ],
    ['[push.tag, issue.deleted]', 'if: event.kind == "issue.deleted" && event.issue.title != ""', []],
    ['[push.tag, issue.deleted]', 'if: event.issue.title != "" && event.kind == "issue.deleted"', []],
    ['[push.tag, issue.deleted]', 'if: event.kind != "issue.deleted" || event.issue.title != ""', []],
    ['[push.tag, issue.deleted]', "if: \"!(event.kind in ['push']) && event.issue.title != ''\"", []],
    ['[push.tag, issue.deleted]', "if: \"has(event.tag) ? event.tag != '' : event.issue.title != ''\"", []],
    ['[push.tag, issue.deleted]', 'if: event.issue.title != ""', ['push.tag has no "issue"']],
    [
      '[push.tag, issue.opened]',
      'if: event.kind == "push" && event.issue.title != ""',
      ['an event of push has no "issue": this fails each time'],
    ],
    [
      '[push.tag, release.published]',
      'if: event.kind == "push" || event.release.id != ""',
      ['event.release.id is missing where the feed reported release.published'],
    ],
    ['[push, issue.deleted]', 'if: [event.kind == "issue.deleted", event.issue.title != ""]', []],
  ])('on: %s, %s: knows what may be missing', (on, condition, told) => {
    const text = `version: 1\norg: acme\nrules:\n  - id: x\n    on: ${on}\n    ${condition}\n    do: {milestone.ensure: {title: a}}\n`;
    const result = loadRules([{ path: 'r.yaml', text }], { ...aLoadEnvironment(), checkTypes: true });

    expect([...(result.ok ? [] : result.problems), ...(result.warnings ?? [])].map(({ message }) => message)).toEqual(
      told,
    );
  });

  it('a step knows what its own condition asks', () => {
    const load = (step: string) =>
      loadRules(
        [
          {
            path: 'r.yaml',
            text: `version: 1\norg: acme\nrules:\n  - id: x\n    on: [push.tag, issue.deleted]\n    do: {milestone.ensure: {title: "\${{ event.issue.title }}"}, ${step}}\n`,
          },
        ],
        { ...aLoadEnvironment(), checkTypes: true },
      );

    expect(load('when: event.kind == "issue.deleted"')).toMatchObject({ ok: true });
    expect(load('unless: event.kind == "push"')).toMatchObject({ ok: true });
    expect(load('when: event.kind == "push"')).toMatchObject({
      ok: false,
      problems: [{ message: 'an event of push has no "issue"' }],
    });
    expect(load('unless: has(event.tag)')).toMatchObject({ ok: true });
    expect(load('when: now != null')).toMatchObject({
      ok: false,
      problems: [{ message: 'push.tag has no "issue"' }],
    });
  });

  it('a rule that is disabled is checked, and nothing starts it', () => {
    const load = (...lines: string[]) => loadRules([{ path: 'r.yaml', text: withLines(...lines) }], aLoadEnvironment());
    const off = load(
      'disabled: "until May"',
      'if: event == null || event.branch == "main"',
      'schedule: "0 4 * * *"',
      'limits: {effects_per_run: 9}',
      'where: {repo: "*"}',
    );

    expect(off.ok && off.revision.rules[0]).toMatchObject({
      disabled: 'until May',
      on: [],
      schedule: null,
      operations: [],
    });
    expect(off.ok && neededEvents(off.revision)).toEqual([]);
    expect(load('disabled: "until May"', 'if: evnt.tag == "v1"')).toMatchObject({ ok: false });
    expect(load('disabled: true')).toMatchObject({
      ok: false,
      problems: [{ message: 'disabled says why the rule is switched off' }],
    });
  });

  it.each<[string, string[]]>([
    ['on: push', ['a push need not have event.branch: it is of a branch or of a tag']],
    ['on: push.branch', []],
    ['on: push\n    where: {branch: "m*"}', []],
    ['on: push.tag', ['an event of push has no "branch"']],
    ['on: push\n    where: {tag: "v*"}', ['an event of push has no "branch"']],
    ['on: [push.branch, push.tag]', ['push.tag has no "branch"']],
    ['on: push.brnch', ['there is no event kind "push.brnch"']],
    ['on: push.branch\n    where: {tag: "v*"}', ['push.branch is about no tag: this filter turns it away']],
  ])('%s knows which field of a push is there', (on, told) => {
    const text = `version: 1\norg: acme\nrules:\n  - id: x\n    ${on}\n    if: event.branch != "main"\n    do: {milestone.ensure: {title: a}}\n`;
    const result = loadRules([{ path: 'r.yaml', text }], { ...aLoadEnvironment(), checkTypes: true });

    expect([...(result.ok ? [] : result.problems), ...(result.warnings ?? [])].map(({ message }) => message)).toEqual(
      told,
    );
  });

  it('has one hash for one state of the files, whatever their order', () => {
    const [a, b] = [
      { path: 'a.yaml', text: withLines() },
      { path: 'b.yaml', text: withLines('id: y') },
    ] as const;
    const hash = (files: readonly RuleFile[]): string => {
      const result = loadRules(files, aLoadEnvironment());
      return result.ok ? result.revision.hash : '';
    };

    expect(hash([a, b])).toBe(hash([b, a]));
    expect(hash([a, b])).not.toBe(hash([a, { ...b, text: withLines('id: z') }]));
    expect(hash([a, b])).toMatch(/^[0-9a-f]{64}$/);
  });
});
