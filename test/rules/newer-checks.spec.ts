import { describe, expect, it } from '@jest/globals';
import { actionCatalogue } from '../../src/actions/index.js';
import { lookupCatalogue } from '../../src/actions/lookups/index.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { loadRules } from '../../src/rules/language/load/load-rules.js';
import type { LoadResult } from '../../src/rules/language/revision.js';

const engine = new CelEngine();

function load(
  text: string,
  wasActive = false,
  mirrorHosts: readonly string[] | null = ['mirror.example.org'],
): LoadResult {
  return loadRules([{ path: 'r.yaml', text: `version: 1\norg: acme\n${text}` }], {
    org: 'acme',
    actions: actionCatalogue(),
    lookups: lookupCatalogue(),
    powers: new Set(['topics.ensure', 'repo.create_for_user', 'repository_settings.ensure']),
    secrets: new Set(['mirror_token']),
    ...(mirrorHosts ? { mirrorHosts } : {}),
    engine,
    checkTypes: true,
    wasActive,
  });
}

const rule = (rest: string): string => `rules:\n  - {id: r, ${rest}}\n`;
const policy = (rest: string, subjects = ''): string =>
  `policies:\n  - {id: p, subjects: {repos: ["acme/*"]${subjects}}, ${rest}}\n`;
const told = (result: LoadResult): string[] => [
  ...(result.ok ? [] : result.problems).map(({ line, col, message }) => `error ${line}:${col} ${message}`),
  ...(result.warnings ?? []).map(({ line, col, message }) => `warning ${line}:${col} ${message}`),
];

/** Each is refused by this version and was taken by the one before. */
const MISTAKES: ReadonlyArray<readonly [situation: string, text: string, says: RegExp]> = [
  [
    'a pattern of paths that nothing matches: /docs/**',
    rule(`on: push, if: 'any_glob(event.files.modified, ["src/**", "/docs/**"])', do: {milestone.ensure: {title: x}}`),
    /4:\d+ .*begins at the top/,
  ],
  [
    'a pattern of paths that nothing matches: ./docs/**',
    rule(`on: push, if: 'any_glob(event.files.modified, ["src/**", "./docs/**"])', do: {milestone.ensure: {title: x}}`),
    /4:\d+ .*begins at the top/,
  ],
  [
    'a pattern of paths that nothing matches: docs/',
    rule(`on: push, if: 'any_glob(event.files.modified, ["src/**", "docs/"])', do: {milestone.ensure: {title: x}}`),
    /4:\d+ .*names a folder/,
  ],
  [
    'a pattern of paths that nothing matches: +(docs|src)/**',
    rule(
      `on: push, if: 'any_glob(event.files.modified, ["src/**", "+(docs|src)/**"])', do: {milestone.ensure: {title: x}}`,
    ),
    /4:\d+ .*another pattern language/,
  ],
  [
    'a pattern of paths that nothing matches: src//a',
    rule(`on: push, if: 'any_glob(event.files.modified, ["src/**", "src//a"])', do: {milestone.ensure: {title: x}}`),
    /4:\d+ .*matches nothing/,
  ],
  ...[
    'any_glob(event.files.added + event.files.modified, ["/docs/**"])',
    'any_glob(event.commits.map(c, c.message + "/x").size() > 0 ? event.files.added : event.files.removed, ["/docs/**"])',
    'event.commits.exists(c, c.added.exists(path, glob(path, "/docs/**")))',
    'any_glob(event.files.added.filter(path, path != "x"), ["/docs/**"])',
    'event.files.added.filter(f, f != "x").filter(f, f != "y").exists(f, glob(f, "/docs/**"))',
    'any_glob(event.files.modified, ["{src,./docs}/**"])',
    'event.files.modified.exists(path, path.startsWith("./docs/"))',
    'event.files.modified.exists(path, path == "/docs/a.md")',
    '"/docs/a.md" in event.files.modified',
    'event.files.modified.exists(path, path in ["docs/b.md", "/docs/a.md"])',
  ].map((condition): readonly [string, string, RegExp] => [
    `paths that nothing has: ${condition}`,
    rule(`on: push, if: '${condition}', do: {milestone.ensure: {title: x}}`),
    /4:\d+ .*begins at the top/,
  ]),
  [
    'patterns of paths under vars that nothing matches',
    `vars: {docs: ["src/**", "/docs/**"]}\n${rule("on: push, if: 'any_glob(event.files.modified, vars.docs)', do: {milestone.ensure: {title: x}}")}`,
    /5:\d+ .*"\/docs\/\*\*" matches nothing/,
  ],
  [
    'a name of a repository with its owner',
    rule(`on: push, if: 'glob(repo.name, "acme/*")', do: {milestone.ensure: {title: x}}`),
    /4:\d+ .*has no slash/,
  ],
  [
    'a full name of a repository without its owner',
    rule(`on: push, if: 'glob(repo.full_name, "web-*")', do: {milestone.ensure: {title: x}}`),
    /4:\d+ .*has a slash always/,
  ],
  [
    'a pattern of paths that nothing matches, in a loop',
    rule(`on: push, if: 'event.files.added.exists(f, glob(f, "/docs/**"))', do: {milestone.ensure: {title: x}}`),
    /4:\d+ .*begins at the top/,
  ],
  [
    'a full ref as a pattern of branches',
    rule(`on: push.branch, if: 'glob(event.branch, "refs/heads/*")', do: {milestone.ensure: {title: x}}`),
    /4:\d+ .*named without/,
  ],
  [
    'a new branch with refs/heads/',
    rule('on: push, do: {branch.create: {new_branch_name: refs/heads/next}}'),
    /4:\d+ branch\.create: new_branch_name: a branch is named without "refs\/…"/,
  ],
  [
    'a day that does not exist',
    rule('on: push, do: {milestone.ensure: {title: x, due_on: "2027-02-30T12:00:00Z"}}'),
    /^(?:error|warning) 4:\d+ .*due_on/,
  ],
  [
    'a mirror twice with other intervals',
    policy(
      'push_mirrors: [{remote_address: "https://mirror.example.org/a.git", interval: 8h}, {remote_address: "https://mirror.example.org/a/", interval: 4h}]',
      ', private: false',
    ),
    /has another interval here/,
  ],
  [
    'a mirror twice with other intervals, by an expression',
    policy(
      'push_mirrors: [{remote_address: "https://mirror.example.org/${{ repo.name }}.git", interval: 8h}, {remote_address: "https://mirror.example.org/${{ repo.name }}.git", interval: 4h}]',
      ', private: false',
    ),
    /has another interval here/,
  ],
  [
    'one label in two spellings of one character',
    policy('labels: [{name: "caf\u00e9", color: "#ffffff"}, {name: "cafe\u0301", color: "#000000"}]'),
    /has another color here/,
  ],
  [
    'a constant list that is longer than its limit',
    'vars: {names: [a, b, c]}\n' +
      rule(
        'on: push, do: {milestone.ensure: {title: "${{ item }}"}, for_each: vars.names}, limits: {effects_per_run: 2}',
      ),
    /each run wants 3 effects, and 2 are allowed/,
  ],
  [
    'a branch with refs/heads/',
    rule('on: push, where: {branch: refs/heads/main}, do: {milestone.ensure: {title: x}}'),
    /refs\/heads/,
  ],
  [
    'a regular expression as a filter',
    rule('on: push, where: {branch: "^v.*$"}, do: {milestone.ensure: {title: x}}'),
    /glob pattern/,
  ],
  ['a login with @', rule('on: push, where: {actor: "@ann"}, do: {milestone.ensure: {title: x}}'), /login/],
  [
    'a command with a slash',
    rule('on: comment.created, where: {command: /label}, do: {milestone.ensure: {title: x}}'),
    /command/,
  ],
  [
    'an address as a repository',
    rule('on: push, where: {repo: "app.git"}, do: {milestone.ensure: {title: x}}'),
    /\.git/,
  ],
  [
    'a name that git allows nowhere',
    rule('on: push, where: {branch: "a b"}, do: {milestone.ensure: {title: x}}'),
    /no branch/,
  ],
  [
    'branch and tag of a push',
    rule('on: push, where: {branch: main, tag: "v*"}, do: {milestone.ensure: {title: x}}'),
    /never of both/,
  ],
  [
    'a key that is one for all',
    rule('on: push, coalesce: {key: repo.full_name, window: 2m}, do: {milestone.ensure: {title: x}}'),
    /no expression/,
  ],
  [
    'a field without braces',
    rule('on: release.published, do: {milestone.ensure: {title: event.tag}}'),
    /no expression/,
  ],
  [
    'braces without a $',
    rule('on: release.published, do: {milestone.ensure: {title: "v{{ event.tag }}"}}'),
    /without a \$/,
  ],
  ['labels of nothing', rule('on: issue.opened, do: {issue.label: {number: "${{ event.number }}"}}'), /none of add/],
  ['a whole list and an addition', rule('on: repository.created, do: {topics.ensure: {set: [a], add: [b]}}'), /alone/],
  [
    'a team among people',
    rule(
      'on: pull_request.opened, do: {pull_request.request_review: {number: "${{ event.number }}", reviewers: [acme/core]}}',
    ),
    /team/,
  ],
  [
    'an unlisted mirror',
    rule('on: repository.created, do: {push_mirror.ensure: {remote_address: "https://evil.org/a.git"}}'),
    /mirror_hosts/,
  ],
  [
    'a mirror whose host only the run tells',
    rule('on: repository.created, do: {push_mirror.ensure: {remote_address: "https://${{ repo.name }}.org/a.git"}}'),
    /mirror_hosts/,
  ],
  [
    'a mirror by way of vars',
    `vars: {base: "https://evil.org"}\n${rule('on: repository.created, do: {push_mirror.ensure: {remote_address: "${{ vars.base }}/a.git"}}')}`,
    /mirror_hosts/,
  ],
  [
    'a state that issues never have',
    rule(
      'on: push, lookup: {x: {use: issues.list, with: {state: opened}}}, if: "lookups.x.size() > 0", do: {milestone.ensure: {title: x}}',
    ),
    /open, closed/,
  ],
  [
    'a limit below the steps',
    rule(
      'on: push, do: [{milestone.ensure: {title: a}}, {milestone.ensure: {title: b}}], limits: {effects_per_run: 1}',
    ),
    /2 effects/,
  ],
  [
    'a workflow that starts itself',
    rule('on: workflow.finished, where: {actor: [bot]}, do: {workflow.dispatch: {workflow: ci.yml, ref: main}}'),
    /without end/,
  ],
  [
    'two steps of one rule',
    rule(
      'on: [issue.closed, issue.reopened], where: {actor: [bot]}, do: [{issue.state: {number: "${{ event.number }}", state: open}, when: event.kind == "issue.closed"}, {issue.state: {number: "${{ event.number }}", state: closed}, when: event.kind == "issue.reopened"}]',
    ),
    /without end/,
  ],
  [
    'a policy that makes its own subjects',
    'policies:\n  - {id: p, subjects: {repos: ["acme/*"]}, fix: [{use: repo.create_for_user, with: {username: acme, name: "${{ repo.name }}-x"}}]}\n',
    /without end/,
  ],
  [
    'a label that is removed as well',
    policy("labels: [{name: a, color: '#fff'}], removed_labels: [a]"),
    /undo each other/,
  ],
  [
    'a topic that one policy adds and another removes',
    `${policy('topics: [managed]')}  - {id: q, subjects: {repos: [acme/web]}, topics: {remove: [managed]}}\n`,
    /5:.*the topic "managed" is to be there and to be taken away \("p", line 4\)/,
  ],
  [
    'a topic that is left out of the only ones',
    `${policy('topics: {set: [a]}')}  - {id: q, subjects: {repos: [acme/web]}, topics: [a, b]}\n`,
    /the topic "b" is to be there/,
  ],
  [
    'two policies of one label',
    `${policy("labels: [{name: bug, color: '#fff'}]")}  - {id: q, subjects: {repos: [acme/web]}, labels: [{name: bug, color: '#000'}]}\n`,
    /another color/,
  ],
  [
    'a text that cannot begin so',
    rule(
      'on: push.branch, if: {a: event.branch.startsWith("rel"), b: event.branch == "main"}, do: {milestone.ensure: {title: x}}',
    ),
    /can never hold/,
  ],
];

/** They work, and are hardly meant so. */
const DOUBTS: ReadonlyArray<readonly [situation: string, text: string, says: RegExp]> = [
  [
    'a list of Markdown in a title',
    rule(`on: push, do: {issue.ensure: {key: k, open: true, title: "\${{ md_list([event.ref]) }}"}}`),
    /4:\d+ issue\.ensure: title is one line, and md_list and md_table give lines of Markdown/,
  ],
  [
    'a table of Markdown in a line',
    rule(
      `on: push, do: {label.ensure: {name: x, color: "#ffffff", description: "of \${{ md_table([{'a': 1}], ['a']) }}"}}`,
    ),
    /4:\d+ label\.ensure: description is one line/,
  ],
  [
    'a day of the month and a weekday',
    rule(
      'schedule: "0 9 1-7 * 1", where: {repo: ["acme/*"]}, do: {milestone.ensure: {title: x}}, limits: {effects_per_run: 1}',
    ),
    /day 1-7 of the month and on weekday 1 as well: cron takes either/,
  ],
  [
    'a label with letters of two alphabets',
    policy('labels: [{name: "b\u0430ckend", color: "#ffffff"}]'),
    /two alphabets that look alike/,
  ],
  [
    'more labels than a subject may want',
    policy(
      'labels: [{name: a, color: "#ffffff"}, {name: b, color: "#ffffff"}, {name: c, color: "#ffffff"}], limits: {effects_per_run: 2}',
    ),
    /a new subject wants 3 effects, and 2 are allowed: it is left alone/,
  ],
  [
    'more labels than a plan may have',
    policy('labels: [{name: a, color: "#ffffff"}, {name: b, color: "#ffffff"}], limits: {effects_per_plan: 1}'),
    /a new subject wants 2 effects, and 1 are allowed: it makes a plan that writes nothing/,
  ],
  [
    'more steps in each pass than a subject may want',
    policy(
      'labels: [{name: a, color: "#ffffff"}], fix: [{use: label.ensure, with: {name: "${{ item }}", color: "#ffffff"}, for_each: "[\'b\', \'c\']"}], limits: {effects_per_run: 2}',
    ),
    /a new subject wants 3 effects, and 2 are allowed: it is left alone/,
  ],
  [
    'comments of one number and one key for each item',
    rule(
      'on: push, do: {issue.comment: {number: 12, key: note, body: "${{ item }}"}, for_each: event.files.added, first: 3}, limits: {effects_per_run: 9}',
    ),
    /each item has the same key \(number, key\)/,
  ],
  [
    'a branch of any push',
    rule('on: push, if: event.branch == "main", do: {milestone.ensure: {title: x}}'),
    /need not have event\.branch/,
  ],
  [
    'a milestone that may be none',
    rule('on: issue.opened, if: event.issue.milestone.title == "x", do: {milestone.ensure: {title: x}}'),
    /may be missing or null/,
  ],
  [
    'an answer that may be none',
    rule(
      'on: push, lookup: {x: {use: branch.get, with: {branch: main}, on_missing: none}}, if: lookups.x.protected, do: {milestone.ensure: {title: x}}',
    ),
    /lookups\.x may be missing/,
  ],
  [
    'a pattern that is compared',
    rule('on: push.branch, if: event.branch == "release/*", do: {milestone.ensure: {title: x}}'),
    /letter by letter/,
  ],
  [
    'a name without its owner',
    rule('on: push, if: repo.full_name == "web", do: {milestone.ensure: {title: x}}'),
    /slash/,
  ],
  [
    'a number of more than 64 bits',
    rule('on: pull_request.opened, if: event.number > 99999999999999999999, do: {milestone.ensure: {title: x}}'),
    /64 bits/,
  ],
  [
    'a division by zero',
    rule('on: pull_request.opened, if: event.number / 0 > 1, do: {milestone.ensure: {title: x}}'),
    /by 0/,
  ],
  [
    'a lookup that nothing reads',
    rule('on: push, lookup: {x: labels.list}, do: {milestone.ensure: {title: x}}'),
    /read by nothing/,
  ],
  [
    'a jitter longer than the schedule',
    rule(
      'schedule: {cron: "*/5 * * * *", jitter: 2h}, where: {repo: "*"}, do: {milestone.ensure: {title: x}}, limits: {effects_per_run: 1}',
    ),
    /jitter/,
  ],
  [
    'a text that a comment cuts',
    'rules:\n  - id: r\n    on: issue.opened\n    do:\n      issue.comment:\n        number: "${{ event.number }}"\n        key: k\n        body: See #12 for more\n',
    /begins a comment/,
  ],
  [
    'a mirror that never is',
    policy('push_mirrors: [{remote_address: "https://mirror.example.org/${{ repo.name }}.git"}]', ', private: true'),
    /private repository/,
  ],
  [
    'labels that are renamed in a circle',
    policy("labels: [{name: a, color: '#fff', renamed_from: [b]}, {name: b, color: '#fff', renamed_from: [a]}]"),
    /renamed to/,
  ],
  [
    'two rules of one variable',
    'rules:\n  - {id: a, on: release.published, do: {org_variable.set: {name: LAST, value: a}}}\n  - {id: b, on: release.published, do: {org_variable.set: {name: LAST, value: b}}}\n',
    /chance/,
  ],
  [
    'a label of another spelling',
    `${policy("labels: [{name: size/S, color: '#fff'}]")}${rule('on: issue.opened, do: {issue.label: {number: "${{ event.number }}", add: [size/s]}}')}`,
    /no policy makes/,
  ],
  [
    'a lookup that is never null, compared with null',
    rule(
      'on: push, lookup: {x: {use: branch.get, with: {branch: main}}}, if: lookups.x == null, do: {milestone.ensure: {title: x}}',
    ),
    /never null, so this never holds/,
  ],
  [
    'a condition that says nothing',
    rule('on: push, if: {a: "true"}, do: {milestone.ensure: {title: x}}'),
    /always holds/,
  ],
  [
    'a constant that nothing reads',
    `vars: {x: 1}\n${rule('on: push, do: {milestone.ensure: {title: x}}')}`,
    /vars\.x is read by nothing/,
  ],
  [
    'two rules that paint one label',
    'rules:\n  - {id: a, on: push, do: {label.ensure: {name: x, color: "#fff"}}}\n  - {id: b, on: push, do: {label.ensure: {name: x, color: "#000"}}}\n',
    /chance/,
  ],
  [
    'a rule that takes away what a policy makes',
    `${policy("labels: [{name: bug, color: '#fff'}]")}${rule('on: push, do: {label.remove: {name: " bug"}}')}`,
    /policy "p" \(line 4\) keeps "bug" otherwise/,
  ],
  [
    'a rule that takes off a topic that a policy puts on',
    `${policy('topics: [managed]')}${rule('on: push, do: {topics.ensure: {remove: [managed]}}')}`,
    /policy "p" \(line 4\) keeps the topic "managed" otherwise/,
  ],
  [
    'a rule that puts on a topic that a policy leaves out',
    `${policy('topics: {set: [managed]}')}${rule('on: push, do: {topics.ensure: {add: [seen]}}')}`,
    /keeps the topic "seen" otherwise/,
  ],
  [
    'a rule that changes a setting that a policy keeps',
    `${policy('settings: {description: kept}')}${rule('on: push, do: {repository_settings.ensure: {description: other}}')}`,
    /policy "p" \(line 4\) keeps "settings" otherwise/,
  ],
  ['a kind that stands twice', rule('on: [push, push], do: {milestone.ensure: {title: x}}'), /stands here twice/],
  [
    'a step that stands twice',
    rule('on: push, do: [{milestone.ensure: {title: x}}, {milestone.ensure: {title: x}}]'),
    /same as the one in line 4/,
  ],
  [
    'a list whose items nothing reads',
    'vars: {all: [a]}\nrules:\n  - {id: r, on: push, do: {milestone.ensure: {title: x}, for_each: vars.all}, limits: {effects_per_run: 5}}\n',
    /reads item/,
  ],
  [
    'a sign in a name that nobody sees',
    rule('on: push, do: {milestone.ensure: {title: "x\u200b"}}'),
    /invisible character \(U\+200B\)/,
  ],
  [
    'an exclusive label without a scope',
    rule('on: push, do: {label.ensure: {name: bug, color: "#fff", exclusive: true}}'),
    /no scope/,
  ],
  [
    'a size that is always large enough',
    rule("on: push.branch, if: 'event.branch.size() >= 0', do: {milestone.ensure: {title: x}}"),
    /this always holds/,
  ],
];

describe('checks that are new in this version', () => {
  it.each(MISTAKES)('%s is an error with its line', (_situation, text, says) => {
    const result = load(text);

    expect(result.ok).toBe(false);
    expect(told(result)).toEqual([expect.stringMatching(says)]);
  });

  it.each(MISTAKES)('%s is a warning for a revision that was active before', (_situation, text, says) => {
    const result = load(text, true);

    expect(result.ok).toBe(true);
    expect(told(result)).toEqual([expect.stringMatching(says)]);
    expect(told(result)[0]).toMatch(/^warning /);
  });

  it.each(DOUBTS)('%s is a warning, and holds nothing back', (_situation, text, says) => {
    const result = load(text);

    expect(result.ok).toBe(true);
    expect(told(result)).toEqual([expect.stringMatching(says)]);
  });

  it.each([
    [
      'patterns of paths, of commands and of addresses',
      rule(
        `on: comment.created, if: 'glob(event.comment.body, "/label *") || any_glob([event.comment.body], ["https://*/**"])', do: {milestone.ensure: {title: x}}`,
      ),
    ],
    [
      'patterns of paths that exist',
      rule(
        `on: push, if: 'any_glob(event.files.modified, ["docs/**", "**/*.md", "{a,b}/c", ".github/**"]) && event.files.added.exists(path, path.startsWith(".github/")) && glob(repo.full_name, "acme/*") && glob(repo.name, "web-*")', do: {milestone.ensure: {title: x}}`,
      ),
    ],
    [
      'a branch that is asked for first',
      rule('on: push, if: has(event.branch) && event.branch == "main", do: {milestone.ensure: {title: x}}'),
    ],
    [
      'a branch that a filter asks for',
      rule('on: push, where: {branch: "*"}, if: event.branch == "main", do: {milestone.ensure: {title: x}}'),
    ],
    [
      'a milestone that is compared with null first',
      rule(
        'on: issue.opened, if: event.issue.milestone != null && event.issue.milestone.title == "x", do: {milestone.ensure: {title: x}}',
      ),
    ],
    [
      'labels of policies that never meet',
      `${policy("labels: [{name: bug, color: '#fff'}]", ', private: true')}  - {id: q, subjects: {repos: [acme/web], private: false}, labels: [{name: bug, color: '#000'}]}\n`,
    ],
    [
      'one colour in two spellings',
      `${policy("labels: [{name: bug, color: '#fff'}]")}  - {id: q, subjects: {repos: [acme/web]}, labels: [{name: bug, color: '#FFFFFF'}]}\n`,
    ],
    [
      'a repository of another name',
      rule(
        'on: push, where: {repo: ["acme/app-*"], branch: "release/**", actor: [ann, bot], command: "x*"}, do: {milestone.ensure: {title: x}}',
      ).replace(', command: "x*"', ''),
    ],
    [
      'prose that names a field',
      rule(
        'on: issue.opened, do: {issue.comment: {number: "${{ event.number }}", key: k, body: "We look at event.number first."}}',
      ),
    ],
    [
      'a mirror below a listed host',
      rule(
        'on: repository.created, do: {push_mirror.ensure: {remote_address: "https://mirror.example.org/${{ repo.name }}.git"}}',
      ),
    ],
    ['a number without quotes', rule('on: issue.opened, do: {issue.label: {number: 12, add: [bug]}}')],
    [
      'a label that stays',
      rule('on: issue.labeled, where: {actor: [bot]}, do: {issue.label: {number: "${{ event.number }}", add: [a]}}'),
    ],
    [
      'steps of two kinds that never meet',
      rule(
        'on: [issue.closed, issue.reopened], where: {actor: [bot]}, do: [{issue.label: {number: "${{ event.number }}", add: [done]}, when: event.kind == "issue.closed"}]',
      ),
    ],
    [
      'a repository that the policy leaves out',
      'policies:\n  - {id: p, subjects: {repos: ["acme/*"], not_repos: ["*-x"]}, fix: [{use: repo.create_for_user, with: {username: acme, name: "${{ repo.name }}-x"}}]}\n',
    ],
    [
      'a run that is tried again',
      rule(
        'on: workflow.finished, where: {actor: [bot]}, do: {run.rerun_failed: {run: "${{ event.run.id }}", attempts: 3}}',
      ),
    ],
  ])('%s is right', (_situation, text) => {
    expect(told(load(text))).toEqual([]);
  });

  it.each([
    ['of one policy', policy('labels: [{name: Bug, color: "#fff"}, {name: bug, color: "#000"}]')],
    [
      'of two policies',
      `${policy("labels: [{name: Bug, color: '#fff'}]")}  - {id: q, subjects: {repos: [acme/web]}, labels: [{name: bug, color: '#000'}]}\n`,
    ],
    [
      'of a policy and a rule',
      `${policy('milestones: [{title: Next, state: open}]')}${rule('on: push, do: {milestone.remove: {title: next}}')}`,
    ],
  ])('names that differ by their case are two: %s', (_, text) => {
    expect(told(load(text))).toEqual([]);
  });

  it('a merge queue of the bot is none of the forge', () => {
    const merge = (rest: string): string =>
      rule(`on: pull_request.labeled, do: {pull_request.merge: {number: "1", sha: "${'a'.repeat(40)}", ${rest}}}`);

    expect(told(load(merge('update: true, by: forge'))).join('\n')).toMatch(/update and by: forge exclude each other/);
    expect(told(load(merge('update: true, checks_within: 30')))).toEqual([]);
  });

  it('a verb of several steps is none for a policy, which does all at once', () => {
    const fix = policy(`expect: {a: 'repo.fork'}, fix: [{backport: {number: "1", to: x}}]`);

    expect(told(load(fix)).join('\n')).toMatch(/backport has several steps, and a policy does all at once/);
  });

  it('a run that does not say who started it gives a warning, one that is asked about none', () => {
    const dispatch = 'do: {workflow.dispatch: {workflow: ci.yml, ref: main}}';

    expect(told(load(rule(`on: workflow.finished, ${dispatch}`)))).toEqual([
      expect.stringMatching(/^warning .*may start each other/),
    ]);
    expect(told(load(rule(`on: workflow.finished, if: event.run.conclusion == "failure", ${dispatch}`)))).toEqual([]);
  });

  it.each([
    ['http://127.0.0.1:9418/acme/app.git', null, true],
    ['https://mirror.example.org:8443/acme/app.git', null, true],
    // An entry may begin with http://.
    ['http://mirror.example.org/acme/app.git', null, true],
    ['http://mirror.example.org/acme/app.git', ['mirror.example.org'], false],
    ['http://127.0.0.1:9418/acme/app.git', ['http://127.0.0.1:9418'], true],
    ['http://127.0.0.1:9418/acme/app.git', ['mirror.example.org'], false],
  ] as const)('the mirror %s, where the listed hosts are %j', (address, hosts, isTaken) => {
    const step = `push_mirror.ensure: {remote_address: "${address}", interval: 8h}`;

    expect(load(rule(`on: push, do: {${step}}`), false, hosts).ok).toBe(isTaken);
  });
});

describe('loops', () => {
  const closing = (on: string, number: string): string =>
    `rules:\n  - {id: a, on: issue.closed, where: {actor: ["*", bot]}, do: {issue.state: {number: "\${{ event.issue.number }}", state: open}}}\n  - {id: b, on: ${on}, where: {actor: ["*", bot]}, do: {issue.state: {number: "\${{ ${number} }}", state: closed}}}\n`;

  it.each([
    ['issue.reopened', 'event.issue.number', ['error']],
    ['issue.reopened', 'event.number', ['error']],
    ['pull_request.reopened', 'event.pull_request.number', []],
    ['pull_request.reopened', 'event.number', []],
  ])('an issue that is closed and a rule of %s with %s: %j', (on, number, expected) => {
    expect(told(load(closing(on, number))).map((line) => line.split(' ')[0])).toEqual(expected);
  });
});

describe('acts of the bot by the name of a rule', () => {
  const two = (actor: string, on = 'branch.created'): string =>
    `rules:
  - {id: starts, on: tag.created, do: {branch.create: {new_branch_name: "\${{ event.tag }}"}}}
  - {id: labels, on: tag.created, do: {label.ensure: {name: x, color: "112233"}}}
  - {id: follows, on: ${on}, where: {actor: ${actor}}, do: {milestone.ensure: {title: x}}}
`;

  /** A rule that does one thing, and one that takes its acts. */
  const chain = (on: string, does: string): string =>
    `rules:
  - {id: first, on: issue.opened, do: {${does}}}
  - {id: then, on: ${on}, where: {actor: ["bot:first"]}, do: {milestone.ensure: {title: x}}}
`;
  const MERGE = `number: "1", sha: ${'a'.repeat(40)}`;

  it.each([
    ['branch.created', 'branch.create: {new_branch_name: b}'],
    ['push', 'branch.create: {new_branch_name: b}'],
    ['issue.labeled', 'issue.label: {number: "1", add: [a]}'],
    ['issue.closed', 'issue.state: {number: "1", state: closed}'],
    ['pull_request.milestoned', 'issue.milestone: {number: "1", title: a}'],
    ['issue.assigned', 'issue.assign: {number: "1", add: [ann]}'],
    ['comment.created', 'issue.comment: {number: "1", key: k, body: b}'],
    ['pull_request.review_requested', 'pull_request.request_review: {number: "1", reviewers: [ann]}'],
    ['pull_request.merged', `pull_request.merge: {${MERGE}}`],
    ['push', `pull_request.merge: {${MERGE}, method: squash}`],
    ['branch.deleted', `pull_request.merge: {${MERGE}, delete_branch: true}`],
    ['status.set', `status.set: {sha: ${'a'.repeat(40)}, context: c, state: success}`],
    ['release.updated', 'release_notes.ensure: {tag: v1}'],
  ])('are taken by %s of a rule with %s', (on, does) => {
    expect(told(load(chain(on, does)))).toEqual([]);
  });

  it.each([
    ['issue.reopened', 'issue.state: {number: "1", state: closed}', 'nothing that "first" does leads to'],
    ['branch.deleted', `pull_request.merge: {${MERGE}}`, 'nothing that "first" does leads to'],
    ['push', `pull_request.merge: {${MERGE}, method: rebase}`, 'no event of on says that "first" caused it'],
    ['workflow.finished', 'run.rerun_failed: {run: "1"}', 'no event of on says that "first" caused it'],
  ])('are refused by %s of a rule with %s', (on, does, message) => {
    const result = load(chain(on, does));

    expect(result.ok ? [] : result.problems).toEqual([
      expect.objectContaining({ line: 5, message: expect.stringContaining(message) }),
    ]);
  });

  it('are taken of a rule whose acts are known', () => {
    expect(told(load(two('["*", "bot:starts"]')))).toEqual([]);
  });

  it('are taken by a rule that is switched off, and still only of a rule that is there', () => {
    const off = (actor: string): string => two(actor).replace('{id: follows,', '{id: follows, disabled: not now,');

    expect(told(load(off('["bot:starts"]')))).toEqual([]);
    expect(told(load(off('["bot:start"]')))).toEqual([expect.stringContaining('there is no rule or policy "start"')]);
  });

  it.each([
    [
      'a rule that is not there',
      two('["*", "bot:start"]'),
      'there is no rule or policy "start"',
      'did you mean "starts"?',
    ],
    ['a rule without a name', two('["*", "bot:"]'), 'there is no rule or policy ""', ''],
    [
      'a rule that raises no such event',
      two('["bot:starts"]', 'issue.opened'),
      'nothing that "starts" does',
      'actor: [bot]',
    ],
    ['a rule whose acts nobody can tell', two('["bot:labels"]'), 'nothing that "labels" does', 'actor: [bot]'],
  ])('are refused of %s, at its name', (_what, text, message, hint) => {
    const result = load(text);

    expect(result.ok ? [] : result.problems).toEqual([
      expect.objectContaining({
        line: 6,
        message: expect.stringContaining(message),
        hint: expect.stringContaining(hint),
      }),
    ]);
    expect(told(load(text, true))).toEqual([expect.stringMatching(/^warning 6:/)]);
  });
});
