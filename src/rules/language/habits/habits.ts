import { emptyTable } from '../../../core/table.js';
import { word } from './word.js';
import type { Word } from './word.js';

/** Where people write a word that means something elsewhere; words for keys stand with the keys (`grammar.ts`). */
export type HabitPlace = 'kind' | 'action' | 'lookup name' | 'protection' | 'param' | 'variable' | 'field' | 'function';

/** What people bring from GitHub Actions, JavaScript, Python, Mergify, Prow and the forges' own webhooks, and what to write here. The page of the docs is made from it. */
export const HABITS: Readonly<Record<HabitPlace, readonly Word[]>> = {
  kind: [
    word(
      'pull_request pull_requests pr pull_request_target pulls merge_request',
      'pull_request.opened, pull_request.synchronized, pull_request.merged, …',
    ),
    word(
      'pull_request_sync pull_request.sync pull_request.synchronize pull_request.synchronise pull_request.pushed pull_request.updated',
      'pull_request.synchronized',
    ),
    word(
      'pull_request.review pull_request.reviewed pull_request_review review pull_request_review.submitted review.submitted',
      'review.approved, review.rejected or review.commented',
    ),
    word('pull_request_review_approved pull_request.approved', 'review.approved'),
    word(
      'pull_request_review_rejected pull_request_rejected review.changes_requested pull_request.changes_requested',
      'review.rejected',
    ),
    word('pull_request_review_comment pull_request_review_comment.created', 'review.commented'),
    word(
      'pull_request_comment pull_request.commented pull_request.comment pull_request_comment.created',
      'comment.created, with if: event.is_pull',
    ),
    word(
      'pull_request_label pull_request.label pull_request.unlabeled pull_request.label_updated',
      'pull_request.labeled',
    ),
    word('pull_request_assign', 'pull_request.assigned or pull_request.unassigned'),
    word('pull_request_milestone', 'pull_request.milestoned or pull_request.demilestoned'),
    word('pull_request_review_request pull_request.review_request', 'pull_request.review_requested'),
    word('pull_request.ready pull_request.draft pull_request.converted_to_draft', 'pull_request.ready_for_review'),
    word('pull_request.created', 'pull_request.opened'),
    word('pull_request.merge merged', 'pull_request.merged'),
    word('issue issues', 'issue.opened, issue.closed, issue.labeled, …'),
    word('issues.opened issues.created issue.created issue.open', 'issue.opened'),
    word('issues.closed', 'issue.closed'),
    word('issues.reopened', 'issue.reopened'),
    word('issues.edited', 'issue.edited'),
    word(
      'issues.labeled issue_label issue.label issues.unlabeled issue.unlabeled issue.label_updated',
      'issue.labeled',
    ),
    word('issues.assigned issue_assign', 'issue.assigned'),
    word('issues.milestoned issue_milestone', 'issue.milestoned'),
    word(
      'issue_comment issue_comment.created issue.commented issue.comment comment comments comment.added',
      'comment.created',
    ),
    word('issue_comment.edited', 'comment.edited'),
    word('issue_comment.deleted', 'comment.deleted'),
    word('create', 'branch.created or tag.created'),
    word('delete', 'branch.deleted or tag.deleted'),
    word('branch branch.create', 'branch.created'),
    word('tag tag.create tag.pushed push_tag', 'tag.created'),
    word('branch.pushed branch.push push_branch', 'push.branch'),
    word('push.created commit commits commit.pushed pushed', 'push'),
    word('release release.created release.released release.publish', 'release.published'),
    word('release.edited release.prereleased', 'release.updated'),
    word('repository repo repo.created repository.create create_repo', 'repository.created'),
    word(
      'repository.archived repository.edited repository.publicized repository.privatized',
      'nothing: no event reports it; a policy keeps settings: settings: {…}',
    ),
    word('fork forked', 'repository.forked'),
    word('star watch', 'repository.starred or repository.watched'),
    word(
      'status commit_status check_run check_suite check_run.completed check_suite.completed status.created status.changed',
      'status.set',
    ),
    word(
      'workflow_run workflow workflow_run.completed workflow.completed workflow.success workflow.failure workflow.failed action_run_success action_run_failure run.finished',
      'workflow.finished',
    ),
    word('action_run_recover', 'workflow.recovered'),
    word('workflow_run.requested workflow_run.queued', 'workflow.requested'),
    word('workflow_run.in_progress', 'workflow.started'),
    word('workflow_job workflow_job.completed job.finished task task.completed', 'task.finished'),
    word('workflow_job.queued', 'task.queued'),
    word('workflow_job.in_progress', 'task.started'),
    word('package registry_package package.published', 'package.created'),
    word('wiki gollum', 'wiki.created or wiki.edited'),
    word('schedule cron schedule.tick', 'schedule: "0 4 * * *", beside on or in place of it'),
    word('workflow_dispatch repository_dispatch manual', 'comment.created, with where: {command: NAME}'),
    word(
      'milestone milestone.created label label.created',
      'nothing: no event reports it; a policy keeps labels and milestones',
    ),
    word('merge_group discussion deployment page_build', 'nothing: this forge has no such event'),
    word('yes true no false', 'the name of an event, such as push'),
  ],
  action: [
    word(
      'label.add label add_label addLabel add_labels labels.add issue.add_label issue.add_labels pull_request.label pull_request.add_label pr.label issue.labels',
      'issue.label: {number: …, add: [NAME]}',
    ),
    word(
      'label.remove_from unlabel remove_label removeLabel issue.remove_label issue.unlabel',
      'issue.label: {number: …, remove: [NAME]}',
    ),
    word('label.create create_label labels.ensure label.set', 'label.ensure: {name: …, color: "#…"}'),
    word(
      'comment comment.create comment.add add_comment issue.add_comment pull_request.comment create_comment createComment post_comment',
      'issue.comment: {number: …, key: …, body: …}',
    ),
    word('close issue.close close_issue pull_request.close issues.close', 'issue.state: {number: …, state: closed}'),
    word('reopen issue.reopen issue.open pull_request.reopen', 'issue.state: {number: …, state: open}'),
    word(
      'assign issue.assignee pull_request.assign assignee.add add_assignees assignees',
      'issue.assign: {number: …, add: [LOGIN]}',
    ),
    word('merge pull_request.automerge automerge auto_merge pr.merge', 'pull_request.merge: {number: …, sha: …}'),
    word(
      'request_review request_reviews review.request request_reviewers pull_request.review reviewers.add pull_request.reviewers',
      'pull_request.request_review: {number: …, reviewers: [LOGIN]}',
    ),
    word('milestone milestone.create create_milestone milestones.ensure', 'milestone.ensure: {title: …}'),
    word(
      'milestone.set issue.set_milestone pull_request.milestone milestone.assign',
      'issue.milestone: {number: …, title: …}',
    ),
    word('branch branch.ensure create_branch branches.create', 'branch.create: {new_branch_name: …}'),
    word('release release.create release.edit release.publish', 'release.update: {tag: …, draft: false}'),
    word('release.notes release_notes release_notes.create', 'release_notes.ensure: {tag: …}'),
    word('status status.create commit_status.set commit.status', 'status.set: {sha: …, context: …, state: …}'),
    word('workflow.run workflow.start dispatch workflow_dispatch', 'workflow.dispatch: {workflow: …, ref: …}'),
    word('rerun run.rerun workflow.rerun', 'run.rerun_failed: {run: …}'),
    word(
      'mirror push_mirror.create push_mirror mirror.ensure push_mirrors.ensure',
      'push_mirror.ensure: {remote_address: …}',
    ),
    word('variable variable.set org_variable.create org_variable.ensure', 'org_variable.set: {name: …, value: …}'),
    word('repo.create repository.create repository.ensure', 'repo.create_for_user: {username: …, name: …}'),
    word(
      'repository.settings repo.settings settings.ensure repository_settings.set',
      'repository_settings.ensure: {…}',
    ),
    word('protection.set branch_protection.ensure branch.protect', 'protection.ensure: {name: …}'),
    word('topics.set topics.add topic.ensure', 'topics.ensure: {add: [NAME]}'),
    word('uses run script shell', 'an action of this bot: it runs no commands (docs/actions.md)'),
  ],
  'lookup name': [
    word('issue.list issues', 'issues.list'),
    word('pulls.list pull_requests.list pull_request.list', 'issues.list, with: {type: pulls}'),
    word('label.list', 'labels.list'),
    word('milestone.list', 'milestones.list'),
    word('release.list release.get release.latest', 'releases.list or release.by_tag'),
    word('branches.list branch.list', 'branch.get, of one branch'),
    word('file.read file.get contents.get files.get content.read', 'files.read'),
    word('pull.get pr.get', 'pull_request.get'),
    word(
      'pull_request.commits commits.list',
      'event.commits of a push; pull_request.files lists what a pull request changes',
    ),
    word('reviews.list', 'pull_request.reviews'),
    word('pulls.of_commit commit.pulls commit.pull_requests pull_request.of_commit', 'pull_requests.of_commit'),
    word('files.list pull.files', 'pull_request.files'),
    word('status.list statuses.list commit.status', 'status.get'),
    word('user.get user.rights permission.get rights.get', 'actor.rights'),
    word('hook.list', 'hooks.list'),
    word('push_mirror.list mirrors.list', 'push_mirrors.list'),
    word('variable.get', 'org_variable.get'),
    word('run.list', 'runs.list'),
    word('task.list', 'tasks.list'),
    word('repository.get', 'repo.get'),
  ],
  protection: [
    word('required_reviews required_approving_review_count required_reviewers reviews approvals', 'required_approvals'),
    word('required_status_checks status_checks checks contexts', 'enable_status_check and status_check_contexts'),
    word('branch branch_name pattern rule_name', 'name'),
    word('allow_force_pushes force_push', 'enable_force_push'),
    word('enforce_admins', 'block_admin_merge_override'),
    word('dismiss_stale_reviews', 'dismiss_stale_approvals'),
    word('require_signatures signed_commits required_signatures', 'require_signed_commits'),
    word('push_whitelist', 'push_whitelist_usernames'),
    word('merge_whitelist', 'merge_whitelist_usernames'),
  ],
  param: [
    word('colour', 'color'),
    word('label', 'add: [NAME]'),
    word('labels', 'add: [NAME], remove: [NAME] or set: [NAME]'),
    word('issue index issue_number pr pull_request pull_number', 'number'),
    word('text message content', 'body'),
    word('assignees assignee', 'add: [LOGIN]'),
    word('due due_date deadline', 'due_on'),
    word('url address remote', 'remote_address'),
    word('visibility public', 'private'),
    word('user_name owner', 'username'),
    word('branch branch_name', 'new_branch_name'),
    word('base from source ref', 'old_ref_name'),
    word('merge_method strategy style do', 'method'),
  ],
  variable: [
    word(
      'github gitea forgejo context payload ctx body',
      'event, such as event.pull_request.title; event.actor.login is who did it',
    ),
    word('sender author user actor login', 'event.actor.login'),
    word('repository', 'repo'),
    word('pull_request pr pull merge_request', 'event.pull_request'),
    word('issue', 'event.issue'),
    word('comment', 'event.comment'),
    word('review', 'event.review'),
    word('release', 'event.release'),
    word('labels label', 'event.labels, the names; event.issue.labels, the labels'),
    word('branch ref head base', 'event.branch'),
    word('tag', 'event.tag'),
    word('number', 'event.number'),
    word('title', 'event.issue.title or event.pull_request.title'),
    word('commits', 'event.commits'),
    word('files changed_files', 'event.files of a push; the lookup pull_request.files of a pull request'),
    word('action kind type', 'event.kind'),
    word('command args', 'event.command.name, event.command.args'),
    word(
      'env inputs matrix process',
      'vars.NAME, a constant of the file, or secrets.NAME in a parameter that is marked secret',
    ),
    word('needs steps job jobs runner', 'lookups, the answers of the rule’s lookups'),
    word('lookup', 'lookups'),
    word('var variables', 'vars'),
    word('secret', 'nothing: a secret stands alone in a parameter that is marked secret'),
    word('organization owner', 'org.name'),
    word('today date', 'date(now)'),
    word('undefined None nil Null NULL', 'null; whether a field is there: has(event.field)'),
    word('True TRUE', 'true'),
    word('False FALSE', 'false'),
    word('not', '!'),
    word('each it element value', 'item'),
  ],
  /** Of the event or of an object in it; what stands before stays. */
  field: [
    word('workflow_run', 'event.run'),
    word('workflow_job check_run', 'event.task'),
    word('head_branch', 'head_branch of event.run, or event.pull_request.head.ref'),
    word('base_branch target_branch target', 'base.ref'),
    word('source_branch', 'head.ref'),
    word('is_draft', 'draft'),
    word('is_private', 'private'),
    word('is_archived', 'archived'),
    word('is_merged has_merged', 'merged'),
    word('author owner created_by submitter', 'user.login, of the object; who acts is event.actor.login'),
    word('description text content message_text', 'body'),
    word(
      'changed_files modified_files',
      'event.files.modified of a push; the lookup pull_request.files of a pull request',
    ),
    word('conclusion_state outcome result', 'conclusion'),
  ],
  function: [
    word('includes', '"x" in list, or text.contains("x")'),
    word('some any', 'list.exists(x, x.name == "…")'),
    word('every', 'list.all(x, x.name != "…")'),
    word('find first', 'list.filter(x, x.name == "…")[0]'),
    word('forEach reduce flatMap', 'list.map(x, x.name) or list.filter(x, …)'),
    word('length len count sizeOf', 'list.size()'),
    word('isEmpty is_empty empty', 'list.size() == 0'),
    word('test match search regex regexMatch re_match regexp matchesRegex', 'text.matches("pattern")'),
    word('toLowerCase lower lowercase toLower downcase', 'text.lowerAscii()'),
    word('toUpperCase upper uppercase toUpper upcase', 'text.upperAscii()'),
    word('startswith starts_with hasPrefix beginsWith', 'text.startsWith("…")'),
    word('endswith ends_with hasSuffix', 'text.endsWith("…")'),
    word('slice substr', 'text.substring(0, 7)'),
    word('strip', 'text.trim()'),
    word('replaceAll', 'text.replace("a", "b")'),
    word('concat', 'a + b'),
    word('toString str String', 'string(x)'),
    word('parseInt Number toInt', 'int(x)'),
    word('toJSON json stringify', 'string(x) of one value; lists: list.join(", ")'),
    word('fromJSON parseJSON parse_json fromYaml', 'parse_yaml(text)'),
    word('now Date currentTime time', 'now, without brackets'),
    word('today', 'date(now)'),
    word('hours ago since', 'age(time) > days(30), or duration("8h")'),
    word('weeks', 'days(14)'),
    word('success failure always cancelled', 'event.run.conclusion == "success", on: workflow.finished'),
    word('hashFiles', 'nothing: a rule reads files by the lookup files.read'),
    word('changed', 'any_glob(event.files.modified, ["src/**"])'),
    word('hasLabel has_label', '"bug" in event.labels'),
    word('exists_any', 'list.exists(x, …)'),
    word('default coalesce ifNull', 'has(a.b) ? a.b : "…"'),
    word('defined isDefined', 'has(a.b)'),
    word('like fnmatch minimatch wildcard', 'glob(text, "release/*"), or any_glob(texts, patterns)'),
    word('total add', 'sum(list)'),
    word('semver version', 'minor(tag), next_minor(tag), next_patch(tag), next_major(tag)'),
  ],
};

const byPlace = new Map(
  Object.entries(HABITS).map(([place, words]) => {
    const table = emptyTable<Word>();
    for (const one of words) for (const name of one.words) table[name] ??= one;
    return [place, table] as const;
  }),
);

/** What to write for a word that people bring from elsewhere; null = it is none that is known. */
export function habitOf(place: HabitPlace, name: string): string | null {
  return byPlace.get(place)?.[name]?.write ?? null;
}

/** Text of an expression as people write it elsewhere. */
export interface TextHabit {
  /** As it is written there. */
  readonly example: string;
  readonly pattern: RegExp;
  readonly write: string | ((match: RegExpExecArray) => string);
}

const listOrText = (path: string, text: string): string =>
  /^(?:event\.)?labels$/.test(path)
    ? `${text} in event.labels`
    : /(?:labels|assignees|reviewers|commits|items)$/.test(path)
      ? `${path}.exists(x, x.${/commits$/.test(path) ? 'message' : /labels$/.test(path) ? 'name' : 'login'} == ${text})`
      : /(?:title|body|message|login|name|branch|tag|ref|text)$/.test(path)
        ? `${path}.contains(${text})`
        : `${path}.exists(x, x.name == ${text}) of a list, ${path}.contains(${text}) of a text`;

const PATH = '[A-Za-z_][\\w.]*';
const QUOTED = '"[^"]*"|\'[^\']*\'';

/** The first that fits is told; the more particular ones stand first. */
export const TEXT_HABITS: readonly TextHabit[] = [
  {
    example: 'github.event.sender.login',
    pattern: /\bgithub\.(?:actor|triggering_actor|event\.sender\.login)\b/,
    write: 'event.actor.login',
  },
  { example: 'github.event_name', pattern: /\bgithub\.event_name\b/, write: 'event.kind' },
  { example: 'github.repository', pattern: /\bgithub\.repository\b/, write: 'repo.full_name' },
  {
    example: 'github.ref',
    pattern: /\bgithub\.(?:ref_name|ref|base_ref)\b/,
    write: 'event.branch or event.tag (event.ref is the whole ref)',
  },
  { example: 'github.head_ref', pattern: /\bgithub\.head_ref\b/, write: 'event.pull_request.head.ref' },
  { example: 'github.sha', pattern: /\bgithub\.sha\b/, write: 'event.sha' },
  {
    example: "contains(github.event.pull_request.title, 'x')",
    pattern: new RegExp(
      `\\b(contains|startsWith|endsWith)\\(\\s*(?:github\\.)?(${PATH})\\s*,\\s*(${QUOTED})\\s*\\)`,
      'i',
    ),
    write: ([, name = '', path = '', text = '']) => {
      const here = path
        .replace(/^(?:event\.)?(?=(?:issue|pull_request|comment|review|release|ref|sha)\b)/, 'event.')
        .replace(/\.\*\.\w+$/, '');
      if (name === 'contains' && /labels$/.test(here)) return listOrText(here, text);
      const method =
        name.toLowerCase() === 'contains' ? 'contains' : name.toLowerCase() === 'endswith' ? 'endsWith' : 'startsWith';
      return `${here}.${method}(${text})`;
    },
  },
  { example: 'github.event.issue.title', pattern: /\bgithub\.(event\.[\w.]+)/, write: ([, path = '']) => path },
  {
    example: 'event.pull_request.labels.contains("bug")',
    pattern: new RegExp(
      `(${PATH}(?:labels|assignees|requested_reviewers|commits))(?:\\.\\*\\.\\w+)?\\.(?:contains|includes|has|indexOf)\\(\\s*(${QUOTED})\\s*\\)`,
    ),
    write: ([, path = '', text = '']) => listOrText(path, text),
  },
  {
    example: '"bug" in event.pull_request.labels',
    pattern: new RegExp(`(${QUOTED})\\s+(?:not\\s+)?in\\s+(${PATH})`),
    write: ([, text = '', path = '']) => listOrText(path, text),
  },
  {
    example: 'event.pull_request.labels.some(l => l.name === "bug")',
    pattern: new RegExp(`(${PATH})\\.(some|any|find|every|filter|map)\\(\\s*\\(?(\\w+)\\)?\\s*=>`),
    write: ([, path = '', name = '', variable = '']) =>
      `${path}.${tableOfLoops[name] ?? 'exists'}(${variable}, …): no arrow, the name and a comma`,
  },
  {
    example: 'event.issue.title.includes("x")',
    pattern: /\.includes\(/,
    write: 'text.contains("x"); of a list: "x" in list',
  },
  { example: 'event.issue.title =~ "x"', pattern: /[=!]~/, write: 'text.matches("pattern")' },
  {
    example: '/^fix/.test(event.issue.title)',
    pattern: /(?:^|[\s(=,&|!])\/(?:[^/\\\n]|\\.)+\/[a-z]*(?:\.test\(|\s*$|\s*[)&|])/,
    write: 'text.matches("pattern"), a text in quotes',
  },
  { example: 'event.branch === "main"', pattern: /===/, write: '==' },
  { example: 'event.branch !== "main"', pattern: /!==/, write: '!=' },
  { example: 'event.branch <> "main"', pattern: /<>/, write: '!=' },
  { example: 'event.branch = "main"', pattern: /[^=!<>]=\s*(?:"|'|true|false|\d)/, write: '== to compare' },
  { example: 'l => l.name', pattern: /=>/, write: 'list.exists(l, l.name == "…"), without an arrow' },
  {
    example: 'event.issue.milestone?.title',
    pattern: new RegExp(`(${PATH})\\?\\.(\\w+)`),
    write: ([, path = '', field = '']) => `has(${path}) && ${path} != null && ${path}.${field} …`,
  },
  {
    example: 'event.tag ?? "none"',
    pattern: new RegExp(`(${PATH})\\s*\\?\\?\\s*(${QUOTED}|[\\w.]+)`),
    write: ([, path = '', other = '']) => `has(${path}) ? ${path} : ${other}`,
  },
  {
    example: 'event.pull_request.labels[].name',
    pattern: /\[(?:\*|)\]/,
    write: 'list.exists(x, x.name == "…"), or list.map(x, x.name)',
  },
  { example: "f'v{event.tag}'", pattern: /(?<!\w)f(?=["'])/, write: '"v" + event.tag' },
  { example: 'has(event)', pattern: /\bhas\(\s*\w*\s*\)/, write: 'has(event.FIELD): it asks whether a field is there' },
  { example: '`v${event.tag}`', pattern: /`/, write: '"v" + event.tag, in quotes' },
  { example: '"v${event.tag}"', pattern: /\$\{(?!\{)/, write: '"v" + event.tag' },
  { example: '“main”', pattern: /[“”„‟‘’‚‛«»]/, write: 'plain quotes: " or \'' },
  {
    example: 'base=main',
    pattern: /^\s*[-\w#]+\s*(?:~=|[=:])\s*[\w/.-]+\s*$/,
    write: 'event.branch == "main": a field, an operator, a text in quotes',
  },
  { example: 'not event.issue.is_locked', pattern: /(?:^|[\s(])not\s+[\w(]/, write: '!' },
  { example: 'a and b', pattern: /[\w)"']\s+and\s+[\w("'!]/, write: '&&' },
  { example: 'a or b', pattern: /[\w)"']\s+or\s+[\w("'!]/, write: '||' },
  { example: 'a is b', pattern: /[\w)]\s+is\s+(?:not\s+)?[\w"']/, write: '==' },
  { example: 'a eq b', pattern: /[\w)]\s+eq\s+[\w"']/, write: '==' },
  { example: 'a & b', pattern: /[^&]&[^&]/, write: '&&' },
  { example: 'a | b', pattern: /[^|]\|[^|]/, write: '||' },
  { example: 'event.commits.size', pattern: /\.size\b(?!\s*\()/, write: '.size()' },
  { example: 'event.issue.labels.length', pattern: /\.length\b/, write: '.size()' },
  { example: 'event.created;', pattern: /;\s*$/, write: 'one expression, without ;' },
];

const tableOfLoops: Readonly<Record<string, string>> = Object.assign(emptyTable<string>(), {
  some: 'exists',
  any: 'exists',
  find: 'filter',
  every: 'all',
  filter: 'filter',
  map: 'map',
});

/** What to write for an expression that is written as elsewhere; null = it is like none that is known. */
export function textHabitOf(source: string): string | null {
  for (const { pattern, write } of TEXT_HABITS) {
    const match = pattern.exec(source);
    if (match) return typeof write === 'string' ? write : write(match);
  }
  return null;
}

/** The same, of what stands around a place. */
export function textHabitAt(source: string, offset: number): string | null {
  for (const { pattern, write } of TEXT_HABITS) {
    for (const match of source.matchAll(new RegExp(pattern, `${pattern.flags.replace('g', '')}g`)))
      if (match.index - 1 <= offset && offset <= match.index + match[0].length + 1)
        return typeof write === 'string' ? write : write(match as RegExpExecArray);
  }
  return null;
}

/** Files of other tools, by a key at their top. */
export const OTHER_TOOLS: ReadonlyArray<{ readonly tool: string; readonly keys: readonly string[] }> = [
  { tool: 'a workflow of Actions', keys: ['jobs', 'runs-on', 'defaults'] },
  {
    tool: 'a configuration of Mergify',
    keys: ['pull_request_rules', 'queue_rules', 'merge_queue', 'commands_restrictions'],
  },
  { tool: 'a configuration of Renovate', keys: ['packageRules', 'enabledManagers'] },
  { tool: 'a configuration of Dependabot', keys: ['updates', 'registries'] },
  {
    tool: 'a configuration of Prow',
    keys: [
      'plugins',
      'approve',
      'lgtm',
      'external_plugins',
      'tide',
      'presubmits',
      'postsubmits',
      'periodics',
      'plank',
      'deck',
    ],
  },
  { tool: 'a configuration of gitlab-triage', keys: ['resource_rules', 'host_url'] },
  { tool: 'a policy of policy-bot', keys: ['approval_rules'] },
  { tool: 'a pipeline', keys: ['stages', 'pipeline', 'steps', 'image', 'services'] },
  {
    tool: 'a configuration of Probot',
    keys: ['daysUntilStale', 'daysUntilClose', 'repository', 'collaborators', 'teams'],
  },
  { tool: 'a compose file', keys: ['services', 'volumes', 'networks'] },
  { tool: 'the operator’s config of this bot', keys: ['forges', 'orgs', 'store'] },
  { tool: 'a manifest of Kubernetes', keys: ['apiVersion', 'kind', 'metadata', 'spec'] },
];

/** The tool whose file has these keys at its top, where none of them is of a rule file; null = none that is known. */
export function otherToolOf(keys: readonly string[]): string | null {
  if (keys.includes('rules') || keys.includes('policies')) return null;
  return OTHER_TOOLS.find((one) => one.keys.some((key) => keys.includes(key)))?.tool ?? null;
}
