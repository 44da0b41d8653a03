import { ACT_FIELDS, ACT_READS, showsAuthor, type ActRead } from '../../src/core/act-fields.js';
import type { EventKind } from '../../src/core/event-kinds.js';
import { actions } from '../../src/actions/index.js';
import { actionCatalogue } from '../../src/actions/index.js';
import { lookupCatalogue } from '../../src/actions/lookups/index.js';
import { describeType } from '../../src/core/data-types.js';
import type { DataField, DataType } from '../../src/core/data-types.js';
import type { StartKind } from '../../src/core/event-kinds.js';
import { COMMON_FIELDS, START_TYPES } from '../../src/core/event-types.js';
import type { EventKindType } from '../../src/core/event-types.js';
import { stringifyJson } from '../../src/core/json.js';
import { NAMED_OBJECTS, ruleType } from '../../src/core/objects/rule-types.js';
import { actorRights, describeRight } from '../../src/core/rights.js';
import { OWN_VARIABLES } from '../../src/rules/language/compile/variable-types.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { ruleFunctions } from '../../src/rules/language/functions/index.js';
import { HABITS } from '../../src/rules/language/habits/habits.js';
import { OTHER_TOOLS } from '../../src/rules/language/habits/other-tools.js';
import { TEXT_HABITS, textHabitOf } from '../../src/rules/language/habits/text-habits.js';
import type { HabitPlace } from '../../src/rules/language/habits/habits.js';
import type { Word } from '../../src/rules/language/habits/word.js';
import { builtInSets } from '../../src/rules/sources/built-in-sets.js';
import { MAPS, summaryOf } from '../../src/rules/language/grammar.js';
import type { MapName } from '../../src/rules/language/shapes.js';
import { parseSet } from './parse-set.js';

/** Every object, by its name. */
const API_OBJECTS = [actorRights, ...NAMED_OBJECTS.map(([schema]) => ruleType(schema))].sort((a, b) =>
  a.name < b.name ? -1 : 1,
);

/** Fields that only some kinds have, without the common ones. */
function ownFieldsOf(kind: StartKind): ReadonlyArray<readonly [string, DataField]> {
  const fields = START_TYPES.get(kind)?.type.fields ?? {};
  return Object.entries(fields).filter(([name]) => !Object.hasOwn(COMMON_FIELDS.fields, name));
}

/** The reference pages for authors of rules, made from the definitions; by file name below `docs/`. */
export function ruleDocs(): ReadonlyMap<string, string> {
  return new Map([
    ['events.md', eventsPage()],
    ['actions.md', actionsPage()],
    ['lookups.md', lookupsPage()],
    ['functions.md', functionsPage()],
    ['conditions.md', conditionsPage()],
    ['habits.md', habitsPage()],
    ['proofs.md', proofsPage()],
    ['sets.md', setsPage()],
  ]);
}

/** For each kind of event, what the forge confirms; kinds with equal rows share one. */
function proofsPage(): string {
  const kindsOf = new Map<string, string[]>();
  for (const [kind, fields] of Object.entries(ACT_FIELDS)) {
    const reads = new Map<ActRead, string[]>();
    for (const [field, read] of Object.entries(fields))
      if (!EVERYWHERE.has(field)) reads.set(read, [...(reads.get(read) ?? []), field]);
    const text = [...reads].map(([read, names]) => `${list(names)}: ${ACT_READS[read]}`).join('; ');
    kindsOf.set(text, [...(kindsOf.get(text) ?? []), kind]);
  }
  return page(
    'What the forge confirms of a delivery',
    'A rule that depends on who acted ([What a delivery proves](connecting.md#what-a-delivery-proves)) decides by what these reads show, not by what the delivery says. Such a rule may not read any other field: `forgehand check` names it with its place. Of an object, everything below it is confirmed: `issue` is also `issue.title`.',
    `Of every kind here: \`actor\`, \`fact_at\` by the read that shows the act, \`repo\` by the repository, \`kind\` and \`action\` by the kind itself.`,
    table(
      ['events', 'fields and the read that confirms them'],
      [...kindsOf].map(([text, kinds]) => [list(kinds), text || 'no other field']),
    ),
    'Of an edit, the timeline shows who changed the title or the target branch. It does not show who changed the text: the bot refuses such an act (`act.unreadable`). `issue.body` and `pull_request.body` are always the newest text, whoever wrote it.',
    `No read shows who did it, so the bot refuses rules about people on all other kinds, and on ${list(Object.keys(ACT_FIELDS).filter((kind) => !showsAuthor(kind as EventKind)))} unless the bot itself did it.`,
  );
}

const EVERYWHERE: ReadonlySet<string> = new Set([
  ...['id', 'kind', 'source', 'org', 'stored_at', 'action', 'actor', 'fact_at', 'repo', 'derived.not_known'],
]);

const NOTE = '<!-- Written by `npm run docs -- rules` from the definitions in src/. Do not edit. -->';
const list = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(', ');
const cell = (text: string): string => text.replaceAll('|', '\\|');

function page(title: string, ...parts: string[]): string {
  return `${[`# ${title}`, NOTE, ...parts].join('\n\n')}\n`;
}

function table(head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function typeText(type: DataType): string {
  const name = type.kind === 'list' ? type.of : type;
  const isLinked = name.kind === 'object' && API_OBJECTS.includes(name);
  return isLinked
    ? describeType(type).replace(name.name, `[${name.name}](#${name.name.toLowerCase()})`)
    : describeType(type);
}

function fieldRows(fields: ReadonlyArray<readonly [string, DataField]>, prefix = ''): string[][] {
  return fields.flatMap(([name, { type, optional, summary = '' }]) => [
    [`\`${prefix}${name}\``, typeText(type), optional ? 'perhaps' : 'yes', summary],
    ...(type.kind === 'object' && !API_OBJECTS.includes(type)
      ? fieldRows(Object.entries(type.fields), `${prefix}${name}.`)
      : []),
  ]);
}

function eventsPage(): string {
  const groups = new Map<string, Array<[string, EventKindType]>>();
  for (const [kind, type] of START_TYPES) {
    const key = ownFieldsOf(kind)
      .map(([name, field]) => `${name}:${describeType(field.type)}:${field.optional}`)
      .join();
    groups.set(key, [...(groups.get(key) ?? []), [kind, type]]);
  }
  const kinds = table(
    ['kind', 'what happened', 'deliveries (event type)', 'feed (`op_type`)', 'tasks (state)', 'lists'],
    [...START_TYPES].map(([kind, { summary, webhook, feed, tasks, lists }]) => [
      `\`${kind}\``,
      summary,
      list(webhook),
      list(feed),
      list(tasks),
      list(lists),
    ]),
  );
  const sections = [...groups.values()].map((members) => {
    const [first] = members;
    const fields = first ? ownFieldsOf(first[0] as never) : [];
    const heading = `### ${members.map(([kind]) => kind).join(', ')}`;
    return fields.length === 0
      ? `${heading}\n\nNothing beside the fields of every event.`
      : `${heading}\n\n${table(['field', 'type', 'always', 'what'], fieldRows(fields))}`;
  });
  const objects = API_OBJECTS.map(({ name, summary = '', fields }) => {
    const rows = Object.entries(fields).map(([field, { type }]) => [`\`${field}\``, typeText(type)]);
    return `### ${name}\n\n${summary}\n\n${table(['field', 'type'], rows)}`;
  });
  return page(
    'Events',
    'An event is one fact, whichever source reports it: a webhook delivery, a row of the organization’s feed, a row of a task list, or a change seen in a list of issues or releases. `on` names kinds; expressions see it as `event`.',
    'Some servers or sources leave out a field marked "perhaps": ask with `has(event.x)`. A field that the first source leaves out is [not known](rules.md#what-an-event-does-not-know): the bot reads it or waits for the delivery. Ids are texts of digits, whole numbers are numbers, times are times (`age(event.fact_at) > duration("36h")`).',
    '## Kinds',
    kinds,
    '## Fields of every event',
    table(['field', 'type', 'always', 'what'], fieldRows(Object.entries(COMMON_FIELDS.fields))),
    '## Fields of each kind',
    ...sections,
    '## Objects',
    'The forge’s own objects, in events and in answers of lookups. Any field may be missing or null.',
    ...objects,
  );
}

interface ParamFacts {
  readonly type: string;
  readonly required: boolean;
  readonly summary: string;
  readonly secret?: boolean;
  readonly sealed?: boolean;
  readonly markdown?: boolean;
  readonly line?: boolean;
  readonly title?: boolean;
  readonly chat?: boolean;
}

function paramRows(params: Readonly<Record<string, ParamFacts>>): string[][] {
  return Object.entries(params).map(
    ([name, { type, required, summary, secret, sealed, markdown, line, title, chat }]) => [
      `\`${name}\``,
      {
        string: markdown
          ? 'Markdown'
          : title
            ? 'title'
            : line
              ? 'one line of text'
              : chat
                ? 'text of a message'
                : 'text',
        integer: 'whole number',
        boolean: 'true or false',
        time: 'time or day',
        strings: 'list of texts',
        any: 'any value',
      }[type] ?? type,
      required ? 'yes' : '',
      [summary, secret ? 'a secret' : '', sealed ? 'kept encrypted' : ''].filter((text) => text !== '').join('; '),
    ],
  );
}

function actionsPage(): string {
  const sections = [...actionCatalogue().values()].map(
    ({ name, summary, params, target, power, operations, requires = [], sends, naturalKey, raises = [], right }) => {
      const offered = operations.filter((operation) => !requires.includes(operation));
      const facts = [
        `Target: ${target}. Natural key: \`${naturalKey}\`.`,
        sends
          ? 'Uses no operation of the forge.'
          : `Operations: ${list(requires)}${offered.length > 0 ? `; where the forge has them: ${list(offered)}` : ''}.`,
        power ? `Needs the power \`${power}\` in the operator’s config.` : '',
        right ? `In a command, the author needs ${describeRight(right)}.` : 'Not available in commands.',
        raises.length > 0 ? `Causes events: ${list(raises)}.` : 'Causes no event.',
      ].filter((fact) => fact !== '');
      const example = stringifyJson(actions.get(name)?.example ?? {});
      return `## ${name}\n\n${summary}.\n\n${facts.join(' ')}\n\n${table(['parameter', 'type', 'required', 'what'], paramRows(params))}\n\nExample: \`${name}: ${example}\``;
    },
  );
  return page(
    'Actions',
    'What a step of a rule can do. Each action reads first and writes only differences.',
    'The forge renders values of type Markdown and of type one line of text; other services show the text of a message. The bot escapes texts of events and lookups in them ([rules.md](rules.md#text-of-others)).',
    ...sections,
  );
}

function lookupsPage(): string {
  const sections = [...lookupCatalogue().values()].map(({ name, summary, params, operations, target, answer }) => {
    const rows = paramRows(params);
    const of = answer && answer.kind === 'list' ? answer.of : answer;
    const isLinked = of?.kind === 'object' && API_OBJECTS.includes(of);
    const answered = answer
      ? isLinked
        ? describeType(answer).replace(of.name, `[${of.name}](events.md#${of.name.toLowerCase()})`)
        : describeType(answer)
      : 'any value';
    return `## ${name}\n\n${summary}. Target: ${target ?? 'repository'}. Operations: ${list(operations)}.\n\nAnswer: ${answered}\n\n${rows.length > 0 ? table(['parameter', 'type', 'required', 'what'], rows) : 'No parameters.'}`;
  });
  return page(
    'Lookups',
    'The named reads of a rule: `lookup: {NAME: {use: …, with: {…}}}`, then `lookups.NAME` in expressions.',
    ...sections,
  );
}

function functionsPage(): string {
  const own = ruleFunctions.map(({ name, summary, params, result, example: [expression, value] }) => [
    `\`${name}(${params.map((param) => `${param.name}: ${param.type}`).join(', ')}) -> ${result}\``,
    summary,
    `\`${expression}\` is \`${value}\``,
  ]);
  const cel = new CelEngine()
    .signatures()
    .filter((signature) => !ruleFunctions.some(({ name }) => signature.startsWith(`${name}(`)));
  return page(
    'Functions',
    'Pure: equal arguments (and `now`) give equal results.',
    '## Of the language',
    table(['function', 'what', 'example'], own),
    '## Of CEL',
    'Over lists and maps: `all`, `exists`, `exists_one`, `filter`, `map`; `has(a.b)` says whether a field is present. `matches` takes RE2 patterns, which take linear time.',
    cel.map((signature) => `- \`${signature}\``).join('\n'),
  );
}

const HABIT_TITLES: Readonly<Record<HabitPlace, string>> = {
  kind: 'Events, under `on`',
  action: 'Actions',
  param: 'Parameters',
  'lookup name': 'Lookups',
  variable: 'Variables of expressions',
  field: 'Fields of an event and of the objects in it',
  function: 'Functions of expressions',
  protection: 'Settings of a protection',
};

/** From the tables that the check itself looks into. */
function habitsPage(): string {
  const words = (title: string, all: readonly Word[]): string =>
    `## ${title}\n\n${table(
      ['elsewhere', 'here'],
      all.map(({ words: these, write }) => [list(these), write]),
    )}`;
  const places = (Object.keys(HABIT_TITLES) as HabitPlace[]).map((place) => words(HABIT_TITLES[place], HABITS[place]));
  const keys = (Object.keys(TITLES) as Array<keyof typeof TITLES>).flatMap((name) => {
    const own = [
      ...Object.values(MAPS[name].keys).flatMap(({ instead = [] }) => instead),
      ...(MAPS[name].elsewhere ?? []),
    ];
    return own.length === 0 ? [] : [words(`Keys: ${TITLES[name]}`, own)];
  });
  const texts = TEXT_HABITS.map(({ example }) => [`\`${example}\``, textHabitOf(example) ?? '']);
  return page(
    'What you write elsewhere, and here',
    'People know GitHub Actions, JavaScript, Mergify, Prow and the names of webhooks. `forgehand check` says what to write here instead.',
    `## Expressions\n\n${table(['elsewhere', 'here'], texts)}`,
    ...places,
    ...keys,
    '## Files of other tools',
    `The check recognizes ${OTHER_TOOLS.map(({ tool }) => tool).join(', ')}, and says so once.`,
  );
}

/** Of the maps that stand in a rule file as themselves. */
const TITLES: Readonly<Record<Exclude<MapName, 'shared_file' | 'fix'>, string>> = {
  file: 'A file',
  rule: 'A rule',
  where: '`where`: filters',
  lookup: 'An entry of `lookup`',
  step: 'A step of `do`',
  limits: '`limits`',
  policy_limits: '`limits` of a policy',
  schedule: '`schedule`',
  coalesce: '`coalesce`',
  policy: 'A policy',
  subjects: '`subjects` of a policy',
  expectation: 'An entry of `expect`',
  protection: 'An entry of `protections`, beside the fields of a protection',
};

function conditionsPage(): string {
  const keys = (Object.keys(TITLES) as Array<keyof typeof TITLES>).map(
    (map) =>
      `## ${TITLES[map]}\n\n${table(
        ['key', 'required', 'what'],
        Object.entries(MAPS[map].keys).map(([key, shape]) => [
          `\`${key}\``,
          shape.required ? 'yes' : '',
          summaryOf(shape),
        ]),
      )}`,
  );
  const variables = Object.entries(OWN_VARIABLES).flatMap(([name, type]): string[][] =>
    (type as DataType).kind === 'object'
      ? fieldRows(Object.entries((type as { fields: Record<string, DataField> }).fields), `${name}.`)
      : [[`\`${name}\``, describeType(type), 'yes', 'the time of the decision']],
  );
  return page(
    'Filters, conditions and keys',
    'Every key of a rule file, and what expressions can see.',
    ...keys,
    '## Variables of expressions',
    '`event` (see [events](events.md)), `repo` ([EventRepository](events.md#eventrepository)), `vars` (the file’s constants), `lookups` (answers by name), `item` (in `for_each`), and:',
    table(['variable', 'type', 'always', 'what'], variables),
  );
}

/** From the files of the sets: their heads, and the comments above their constants. */
function setsPage(): string {
  const sections = [...builtInSets()].map(([name, text]) => {
    const { about, constants, below, ids } = parseSet(text);
    const more =
      below === null ? '' : ` It has the constants and rules of [${below}](#${below.replaceAll(/[/@]/g, '')}) too.`;
    const rows = constants.map((one) => [`\`${one.name}\``, `\`${one.value}\``, one.meaning]);
    return `## ${name}\n\n${about}\n\n${table(['constant', 'default', 'what'], rows)}\n\nRules: ${list(ids)}.${more}`;
  });
  return page(
    'Built-in rule sets',
    'A file that extends a set has its rules. The constants (`vars`) that the file writes stand in place of the defaults:',
    '```yaml\nversion: 1\norg: acme\nextends: [forgehand/stale@1, forgehand/welcome@1]\nvars: {stale_days: 30}\n```',
    'The sets are part of the program ([their text and their tests](../config/rules/sets)): nothing is downloaded, and `forgehand check` knows them offline. A set never changes under its number: a new meaning is `@2`. The revision names the hash of each set that it extends, and keeps its text. Messages, `explain` and the Console name a place in a set like one in a file: `forgehand/stale@1:24:5`.',
    'To change more than constants, write a rule of the same id with `override: true`. Sets in one `extends` share the constants of one name, such as `repos`: for other repositories, extend the other set in another file.',
    'A set needs no power and merges nothing. The operator can refuse all of them: `orgs[].rules.built_in_sets: false`.',
    ...sections,
  );
}
