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
      summary: 'Shared files this one takes its rules and policies from, in places the operator allows.',
    },
    vars: { value: 'json', summary: 'Constants of this file, as `vars.NAME` in expressions.' },
    rules: { value: { list: 'rule' }, summary: 'When this happens, and this holds, do that.' },
    policies: { value: { list: 'policy' }, summary: 'How every repository is to be, kept so on a schedule.' },
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
    where: { value: { map: 'where' }, summary: 'Filters over the event and its repository; all must let it through.' },
    lookup: {
      value: { named: 'lookup' },
      summary: 'Reads of the forge, by name: the answers are `lookups.NAME`. The only place that reads.',
    },
    if: {
      value: 'conditions',
      summary: 'Conditions in CEL, bare: one, a list, or a map of named ones. All must hold.',
    },
    do: { required: true, value: { steps: true }, summary: 'What to bring about: one step, or a list.' },
    limits: { value: { map: 'limits' }, summary: 'How much it may do; needed with a schedule or `for_each`.' },
    coalesce: { value: { map: 'coalesce' }, summary: 'Events of one key within a window make one run.' },
    canary: { value: 'text', summary: 'The share of repositories in which it writes until it is promoted: 10%.' },
    override: {
      value: 'boolean',
      summary: 'It takes the place of the rule of the same id in a file that this one extends.',
    },
  },
  policy: {
    id: { required: true, value: 'text', summary: 'Name of the policy, one in the whole organization.' },
    mode: { value: 'mode', summary: '`live`, `dry-run` or `shadow`, as for rules.' },
    schedule: { value: 'schedule', summary: 'When it is reconciled; every night when left out.' },
    subjects: {
      required: true,
      value: { map: 'subjects' },
      summary: 'The repositories it is about, or the organization itself.',
    },
    assume_absent: {
      value: 'boolean',
      summary: 'On a forge that cannot list what is there: create what was not created from here before.',
    },
    approval: {
      value: 'required',
      summary:
        '`required`: a person approves its plan before anything is written, whatever woke it. `two-people`: an operator who neither asked for the plan nor wrote the policy approves it.',
    },
    limits: { value: { map: 'policy_limits' }, summary: 'How much one pass may do.' },
    labels: { value: { settings: 'label.ensure' }, summary: 'Labels every subject has.' },
    removed_labels: {
      value: { settings: 'label.remove', short: true },
      summary: 'Names of labels that no subject has, where they were made from here and no issue bears them.',
    },
    milestones: { value: { settings: 'milestone.ensure' }, summary: 'Milestones every subject has.' },
    removed_milestones: {
      value: { settings: 'milestone.remove', short: true },
      summary: 'Titles of milestones that no subject has, where they were made from here and nothing belongs to them.',
    },
    settings: { value: { setting: 'repository_settings.ensure' }, summary: 'How every subject is set.' },
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
      summary: 'Branch protections as they should be: told where they differ, or written with `enforce: true`.',
    },
    lookup: { value: { named: 'lookup' }, summary: 'Reads for `expect` and `fix`, as in rules.' },
    expect: {
      value: 'expectations',
      summary:
        'What should hold, by name: `{that, severity, message}` or the condition alone. What does not is a finding.',
    },
    fix: {
      value: 'fixes',
      summary: 'Steps that mend it. With `for: NAME` when that expectation does not hold, else in every pass.',
    },
    override: {
      value: 'boolean',
      summary: 'It takes the place of the policy of the same id in a file that this one extends.',
    },
  },
  where: {
    repo: { value: 'texts', summary: 'Globs of repositories: `owner/name`, or the name alone. Case does not count.' },
    not_repo: { value: 'texts', summary: 'Globs of repositories that are left out.' },
    branch: {
      value: 'texts',
      summary: 'Globs of branches: of a push, of a pull request’s base. `*` stays within `/`, `**` crosses it.',
    },
    tag: { value: 'texts', summary: 'Globs of tags.' },
    command: {
      value: 'texts',
      summary:
        'Names of commands, the first line of a new comment: `label` for `/label bug`. Nothing is done that its author may not do.',
    },
    actor: {
      value: 'texts',
      summary: 'Globs of logins of who did it; `bot` is the bot itself, whose own acts start nothing otherwise.',
    },
    source: { value: 'sources', summary: 'Where the event was told first: `webhook`, `feed`, `tasks`, `lists`.' },
    archived: { value: 'boolean', summary: 'Archived repositories alone, or none of them.' },
    private: { value: 'boolean', summary: 'Private repositories alone, or none of them.' },
    fork: { value: 'boolean', summary: 'Forks alone, or none of them.' },
    topics: { value: 'texts', summary: 'Globs of topics; one of the repository’s must match.' },
  },
  subjects: {
    repos: { value: 'texts', summary: 'Globs of repositories.' },
    org: { value: 'text', summary: 'The organization itself, once; stands alone.' },
    not_repos: { value: 'texts', summary: 'Globs of repositories that are left out.' },
    private: { value: 'boolean', summary: 'Private repositories alone, or none of them.' },
    archived: { value: 'boolean', summary: 'Archived repositories alone, or none; none when left out.' },
    fork: { value: 'boolean', summary: 'Forks alone, or none of them.' },
    topics: { value: 'texts', summary: 'Globs of topics; one of the repository’s must match.' },
  },
  lookup: {
    use: { required: true, value: 'text', summary: 'Name of the lookup.' },
    with: { value: 'any', summary: 'Its parameters.' },
    on_missing: {
      value: 'on_missing',
      summary: '`fail` (default): what is not there is an error. `none`: it is null.',
    },
    for_each: {
      value: 'expression',
      summary: 'A list in CEL: asked once for each, `item` is the element, the answer a list.',
    },
    max: { value: 'whole', summary: 'At most so many questions of a `for_each`.' },
    cache: { value: 'text', summary: 'An answer of another decision may be so old (`10m`).' },
  },
  step: {
    use: { required: true, value: 'text', summary: 'Name of the action.' },
    with: { value: 'any', summary: 'Its parameters; `${{ }}` in them is an expression.' },
    when: { value: 'expression', summary: 'Do it only when this holds.' },
    unless: { value: 'expression', summary: 'Do it only when this does not hold.' },
    for_each: { value: 'expression', summary: 'A list in CEL: one effect for each, `item` is the element.' },
    key: {
      value: 'text',
      summary: 'What tells one item from another, where the action’s own naming parameter does not.',
    },
    id: { value: 'text', summary: 'Name of the step; the action’s when left out.' },
    approval: {
      value: 'approval',
      summary:
        'A person must say yes before it is done: `owners`, or true for anybody who may. `two-people`: an operator who neither caused it nor wrote the rule.',
    },
  },
  limits: {
    effects_per_run: {
      required: true,
      value: 'whole',
      summary: 'Most effects of one run; more, and nothing is done at all.',
    },
    runs_per_hour: { value: 'whole', summary: 'Most runs in an hour.' },
  },
  policy_limits: {
    effects_per_run: { value: 'whole', summary: 'Most effects in one subject; more, and nothing is done in it.' },
    runs_per_hour: { value: 'whole', summary: 'Most runs in an hour.' },
    effects_per_plan: {
      value: 'whole',
      summary: 'Most effects of one pass or plan; more, and nothing at all is done.',
    },
    percent_of_subjects: {
      value: 'whole',
      summary: 'Largest share of its subjects that one pass or plan may touch; more, and nothing at all is done.',
    },
  },
  schedule: {
    cron: { required: true, value: 'text', summary: 'Minute, hour, day, month, weekday.' },
    tz: { value: 'text', summary: 'Time zone, like Europe/Paris; UTC when left out.' },
    jitter: { value: 'text', summary: 'Spread the start over so long (`20m`).' },
    catch_up: {
      value: 'catch_up',
      summary: 'What was missed: `skip` it, `one` (when left out), `all`, or how many at most; 50 are the most.',
    },
  },
  coalesce: {
    key: { required: true, value: 'text', summary: 'Events whose key is the same make one run.' },
    window: { required: true, value: 'text', summary: 'How long to wait for more (`2m`).' },
  },
};
