/** One key of a rule file: what it is for, and what may stand there (in words of `rule-schema.ts`). */
export interface KeyDefinition {
  readonly summary: string;
  readonly required?: true;
  readonly value: ValueShape;
}

/** What stands under a key. */
export type ValueShape =
  | 'text'
  | 'texts'
  | 'boolean'
  | 'whole'
  | 'expression'
  | 'conditions'
  | 'kinds'
  | 'approval'
  | 'mode'
  | 'sources'
  | 'on_missing'
  | 'json'
  | 'any'
  | 'schedule'
  | 'version'
  | 'required'
  | 'rights'
  | 'expectations'
  | 'protections'
  | 'fixes'
  | 'catch_up'
  | { readonly map: MapName }
  | { readonly list: MapName }
  | { readonly named: 'lookup' }
  | { readonly steps: true }
  | { readonly settings: string; readonly short?: true }
  | { readonly setting: string; readonly plain?: 'list' };

export type MapName =
  | 'file'
  | 'rule'
  | 'policy'
  | 'where'
  | 'subjects'
  | 'lookup'
  | 'step'
  | 'limits'
  | 'policy_limits'
  | 'schedule'
  | 'coalesce';

type Definitions = Readonly<Record<string, KeyDefinition>>;

/** Every key of the language; the compiler's own lists are held against this by a test. */
export const LANGUAGE: Readonly<Record<MapName, Definitions>> = {
  file: {
    version: { required: true, value: 'version', summary: 'Version of the language: 1.' },
    org: { required: true, value: 'text', summary: 'The organization these rules are for.' },
    secrets: { value: 'texts', summary: 'Names of secrets the file uses; their values are in the operator’s config.' },
    extends: {
      value: 'texts',
      summary: 'Shared files whose rules and policies this file includes, in folders that the operator allows.',
    },
    vars: { value: 'json', summary: 'Constants of this file, as `vars.NAME` in expressions.' },
    rules: { value: { list: 'rule' }, summary: '"When this happens, and these conditions hold, do these steps."' },
    policies: { value: { list: 'policy' }, summary: '"Every repository looks like this", reconciled on a schedule.' },
  },
  rule: {
    id: {
      required: true,
      value: 'text',
      summary: 'Name of the rule, one in the whole organization; runs and pauses name it.',
    },
    mode: {
      value: 'mode',
      summary:
        '`live` writes; `dry-run` records what it would write; `shadow` is evaluated beside the others and never writes.',
    },
    on: { value: 'kinds', summary: 'Kinds of event that start it.' },
    schedule: {
      value: 'schedule',
      summary: 'Start it by the clock: five cron fields, UTC unless `tz` says otherwise.',
    },
    where: { value: { map: 'where' }, summary: 'Filters on the event and its repository; all must match.' },
    lookup: {
      value: { named: 'lookup' },
      summary: 'Reads of the forge, by name; the answers are `lookups.NAME`. Only lookups read the forge.',
    },
    if: {
      value: 'conditions',
      summary: 'Conditions in CEL, without `${{ }}`: one, a list, or a map of named conditions. All must hold.',
    },
    do: { required: true, value: { steps: true }, summary: 'One step, or a list.' },
    limits: { value: { map: 'limits' }, summary: 'Limits of its runs; required with a schedule or `for_each`.' },
    coalesce: { value: { map: 'coalesce' }, summary: 'Events of one key within a window make one run.' },
    canary: { value: 'text', summary: 'The share of repositories in which it writes until it is promoted: 10%.' },
    disabled: {
      value: 'text',
      summary: 'Why the rule is switched off. It is still checked, and nothing starts it.',
    },
    rights: {
      value: 'rights',
      summary: '`author`: the author of the issue or pull request may give the command too.',
    },
    override: {
      value: 'boolean',
      summary: 'Replace the rule with the same id in a file that this file extends.',
    },
  },
  policy: {
    id: { required: true, value: 'text', summary: 'Name of the policy, one in the whole organization.' },
    mode: { value: 'mode', summary: '`live`, `dry-run` or `shadow`, as for rules.' },
    schedule: { value: 'schedule', summary: 'When it is reconciled. Default: every night.' },
    subjects: {
      required: true,
      value: { map: 'subjects' },
      summary: 'Its repositories, or the organization itself.',
    },
    respect_undo: {
      value: 'boolean',
      summary: 'Leave deleted what a person deleted after the bot made it. Default: false, the policy makes it again.',
    },
    assume_absent: {
      value: 'boolean',
      summary: 'On a forge that cannot list the objects: create those that the bot has not created before.',
    },
    approval: {
      value: 'required',
      summary:
        '`required`: a person approves its plan before the bot writes anything. `two-people`: an operator who neither asked for the plan nor wrote the policy approves it.',
    },
    limits: { value: { map: 'policy_limits' }, summary: 'Limits of one pass.' },
    labels: { value: { settings: 'label.ensure' }, summary: 'Labels every subject has.' },
    removed_labels: {
      value: { settings: 'label.remove', short: true },
      summary: 'Names of labels that no subject has; the bot removes a label that it made itself and no issue has.',
    },
    milestones: { value: { settings: 'milestone.ensure' }, summary: 'Milestones every subject has.' },
    removed_milestones: {
      value: { settings: 'milestone.remove', short: true },
      summary:
        'Titles of milestones that no subject has; the bot removes a milestone that it made itself and that is empty.',
    },
    settings: { value: { setting: 'repository_settings.ensure' }, summary: 'Settings of every subject.' },
    topics: {
      value: { setting: 'topics.ensure', plain: 'list' },
      summary: 'Topics every subject has: a list, or `{add, remove, set}`.',
    },
    push_mirrors: { value: { settings: 'push_mirror.ensure' }, summary: 'Push mirrors every subject has.' },
    variables: {
      value: { settings: 'org_variable.set' },
      summary: 'Variables of the organization (`subjects: {org: …}`).',
    },
    branches: { value: { settings: 'branch.create' }, summary: 'Branches every subject has.' },
    protections: {
      value: 'protections',
      summary:
        'Branch protections as they should be: the bot reports differences, or writes them with `enforce: true`.',
    },
    lookup: { value: { named: 'lookup' }, summary: 'Reads for `expect` and `fix`, as in rules.' },
    expect: {
      value: 'expectations',
      summary: 'Expectations by name: `{that, severity, message}` or the condition alone. A violation is a finding.',
    },
    fix: {
      value: 'fixes',
      summary: 'Steps that repair it: with `for: NAME` when that expectation fails, else in every pass.',
    },
    override: {
      value: 'boolean',
      summary: 'Replace the policy with the same id in a file that this file extends.',
    },
  },
  where: {
    repo: { value: 'texts', summary: 'Globs of repositories: `owner/name`, or the name alone. Case does not matter.' },
    not_repo: { value: 'texts', summary: 'Globs of repositories to leave out.' },
    branch: {
      value: 'texts',
      summary:
        'Globs of branches: of a push, of a pull request’s base. `*` matches within one part between slashes, `**` across parts.',
    },
    tag: { value: 'texts', summary: 'Globs of tags.' },
    command: {
      value: 'texts',
      summary:
        'Names of commands, the first line of a new comment: `label` for `/label bug`. The command can do only what its author may do.',
    },
    actor: {
      value: 'texts',
      summary:
        'Globs of the logins of the actor; `bot` is the bot itself, whose acts start no other rules; `bot:RULE` its acts for one rule or policy.',
    },
    source: { value: 'sources', summary: 'Source that reported the event first: `webhook`, `feed`, `tasks`, `lists`.' },
    archived: { value: 'boolean', summary: 'Only archived repositories, or none of them.' },
    private: { value: 'boolean', summary: 'Only private repositories, or none of them.' },
    fork: { value: 'boolean', summary: 'Only forks, or none of them.' },
    topics: { value: 'texts', summary: 'Globs of topics; one of the repository’s must match.' },
  },
  subjects: {
    repos: { value: 'texts', summary: 'Globs of repositories.' },
    org: { value: 'text', summary: 'The organization itself, once; cannot be combined with other keys.' },
    not_repos: { value: 'texts', summary: 'Globs of repositories to leave out.' },
    private: { value: 'boolean', summary: 'Only private repositories, or none of them.' },
    archived: { value: 'boolean', summary: 'Only archived repositories, or none. Default: none.' },
    fork: { value: 'boolean', summary: 'Only forks, or none of them.' },
    topics: { value: 'texts', summary: 'Globs of topics; one of the repository’s must match.' },
  },
  lookup: {
    use: { required: true, value: 'text', summary: 'Name of the lookup.' },
    with: { value: 'any', summary: 'Its parameters.' },
    on_missing: {
      value: 'on_missing',
      summary: '`fail` (default): a missing object is an error. `none`: it is null.',
    },
    for_each: {
      value: 'expression',
      summary: 'A list in CEL: one read for each element (`item`); the answer is a list.',
    },
    max: { value: 'whole', summary: 'Maximum number of reads of a `for_each`.' },
    cache: { value: 'text', summary: 'Maximum age of a reused answer of another decision (`10m`).' },
  },
  step: {
    use: { required: true, value: 'text', summary: 'Name of the action.' },
    with: { value: 'any', summary: 'Its parameters; `${{ }}` in them is an expression.' },
    when: { value: 'expression', summary: 'Do it only when this holds.' },
    unless: { value: 'expression', summary: 'Do it only when this does not hold.' },
    for_each: { value: 'expression', summary: 'A list in CEL: one effect for each element (`item`).' },
    key: {
      value: 'text',
      summary:
        'Identifies an item. Default: the naming parameter of the action (of a comment, reaction or status: with the object it is on).',
    },
    first: {
      value: 'whole',
      summary: 'Take only so many items of `for_each`; later runs take the rest. Default: all.',
    },
    id: { value: 'text', summary: 'Name of the step. Default: the name of the action.' },
    approval: {
      value: 'approval',
      summary:
        'A person must approve it first: `owners`, or true for anybody who may. `two-people`: an operator who neither caused it nor wrote the rule.',
    },
  },
  limits: {
    effects_per_run: {
      required: true,
      value: 'whole',
      summary: 'Maximum number of effects of one run; a run with more does nothing.',
    },
    runs_per_hour: { value: 'whole', summary: 'Maximum number of runs in an hour.' },
  },
  policy_limits: {
    effects_per_run: {
      value: 'whole',
      summary: 'Maximum number of effects in one subject; a subject with more is left alone.',
    },
    runs_per_hour: { value: 'whole', summary: 'Maximum number of runs in an hour.' },
    effects_per_plan: {
      value: 'whole',
      summary: 'Maximum number of effects of one pass or plan; a plan with more writes nothing.',
    },
    percent_of_subjects: {
      value: 'whole',
      summary: 'Largest share of its subjects that one pass or plan may change; a plan with more writes nothing.',
    },
  },
  schedule: {
    cron: { required: true, value: 'text', summary: 'Minute, hour, day, month, weekday.' },
    tz: { value: 'text', summary: 'Time zone, such as Europe/Paris. Default: UTC.' },
    jitter: { value: 'text', summary: 'Delay the start by up to this time (`20m`).' },
    catch_up: {
      value: 'catch_up',
      summary: 'Missed occurrences: `skip` them, run `one` (default), `all`, or a number of them; at most 50.',
    },
  },
  coalesce: {
    key: { required: true, value: 'text', summary: 'Events with the same key make one run.' },
    window: { required: true, value: 'text', summary: 'How long to wait for more (`2m`).' },
  },
};
