import { configJsonSchema } from '../../src/config/config-schema.js';
import { GROUPS } from '../../src/api/operations/index.js';
import { schemaOf } from '../../src/api/operations/openapi.js';
import type { Group } from '../../src/api/operations/operation.js';
import { Metrics } from '../../src/observability/metrics.js';

/** What of JSON Schema the config's schema uses. */
interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly additionalProperties?: Schema | false;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** One key an operator may write. */
export interface ConfigKey {
  readonly path: string;
  readonly type: string;
  /** `required` (perhaps with words for when), the value that holds when it is left out, or the empty text. */
  readonly otherwise: string;
  readonly says: string;
}

const NOTE = '<!-- Written by `npm run docs -- operator` from the definitions in src/. Do not edit. -->';

/** The reference pages for operators, made from the definitions; by file name below `docs/`. */
export function operatorDocs(): ReadonlyMap<string, string> {
  return new Map([
    ['config.md', configPage()],
    ['control-api.md', controlPage()],
    ['metrics.md', metricsPage()],
  ]);
}

/** Every key of the operator's file, in the schema's order. */
export function configKeys(): ConfigKey[] {
  return keysOf(configJsonSchema() as Schema, '').filter(
    ({ path }) => !path.startsWith('defaults.') || path === 'defaults.orgs',
  );
}

/** @param when words for the case in which a required key is required */
function keysOf(schema: Schema, prefix: string, when = ''): ConfigKey[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, of]) => {
    const path = `${prefix}${name}`;
    const isRequired = schema.required?.includes(name) === true;
    const list = of.type === 'array' ? of.items : undefined;
    const isGiven = isRequired || list !== undefined || of.default !== undefined;
    const kinds = (of.oneOf ?? []).flatMap((kind) =>
      keysOf(kind, `${path}.`, ` with type ${String(kind.properties?.type?.const)}`),
    );
    const inner = [
      ...merged(kinds, isGiven ? '' : ` with ${path}`),
      ...keysOf(list ?? of, `${path}${list ? '[]' : ''}.`, isGiven ? '' : ` with ${path}`),
    ];
    if (inner.length > 0) return inner;
    const otherwise = isRequired ? `required${when}` : of.default === undefined ? '' : JSON.stringify(of.default);
    return [{ path, type: typeOf(of), otherwise, says: of.description ?? '' }];
  });
}

/** A key that several kinds of one thing have is one key. */
function merged(keys: readonly ConfigKey[], when: string): ConfigKey[] {
  const paths = [...new Set(keys.map(({ path }) => path))];
  return paths.flatMap((path) => {
    const same = keys.filter((key) => key.path === path);
    const [first] = same;
    if (!first || same.length === 1) return same;
    return [
      {
        path,
        type: same.map(({ type }) => type).join(' or '),
        otherwise: `required${when}`,
        says: 'how the bot authenticates',
      },
    ];
  });
}

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map(String).join(', ');
  if (schema.anyOf) return isSecret(schema) ? 'secret' : [...new Set(schema.anyOf.map(typeOf))].join(' or ');
  if (schema.type === 'array') return `list of ${schema.items ? typeOf(schema.items) : 'values'}`;
  if (schema.type === 'object')
    return schema.additionalProperties ? `map of ${typeOf(schema.additionalProperties)}` : 'map';
  const { type = 'value', minimum, maximum } = schema;
  // Integers carry the bounds of what JSON can hold where nothing narrower is said.
  return minimum !== undefined && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER
    ? `${type}, ${minimum} to ${maximum}`
    : type;
}

function isSecret({ anyOf = [] }: Schema): boolean {
  const ways = ['env', 'file', 'credential'];
  return anyOf.length > 0 && anyOf.every(({ properties = {} }) => ways.some((way) => Object.hasOwn(properties, way)));
}

function configPage(): string {
  const rows = configKeys().map(({ path, type, otherwise, says }) => [
    `\`${path}\``,
    type,
    otherwise.startsWith('required') ? `**${otherwise}**` : otherwise && `\`${otherwise}\``,
    says,
  ]);
  return page(
    "The operator's file",
    `One YAML file says who the bot is, where it listens and keeps its data, and what rules may do. The bot reads it at the start. An unknown key, an invalid value, an
empty secret or a secret file that others can read stops the start, with line and column. Begin with \`config/forgehand.example.yaml\`.
\`forgehand schema --config\` prints the JSON Schema for editors.

A **secret** is \`{ env: NAME }\`, \`{ file: PATH }\` (mode 0600) or \`{ credential: NAME }\` (systemd), never the value itself. Paths are relative to the file. Units are in the names: \`_s\` is seconds.

The **environment file** lies beside the config and has its name: \`forgehand.env\` for \`forgehand.yaml\`, mode 0600. The bot and the commands take from it what
their own environment does not have. Compose (\`--env-file\`) and systemd (\`EnvironmentFile=\`) read the same lines. \`forgehand init\` writes it.

## Many organizations

\`defaults\` takes every key of \`orgs[]\` except \`name\`, \`auth\`, \`hooks\` and \`repositories\`. An organization that lacks a key has it from there:

\`\`\`yaml
defaults:
  forge: main
  feed: { every_s: 120, grace_s: 300 }
  powers: [topics.ensure]
orgs:
  - { name: acme, rules: { path: rules/acme }, hooks: [{ id: acme, secret: { env: ACME_HOOK_SECRET } }] }
  - { name: beta, rules: { path: rules/beta }, feed: { every_s: 30 } }
\`\`\`

Keys are taken whole and never mixed. \`beta\` writes \`feed\`, so nothing of \`defaults.feed\` holds for it, and its \`grace_s\` is 120, the default in the table below.
An empty list is a value too: an organization with \`powers: []\` has no powers. With \`defaults.orgs: [acme]\` the other keys of \`defaults\` hold for \`acme\` alone.
An organization is known by its forge and its number there, so the same name on two forges is two organizations: commands and pages call them \`main/acme\` and \`other/acme\`, and
\`defaults.orgs\` takes that form too. After a rename on the forge, write the new name into \`orgs[].name\`: what is kept of the organization goes on ([security.md](security.md#who-an-organization-is)).
Rule files name their organization, so each has \`rules\` of its own; what is the same in all of them is a shared file that they extend ([rules.md](rules.md)).
Rules of a shared file are compiled once for all organizations that give it the same \`vars\`, secrets, powers and hosts: one organization more takes 17 KB of memory a process
with the shipped rules as shared files, and 252 KB with as many rules of its own (12 KB of text). \`forgehand doctor\` tells how large the files of each organization are that no
other shares.

Each file \`orgs.d/*.yaml\` beside the config file is one organization more, with the keys of \`orgs[]\`; \`defaults\` holds for it too:

\`\`\`yaml
# orgs.d/gamma.yaml
name: gamma
hooks: [{ id: gamma, secret: { env: GAMMA_HOOK_SECRET } }]
rules: { path: rules/gamma }
\`\`\`

Paths in it are relative to the config file, as in the config file itself: an organization may move from one to the other as it is. The bot reads the files in the
order of their names, and takes no notice of hidden files and of other endings.

## Reload

\`forgehand reload\` reads the config and \`orgs.d\` again and follows the organizations in them: those that came are connected, polled and served, those that
went are let alone, and of those that changed every key holds, values of secrets included. The others go on undisturbed. With PostgreSQL, every process of the
bot follows within five seconds, each with its own files. SIGHUP does it in one process (\`systemctl reload\`, \`docker kill -s HUP\`).

- **A mistake changes nothing.** The command, the log (\`config.not-reloaded\`) and an alert (\`config.broken\`) name its file, line and column. \`forgehand check\`
  finds it before.
- **Everything else needs a restart**: \`forges\`, \`server\`, \`store\` and whatever is not about an organization. The answer names the keys that changed; the
  organizations are reloaded all the same. An organization at a forge that is new to the config waits for the restart, and until then nothing is reloaded.
- **What an organization leaves behind stays in the store**: history, open effects and pauses. They go on when it comes back.
- Values in the environment of a process cannot change while it runs. A new secret comes by \`{ file: PATH }\`, or by a new name in the environment file.

## All keys`,
    table(['key', 'value', 'default', 'meaning'], rows),
  );
}

function controlPage(): string {
  const sections = Object.entries(GROUPS).flatMap(([subject, group]: [string, Group]) => [
    `## ${subject.charAt(0).toUpperCase()}${subject.slice(1)}`,
    table(
      ['operation', 'says', 'scope', 'command', 'takes', 'answers'],
      Object.entries(group).map(([name, { route, summary, scope, command, input, answer }]) => [
        `**${name}** \`${route}\``,
        summary,
        scope,
        typeof command === 'string' ? `\`${command}\`` : `none: ${command.none}`,
        fieldsOf(schemaOf(input, 'input') as Schema),
        shapeOf(schemaOf(answer, 'output') as Schema),
      ]),
    ),
  ]);
  return page(
    'The control API',
    `The commands of \`forgehand\` use this API; programs may as well. It answers on the control socket, and at \`control.listen\` to callers with a token
([operators](operators.md) says who may do what). \`:name\` in a path stands for the field of that name; the other fields are the query of a GET and the JSON body
of a POST. A field in bold is required, one in brackets has the value behind it if it is left out. A time is an ISO text. A refusal is \`{ error, message }\`: a code, and a sentence for people.
\`GET /v1/openapi.json\` tells all of it to programs, with every field of the answers.
A call that takes longer than a second goes on by itself: it is answered with 202 and its \`id\`, and \`GET /v1/calls/:id\` tells how far it is, and then its answer. Whoever
asks for the same again while it runs, joins it.`,
    ...sections,
  );
}

function fieldsOf({ properties = {}, required = [] }: Schema): string {
  const fields = Object.entries(properties).map(([name, field]) => {
    if (required.includes(name)) return `**${name}**: ${typeOf(field)}`;
    const otherwise = field.default === undefined ? '' : ` (${JSON.stringify(field.default)})`;
    return `[${name}]: ${typeOf(field)}${otherwise}`;
  });
  return fields.join('; ');
}

/** The names of what is answered, one level deep. */
function shapeOf(schema: Schema): string {
  if (schema.type === 'array') return schema.items ? `list of ${shapeOf(schema.items)}` : 'list';
  const ways = schema.oneOf ?? schema.anyOf;
  if (ways) return ways.map(shapeOf).join(' or ');
  const names = Object.keys(schema.properties ?? {});
  return names.length > 0 ? `{ ${names.join(', ')} }` : 'object';
}

function metricsPage(): string {
  const kept = new Metrics().registry.getMetricsAsArray() as unknown as ReadonlyArray<{
    name: string;
    help: string;
    labelNames: readonly string[];
    type: string;
  }>;
  return page(
    'Metrics',
    `With \`metrics: { listen: 9091 }\` each process answers \`/metrics\` in the text format of Prometheus, beside \`/healthz\` and \`/readyz\`; the control API has
\`/metrics\` too. Counters and histograms belong to the process that answers. Gauges come from the store and are the same in every process; while the store does
not answer, they keep their last values. The metrics of Node.js (\`process_…\`, \`nodejs_…\`) are included. With more organizations than
\`metrics.max_orgs\`, the first ones of the config have series of their own; of all others the labels \`org\`, \`hook\` and \`rule\` are \`other\`. A
process measures Node.js from the first time that somebody asks: the measure of the event loop wakes an idle process a hundred times a second.`,
    table(
      ['metric', 'type', 'labels', 'meaning'],
      kept.map(({ name, type, labelNames, help }) => [
        `\`${name}\``,
        type,
        labelNames.map((label) => `\`${label}\``).join(', '),
        help,
      ]),
    ),
  );
}

function page(title: string, ...parts: string[]): string {
  return `${[`# ${title}`, NOTE, ...parts].join('\n\n')}\n`;
}

function table(head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
