import { MAX_LIST } from './expressions/meter.js';
import { MODE, FLAG, PRIVATE, TOPICS, EFFECTS, RUNS_PER_HOUR, EFFECTS_WORDS } from './grammar-keys.js';
import { POLICY_MAPS } from './grammar-policy.js';
import { word } from './habits/word.js';
import type { KeyShape, MapName, MapShape, SectionName } from './shapes.js';

const STEP = {
  use: {
    required: true,
    value: 'text',
    summary: 'Name of the action.',
    instead: [word('uses action run', 'use: ACTION')],
  },
  with: {
    value: 'params',
    summary: 'Its parameters; `${{ }}` in them is an expression.',
    instead: [word('args params parameters inputs', 'with: {…}')],
  },
  when: {
    value: 'expression',
    summary: 'Do it only when this holds.',
    instead: [word('if condition', 'when: CONDITION')],
  },
  unless: { value: 'expression', summary: 'Do it only when this does not hold.' },
  for_each: {
    value: 'expression',
    summary: 'A list in CEL: one effect for each element (`item`).',
    instead: [word('foreach forEach for-each for loop matrix each items with_items', 'for_each: LIST')],
  },
  key: {
    value: 'text',
    summary:
      'Identifies an item. Default: the naming parameter of the action (of a comment, reaction or status: with the object it is on).',
  },
  first: {
    value: { whole: [1, MAX_LIST] },
    summary: 'Take only so many items of `for_each`; later runs take the rest. Default: all.',
  },
  id: {
    value: 'id',
    summary: 'Name of the step. Default: the name of the action.',
    instead: [word('name', 'id: NAME')],
  },
  approval: {
    value: 'approval',
    summary:
      'A person must approve it first: `owners`, or true for anybody who may. `two-people`: an operator who neither caused it nor wrote the rule.',
    instead: [word('approve requires_approval', 'approval: owners')],
  },
} as const satisfies Readonly<Record<string, KeyShape>>;

const ELSEWHERE_IN_STEPS = [
  word('needs depends_on', 'nothing: steps run in the order of the list'),
  word('continue-on-error continue_on_error ignore_errors', 'nothing: a step that is refused does not stop the others'),
  word('timeout timeout-minutes retry retries', 'nothing: the bot retries by itself'),
  word('env shell working-directory', 'nothing: a step is an action, no command'),
];

const FILE = {
  version: {
    required: true,
    value: 'version',
    summary: 'Version of the language: 1.',
    instead: [word('apiVersion schema', 'version: 1')],
  },
  org: {
    required: true,
    value: 'text',
    summary: 'The organization these rules are for.',
    instead: [word('organization organisation owner', 'org: NAME')],
  },
  secrets: {
    value: 'texts',
    summary: 'Names of secrets the file uses; their values are in the operator’s config.',
    instead: [word('secret', 'secrets: [NAME]')],
  },
  extends: {
    value: 'texts',
    summary:
      'Shared files whose rules and policies this file includes: built-in sets, such as `forgehand/stale@1`, and files in folders that the operator allows.',
    instead: [word('include includes import imports uses', 'extends: FILE')],
  },
  vars: {
    value: 'json',
    summary: 'Constants of this file, as `vars.NAME` in expressions.',
    instead: [word('variables env constants', 'vars: {NAME: value}')],
  },
  rules: {
    value: { list: 'rule' },
    summary: '"When this happens, and these conditions hold, do these steps."',
    instead: [word('rule', 'rules: [...], a list')],
  },
  policies: {
    value: { list: 'policy' },
    summary: '"Every repository looks like this", reconciled on a schedule.',
    instead: [word('policy', 'policies: [...], a list')],
  },
} as const satisfies Readonly<Record<string, KeyShape>>;

const ELSEWHERE_IN_FILES = [
  word('on when trigger triggers', 'it in a rule: rules: [{id: NAME, on: KIND, do: …}]'),
  word('labels milestones', 'it in a policy: policies: [{id: NAME, subjects: {repos: ["*"]}, labels: […]}]'),
];

/** The shape of rule files, said once: the readers, the JSON Schema, the reference pages and the hints come from it. */
export const GRAMMAR = {
  ...POLICY_MAPS,
  file: { what: 'the file', keys: FILE, elsewhere: ELSEWHERE_IN_FILES },
  /** The organization is that of the file that extends it. */
  shared_file: {
    what: 'the shared file',
    keys: { ...FILE, org: { value: 'text', summary: FILE.org.summary } },
    elsewhere: ELSEWHERE_IN_FILES,
  },
  rule: {
    what: 'a rule',
    keys: {
      id: {
        required: true,
        value: 'id',
        summary: 'Name of the rule, one in the whole organization; runs and pauses name it.',
        instead: [word('name title', 'id: NAME')],
      },
      mode: {
        ...MODE,
        summary:
          '`live` writes; `dry-run` records what it would write; `shadow` is evaluated beside the others and never writes.',
      },
      on: {
        value: 'kinds',
        summary: 'Kinds of event that start it.',
        instead: [word('trigger triggers event events kind kinds type types listen', 'on: [KIND]')],
      },
      schedule: {
        value: { map: 'schedule', short: 'cron' },
        summary: 'Start it by the clock: five cron fields, UTC unless `tz` says otherwise.',
        instead: [word('cron schedules every', 'schedule: "0 4 * * *"')],
      },
      where: {
        value: { map: 'where' },
        summary: 'Filters on the event and its repository; all must match.',
        instead: [
          word(
            'repo repos repositories repository branch branches tag tags actor match only scope',
            'where: {repo: [...], branch: [...]}',
          ),
          word('subjects', 'where: {repo: [...]} (subjects belongs to a policy)'),
        ],
      },
      lookup: {
        value: { named: 'lookup', short: 'use', most: 20 },
        summary: 'Reads of the forge, by name; the answers are `lookups.NAME`. Only lookups read the forge.',
        instead: [word('lookups reads read fetch', 'lookup: {NAME: {use: LOOKUP}}')],
      },
      if: {
        value: 'conditions',
        summary: 'Conditions in CEL, without `${{ }}`: one, a list, or a map of named conditions. All must hold.',
        instead: [
          word('when condition conditions cond filter filters', 'if: CONDITION (when belongs to a step of do)'),
          word('unless', 'if: "!(CONDITION)" (unless belongs to a step of do)'),
        ],
      },
      do: {
        required: true,
        value: { steps: 'step' },
        summary: 'One step, or a list.',
        instead: [word('steps actions action jobs then effects effect run tasks', 'do: [ACTION]')],
      },
      limits: {
        value: { map: 'limits' },
        summary: 'Limits of its runs; required with a schedule or `for_each`.',
        instead: [word('limit rate rate_limit max', 'limits: {effects_per_run: 20}')],
      },
      coalesce: {
        value: { map: 'coalesce' },
        summary: 'Events of one key within a window make one run.',
        instead: [word('debounce throttle concurrency', 'coalesce: {key: "${{ … }}", window: 2m}')],
      },
      rights: {
        value: { choice: ['author'], empty: 'author' },
        summary: '`author`: the author of the issue or pull request may give the command too.',
      },
      disabled: {
        value: 'reason',
        summary: 'Why the rule is switched off. It is still checked, and nothing starts it.',
        instead: [word('enabled active enable disable off skip', 'disabled: "why" (it switches the rule off)')],
      },
      override: { ...FLAG, summary: 'Replace the rule with the same id in a file that this file extends.' },
      canary: { value: 'canary', summary: 'The share of repositories in which it writes until it is promoted: 10%.' },
    },
    elsewhere: [
      word('description comment comments note summary', 'a comment: # …'),
      word('for_each foreach with use approval', 'it in a step of do'),
      word('vars variables env', 'vars at the top of the file'),
      word('secrets', 'secrets at the top of the file'),
      word('needs permissions runs-on runs_on timeout-minutes strategy', 'nothing: rules do not depend on each other'),
      word('expect fix labels milestones settings', 'it in a policy'),
    ],
  },
  where: {
    what: 'where',
    keys: {
      repo: {
        value: 'texts',
        summary: 'Globs of repositories: `owner/name`, or the name alone. Case does not matter.',
        instead: [word('repos repositories repository', 'repo: [...]')],
      },
      not_repo: { value: 'texts', summary: 'Globs of repositories to leave out.' },
      branch: {
        value: 'texts',
        summary:
          'Globs of branches: of a push, of a pull request’s base. `*` matches within one part between slashes, `**` across parts.',
        instead: [word('branches ref refs', 'branch: [...]')],
      },
      tag: { value: 'texts', summary: 'Globs of tags.', instead: [word('tags', 'tag: [...]')] },
      actor: {
        value: 'texts',
        summary:
          'Globs of the logins of the actor; `bot` is the bot itself, whose acts start no other rules; `bot:RULE` its acts for one rule or policy.',
        instead: [word('user users author sender login actors', 'actor: [...]')],
      },
      command: {
        value: 'texts',
        summary:
          'Names of commands, the first line of a new comment: `label` for `/label bug`. The command can do only what its author may do.',
        instead: [word('commands', 'command: [...]')],
      },
      source: {
        value: { choices: ['webhook', 'feed', 'tasks', 'lists'] },
        summary: 'Source that reported the event first: `webhook`, `feed`, `tasks`, `lists`.',
      },
      archived: { ...FLAG, summary: 'Only archived repositories, or none of them.' },
      private: PRIVATE,
      fork: { ...FLAG, summary: 'Only forks, or none of them.' },
      topics: TOPICS,
    },
    elsewhere: [
      word('branches-ignore branches_ignore tags-ignore', 'if: "!glob(event.branch, PATTERN)"'),
      word('paths path files paths-ignore', 'if: any_glob(event.files.modified, ["src/**"])'),
      word('label labels', `if: '"bug" in event.labels'`),
      word('event kind kinds action types', 'on: [KIND]'),
      word('not_branch not_branches', 'if: "!glob(event.branch, PATTERN)"'),
      word('not_tag not_tags', 'if: "!glob(event.tag, PATTERN)"'),
      word('not_actor not_user not_author', 'if: event.actor.login != "LOGIN"'),
      word('org organization', 'nothing: the file says whose rules it holds'),
      word('if when', 'if beside where, not in it'),
    ],
  },
  lookup: {
    what: 'the lookup',
    keys: {
      use: {
        required: true,
        value: 'text',
        summary: 'Name of the lookup.',
        instead: [word('uses lookup read', 'use: LOOKUP')],
      },
      with: {
        value: 'params',
        summary: 'Its parameters.',
        instead: [word('args params parameters inputs', 'with: {…}')],
      },
      on_missing: {
        value: { choice: ['none', 'fail'], empty: 'none' },
        default: 'fail',
        summary: '`fail`: a missing object is an error. `none`: it is null.',
        instead: [word('default optional required missing', 'on_missing: none')],
      },
      for_each: {
        value: 'expression',
        summary: 'A list in CEL: one read for each element (`item`); the answer is a list.',
        instead: [word('foreach forEach for loop', 'for_each: LIST')],
      },
      max: {
        value: { whole: [1, 1000] },
        summary:
          'Maximum number of reads of a `for_each`, 100 at most; else of elements of the answer: more is an error.',
      },
      first: {
        value: { whole: [1, 1000] },
        summary: 'Read so many elements of a list, and leave the rest.',
        instead: [word('limit top take', 'first: 50, so many and no more; max: 50, more is an error')],
      },
      cache: {
        value: { duration: { least: 1, example: '10m' } },
        summary: 'Maximum age of a reused answer of another decision (`10m`).',
        instead: [word('ttl max_age cache_age', 'cache: 10m')],
      },
    },
    elsewhere: [word('if when', 'nothing: a lookup is read when a condition or step needs it')],
  },
  step: { what: 'the step', keys: STEP, elsewhere: ELSEWHERE_IN_STEPS },
  fix: {
    what: 'the step',
    keys: { for: { value: 'texts', summary: 'Expectations after whose failure it is wanted.' }, ...STEP },
    elsewhere: ELSEWHERE_IN_STEPS,
  },
  limits: {
    what: 'limits',
    keys: {
      effects_per_run: {
        required: true,
        value: EFFECTS,
        summary: 'Maximum number of effects of one run; a run with more does nothing.',
        instead: EFFECTS_WORDS,
      },
      runs_per_hour: RUNS_PER_HOUR,
    },
  },
  schedule: {
    what: 'schedule',
    keys: {
      cron: {
        required: true,
        value: 'text',
        summary: 'Minute, hour, day, month, weekday.',
        instead: [word('at every interval expression', 'cron: "0 4 * * *"')],
      },
      tz: {
        value: 'text',
        default: 'UTC',
        summary: 'Time zone, such as Europe/Paris.',
        instead: [word('timezone time_zone zone', 'tz: Europe/Paris')],
      },
      jitter: {
        value: { duration: { least: 0, example: '20m' } },
        default: 0,
        summary: 'Delay the start by up to this time (`20m`).',
        instead: [word('random delay splay', 'jitter: 20m')],
      },
      catch_up: {
        value: 'catch_up',
        default: 'one',
        summary: 'Missed occurrences: `skip` them, run `one`, `all`, or a number of them; at most 50.',
        instead: [word('catchup missed', 'catch_up: 1')],
      },
    },
  },
  coalesce: {
    what: 'coalesce',
    keys: {
      key: { required: true, value: 'text', summary: 'Events with the same key make one run.' },
      window: {
        required: true,
        value: { duration: { least: 1, example: '2m' } },
        summary: 'How long to wait for more (`2m`).',
      },
    },
  },
} as const satisfies Readonly<Record<MapName, MapShape>>;

/** The same, for those who ask for any map or key. */
export const MAPS: Readonly<Record<MapName, MapShape>> = GRAMMAR;

/** What a key is for, as people read it, with its default. */
export function summaryOf({ summary, default: otherwise }: KeyShape): string {
  return otherwise === undefined ? summary : `${summary} Default: \`${otherwise}\`.`;
}

/** Sections of a policy, in the order in which their effects are wanted. */
export const SECTIONS = Object.entries(MAPS.policy.keys).flatMap(([section, { value }]) =>
  typeof value === 'object' && 'section' in value ? [{ section: section as SectionName, ...value.section }] : [],
);
