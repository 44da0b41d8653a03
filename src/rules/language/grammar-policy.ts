import type { SectionLookup } from './compile/program.js';
import { MODE, FLAG, PRIVATE, TOPICS, SEVERITY, EFFECTS, RUNS_PER_HOUR, EFFECTS_WORDS } from './grammar-keys.js';
import { word } from './habits/word.js';
import type { MapShape, Section } from './shapes.js';

/** Settings of each repository, unless `more` says otherwise. */
function section(
  action: string,
  lookup: (Partial<SectionLookup> & Pick<SectionLookup, 'use'>) | null,
  more: Partial<Section> = {},
): { readonly section: Section } {
  return { section: { action, lookup: lookup && { params: {}, ...lookup }, of: 'repository', ...more } };
}

const POLICY = {
  what: 'a policy',
  keys: {
    id: {
      required: true,
      value: 'id',
      summary: 'Name of the policy, one in the whole organization.',
      instead: [word('name title', 'id: NAME')],
    },
    mode: {
      ...MODE,
      summary: '`live`, `dry-run` or `shadow`, as for rules.',
      instead: [...MODE.instead, word('enabled disabled active', 'mode: shadow (it switches the policy off)')],
    },
    schedule: {
      value: { map: 'schedule', short: 'cron' },
      summary: 'When it is reconciled. Default: every night.',
      instead: [word('cron', 'schedule: "0 4 * * *"')],
    },
    subjects: {
      required: true,
      value: { map: 'subjects' },
      summary: 'Its repositories, or the organization itself.',
      instead: [word('where repos repo repositories repository match', 'subjects: {repos: ["*"]}')],
    },
    assume_absent: {
      ...FLAG,
      default: false,
      summary: 'On a forge that cannot list the objects: create those that the bot has not created before.',
    },
    respect_undo: {
      ...FLAG,
      default: false,
      summary: 'Leave deleted what a person deleted after the bot made it. Without it, the policy makes it again.',
    },
    approval: {
      value: { choice: ['required', 'two-people', 'none'] },
      default: 'none',
      summary:
        '`required`: a person approves its plan before the bot writes anything. `two-people`: an operator who neither asked for the plan nor wrote the policy approves it.',
    },
    limits: { value: { map: 'policy_limits' }, summary: 'Limits of one pass.' },
    labels: {
      value: section('label.ensure', { use: 'labels.list' }),
      summary: 'Labels every subject has.',
      instead: [word('label', 'labels: [{name: …, color: "#…"}]')],
    },
    removed_labels: {
      value: section('label.remove', { use: 'labels.list' }, { short: 'name' }),
      summary: 'Names of labels that no subject has; the bot removes a label that it made itself and no issue has.',
    },
    milestones: {
      value: section('milestone.ensure', { use: 'milestones.list', params: { state: 'all' } }),
      summary: 'Milestones every subject has.',
      instead: [word('milestone', 'milestones: [{title: …}]')],
    },
    removed_milestones: {
      value: section('milestone.remove', { use: 'milestones.list', params: { state: 'all' } }, { short: 'title' }),
      summary:
        'Titles of milestones that no subject has; the bot removes a milestone that it made itself and that is empty.',
    },
    push_mirrors: {
      value: section('push_mirror.ensure', { use: 'push_mirrors.list' }),
      summary: 'Push mirrors every subject has.',
      instead: [word('mirrors mirror', 'push_mirrors: [{remote_address: …}]')],
    },
    branches: {
      value: section('branch.create', { use: 'branch.get', each: 'branch' }),
      summary: 'Branches every subject has.',
    },
    settings: {
      value: section('repository_settings.ensure', { use: 'repo.get' }, { single: {} }),
      summary: 'Settings of every subject.',
      instead: [word('repository_settings', 'settings: {…}')],
    },
    topics: {
      value: section('topics.ensure', { use: 'repo.get' }, { single: { list: 'add' } }),
      summary: 'Topics every subject has: a list, or `{add, remove, set}`.',
      instead: [word('topic', 'topics: [NAME]')],
    },
    // No forge tells the value of a variable to everybody: the action compares what it can.
    variables: {
      value: section('org_variable.set', null, { of: 'organization' }),
      summary: 'Variables of the organization (`subjects: {org: …}`).',
      instead: [word('variable vars', 'variables: [{name: …, value: …}]')],
    },
    protections: {
      value: { list: 'protection' },
      summary:
        'Branch protections as they should be: the bot reports differences, or writes them with `enforce: true`.',
      instead: [
        word('branch_protection branch_protections protection protected_branches', 'protections: [{name: main}]'),
      ],
    },
    lookup: {
      value: { named: 'lookup', short: 'use', most: 20 },
      summary: 'Reads for `expect` and `fix`, as in rules.',
    },
    expect: {
      value: { named: 'expectation', short: 'that', most: 50 },
      summary: 'Expectations by name: `{that, severity, message}` or the condition alone. A violation is a finding.',
      instead: [
        word('expectations checks assert', 'expect: {NAME: CONDITION}'),
        word('if when condition conditions', 'expect: {NAME: CONDITION}, or subjects; if belongs to a rule'),
      ],
    },
    fix: {
      value: { steps: 'fix' },
      summary: 'Steps that repair it: with `for: NAME` when that expectation fails, else in every pass.',
      instead: [word('do steps actions', 'fix: [ACTION] (do belongs to a rule)')],
    },
    override: { ...FLAG, summary: 'Replace the policy with the same id in a file that this file extends.' },
  },
  elsewhere: [
    word('on trigger triggers event events', 'nothing: a policy has a schedule; what reacts to an event is a rule'),
    word('description comment note', 'a comment: # …'),
    word('canary', 'nothing: a canary belongs to a rule; plan and approval show what a policy would do'),
    word('coalesce', 'nothing: coalesce belongs to a rule'),
  ],
} as const satisfies MapShape;

const SUBJECTS = {
  what: 'subjects',
  keys: {
    repos: {
      value: 'texts',
      summary: 'Globs of repositories.',
      instead: [word('repo repositories repository', 'repos: [...]')],
    },
    org: {
      value: 'text',
      summary: 'The organization itself, once; cannot be combined with other keys.',
      instead: [word('organization', 'org: NAME')],
    },
    not_repos: {
      value: 'texts',
      summary: 'Globs of repositories to leave out.',
      instead: [word('not_repo', 'not_repos: [...]')],
    },
    private: PRIVATE,
    archived: { ...FLAG, default: false, summary: 'Only archived repositories, or none: they take no writes.' },
    fork: { ...FLAG, summary: 'Only forks, or none of them.' },
    topics: TOPICS,
  },
  elsewhere: [word('branch branches', 'branches or protections of the policy')],
} as const satisfies MapShape;

const POLICY_LIMITS = {
  what: 'limits',
  keys: {
    effects_per_run: {
      value: EFFECTS,
      default: 1000,
      summary: 'Maximum number of effects in one subject; a subject with more is left alone.',
      instead: EFFECTS_WORDS,
    },
    runs_per_hour: RUNS_PER_HOUR,
    effects_per_plan: {
      value: { whole: [1, 100_000] },
      summary: 'Maximum number of effects of one pass or plan; a plan with more writes nothing.',
    },
    percent_of_subjects: {
      value: { whole: [1, 100] },
      summary: 'Largest share of its subjects that one pass or plan may change; a plan with more writes nothing.',
    },
  },
} as const satisfies MapShape;

const EXPECTATION = {
  what: 'the expectation',
  keys: {
    that: { required: true, value: 'expression', summary: 'The condition that should hold.' },
    severity: SEVERITY,
    message: { value: 'text', summary: 'Message of the finding when it does not.' },
  },
} as const satisfies MapShape;

/** Beside these, the fields of a protection as the forge's own type has them. */
const PROTECTION = {
  what: 'a protection',
  keys: {
    // Missing, it is told with the parameters.
    name: { value: 'text', summary: 'Name of the rule of the protection.' },
    severity: SEVERITY,
    enforce: { ...FLAG, default: false, summary: 'Write it where it differs; a difference is no finding then.' },
  },
  isOpen: true,
} as const satisfies MapShape;

/** Maps of a policy. */
export const POLICY_MAPS = {
  policy: POLICY,
  subjects: SUBJECTS,
  policy_limits: POLICY_LIMITS,
  expectation: EXPECTATION,
  protection: PROTECTION,
} as const;
