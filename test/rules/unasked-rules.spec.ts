import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { actionCatalogue } from '../../src/actions/index.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { loadRules } from '../../src/rules/language/load/load-rules.js';
import { missingSets } from '../../src/rules/sources/shared-files.js';
import { aWholeEnvironment } from '../builders/whole-environment.js';

const engine = new CelEngine();
const ENVIRONMENT = {
  ...aWholeEnvironment(engine),
  powers: new Set([...actionCatalogue().values()].flatMap(({ power }) => power ?? [])),
  secrets: new Set(['mirror_token', 'dev_chat']),
  mirrorHosts: ['mirror.example.org'],
};
const OWN = 'start no rule';

function unasked(rules: string, files: ReadonlyArray<{ path: string; text: string }> = []): string[] {
  const text = `version: 1\norg: acme\nrules:\n${rules}`;
  const all = files.length > 0 ? files : [{ path: 'r.yaml', text }];
  const result = loadRules(all, ENVIRONMENT);
  expect(result.ok ? [] : result.problems).toEqual([]);
  return (result.warnings ?? [])
    .filter(({ message }) => message.includes(OWN))
    .map(({ line, message, hint }) => `${line}: ${message} | ${hint ?? ''}`);
}

const MERGE = `  - id: merge-when-green
    on: pull_request.labeled
    do: {pull_request.merge: {number: "\${{ event.number }}", sha: "\${{ event.pull_request.head.sha }}", label: merge}}
`;
const backport = (where = ''): string => `  - id: backport
    on: pull_request.merged
${where === '' ? '' : `    where: ${where}\n`}    do: {issue.label: {number: "\${{ event.number }}", add: [backported]}}
`;
const labeler = (name: string): string => `  - id: labeler
    on: issue.opened
    do: {issue.label: {number: "\${{ event.number }}", add: [${name}]}}
`;
const onLabel = `  - id: on-label
    on: issue.labeled
    if: '"urgent" in event.labels'
    do: {issue.comment: {number: "\${{ event.number }}", key: k, body: On it}}
`;

describe('rules that wait for what another rule causes', () => {
  it('are named, with the rule that causes it and what to write', () => {
    expect(unasked(MERGE + backport())).toEqual([
      '8: "backport" waits for pull_request.merged, which "merge-when-green" causes: the bot\'s own acts start no rule | where: {actor: ["*", bot]}, or ["*", "bot:merge-when-green"] for these alone; actor: "*" says that they are not meant',
    ]);
  });

  it.each([
    ['issue.opened', 0],
    ['issue.edited', 0],
    ['issue.closed', 1],
  ])('who waits for %s means the issue that the bot keeps: %i', (kind, count) => {
    const kept = `  - id: kept
    on: push
    do: {issue.ensure: {key: k, open: "\${{ event.branch == 'x' }}", title: t}}
`;

    expect(unasked(`${kept}${labeler('bug').replace('issue.opened', kind)}`)).toHaveLength(count);
  });

  it.each([
    ['everybody and the bot', '{actor: ["*", bot]}'],
    ['everybody and that rule', '{actor: ["*", "bot:merge-when-green"]}'],
    ['everybody but the bot, in so many words', '{actor: "*"}'],
    ['somebody', '{actor: ann}'],
    ['another branch of another repository', '{repo: other}'],
  ])('are not, where the rule says whose acts it means: %s', (_whose, where) => {
    const merge = MERGE.replace('    do:', '    where: {repo: app}\n    do:');

    expect(unasked(merge + backport(where))).toEqual([]);
  });

  it('names several kinds and rules in one line', () => {
    const close = `  - id: close
    schedule: "0 3 * * *"
    where: {repo: [app]}
    lookup: {old: {use: issues.list, with: {state: open}}}
    do: {issue.state: {number: "\${{ item.number }}", state: closed}, for_each: lookups.old, first: 5}
    limits: {effects_per_run: 5}
`;
    const notes = `  - id: notes
    on: [pull_request.merged, issue.closed]
    do: {milestone.ensure: {title: "\${{ event.kind }}"}}
`;
    const [line] = unasked(MERGE + close + notes);

    expect(line).toMatch(
      /"notes" waits for pull_request\.merged and issue\.closed, which "merge-when-green" and "close" cause: /,
    );
  });

  it('a label that its conditions do not name is not meant', () => {
    expect(unasked(labeler('docs') + onLabel)).toEqual([]);
    expect(unasked(labeler('urgent') + onLabel)).toHaveLength(1);
  });

  it('a comment of the bot is not meant, nor what a rule causes itself, nor what a rule in dry-run would cause', () => {
    const answer = '  - {id: answer, on: comment.created, do: {milestone.ensure: {title: talk}}}\n';
    const alone =
      '  - {id: alone, on: issue.labeled, do: {issue.label: {number: "${{ event.number }}", add: [seen]}}}\n';

    expect(unasked(onLabel.replace('"urgent" in event.labels', 'event.number > 1') + answer)).toEqual([]);
    expect(unasked(alone)).toEqual([]);
    expect(unasked(MERGE.replace('    do:', '    mode: dry-run\n    do:') + backport())).toEqual([]);
  });

  it.each(['starters', 'organization', 'examples', 'acme'])('none of the shipped rules in %s', (folder) => {
    const path = fileURLToPath(new URL(`../../config/rules/${folder}/`, import.meta.url));
    const own = readdirSync(path)
      .filter((name) => !name.endsWith('.test.yaml'))
      .map((name) => ({ path: name, text: readFileSync(path + name, 'utf8') }));
    const files = [...own, ...missingSets(own, { builtInSets: true })];

    expect(unasked('', files)).toEqual([]);
  });
});
