import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OPERATIONS, type OperationName, type SentTo } from '../../src/api/operations/index.js';
import type { AnyOperation } from '../../src/api/operations/operation.js';
import { readConfig } from '../../src/config/read-config.js';
import { BotError } from '../../src/core/errors.js';
import { stringifyJson } from '../../src/core/json.js';
import { NOBODY, asOperator, personCaller, type ControlCaller } from '../../src/core/operators.js';
import { POSTGRES_URL, createTestDatabase, type TestDatabase } from '../services/test-stores.js';
import { REDIS_URL, freshRedisUrl } from '../services/test-redis.js';
import { until } from '../services/until.js';
import { aControl, type TestControl } from './support/a-control.js';
import { aForge, type TestForge } from './support/a-forge.js';
import { SEALED_TEXT, WEIGHT, fillTenants, type Place, type Tenants } from './support/two-tenants.js';

const PEOPLE = ['nobody', 'outsider', 'reader', 'writer', 'other owner', 'owner', 'socket'] as const;
type Person = (typeof PEOPLE)[number];

/** The letters of the table. */
const LETTERS: Readonly<Record<string, string>> = {
  app: 'a',
  lib: 'l',
  vault: 'v',
  acme: 'o',
  butler: 'b',
  site: 's',
  'pause of acme': 'p',
  'pause of all': 'q',
};

/** Codes of refusals, short enough for the table. */
const REFUSALS: Readonly<Record<string, string>> = {
  UNAUTHORIZED: 'login',
  SCOPE_MISSING: 'scope',
  OWNER_ONLY: 'host',
  ORG_OWNERS_ONLY: 'owners',
  SITE_ONLY: 'site',
  NO_SUCH_ORG: 'no-org',
  NOT_FOUND: 'none',
};

interface Stage {
  readonly tenants: Tenants;
  /** Hashes of open plans of acme. */
  readonly plans: readonly [string, string];
  readonly butlerPlan: string;
}

interface Row {
  readonly name: OperationName;
  /** Where an operation has several rows. */
  readonly what: string;
  readonly input: (stage: Stage) => object;
  /**
   * For each person what was told (a = app, l = lib, v = vault: repositories of acme; o = acme itself; b = the other organization; s = the site; p, q =
   * pauses over acme and over all; - = nothing of any of them; yes, no = whether an order was carried out), or the code of the refusal, with what its text tells. Of two cells
   * with a stroke between, the second is of the distributed deployment.
   */
  readonly cells: string;
}

function row<Name extends OperationName>(
  name: Name,
  what: string,
  input: SentTo<Name> | ((stage: Stage) => SentTo<Name>),
  cells: string,
): Row {
  return { name, what, input: (stage) => (typeof input === 'function' ? input(stage) : input), cells };
}

const of = (place: Place) => (stage: Stage) => stage.tenants.of[place];
const SPAN = { since: '2026-01-01', until: '2036-01-01' };

/** A file of a draft. */
const MORE = `version: 1
org: acme
rules:
  - { id: more, on: tag.created, do: { label.ensure: { name: more, color: "#00aabb" } } }
`;

// prettier-ignore
const TABLE: readonly Row[] = [
  // nobody outsi. reader writer  other   owner  socket
  row('status', '', {},
    'login scope scope alpq    bq      alopqv ablopqsv'),
  row('waiting', '', {},
    'login scope scope al      b       alov    ablov'),
  row('waiting', 'of acme', { org: 'acme' },
    'login scope scope al      no-org:b alov    alov'),
  row('waiting', 'of a run about app', ({ tenants }) => ({ run: tenants.reaching }),
    'login scope scope a       none    av     av'),
  row('waiting', 'of an event of vault', (stage) => ({ event: of('vault')(stage).event }),
    'login scope scope none    none    v      v'),
  row('organizations', '', {},
    'login scope scope -       b       -      b'),
  row('longCall', 'of nobody', { id: 'gone' },
    'login scope scope none    none    none   none'),
  row('openApi', '', {},
    'login scope scope -       -       -      -'),
  row('activity', '', { limit: 1000 },
    'login scope scope al      b       alov   ablov'),
  row('activity', 'of acme', { org: 'acme', limit: 1000 },
    'login scope scope al      no-org:b alov   alov'),
  row('activity', 'of a rule about vault', { rule: 'canary-of-vault' },
    'login scope scope -       -       v      v'),
  row('activity', 'of a repository of acme', { repo: 'acme/canary-of-vault' },
    'login scope scope -       -       v      v'),
  row('activity', 'of a person', { person: 'canary-of-lib' },
    'login scope scope l       -       l      l'),
  row('activity', 'with dead effects', { effects: 'dead', limit: 1000 },
    'login scope scope al      b       alov   ablov'),
  row('activityNews', '', { limit: 1000 },
    'login scope scope site    site    site   ablov'),
  row('doctor', 'of acme', { org: 'acme' },
    'login scope scope owners  no-org:b alov   ablov'),
  row('doctor', 'of all', {},
    'login scope scope owners  b       alov   ablov'),
  row('deliveries', '', { limit: 1000 },
    'login scope scope al      b       alov   ablov'),
  row('deliveries', 'of acme', { org: 'acme', limit: 1000 },
    'login scope scope al      no-org:b alov   alov'),
  row('deliveries', 'of butler', { org: 'butler', limit: 1000 },
    'login scope scope no-org  b       no-org b'),
  row('delivery', 'of app', (stage) => ({ id: of('app')(stage).arrival }),
    'login scope scope a       none    a      a'),
  row('delivery', 'of vault', (stage) => ({ id: of('vault')(stage).arrival }),
    'login scope scope none    none    v      v'),
  row('gaps', '', { limit: 100 },
    'login scope scope al      b       alov   ablov'),
  row('explain', 'a run about app', (stage) => ({ id: of('app')(stage).run }),
    'login scope scope a       none    a      a'),
  row('explain', 'a run about app that acts on vault', ({ tenants }) => ({ id: tenants.reaching }),
    'login scope scope a       none    av     av'),
  row('explain', 'a run about vault', (stage) => ({ id: of('vault')(stage).run }),
    'login scope scope none    none    v      v'),
  row('explain', 'an event of app', (stage) => ({ id: of('app')(stage).event }),
    'login scope scope a       none    av     av'),
  row('explain', 'an event of app that an arrival tells with one of vault', ({ tenants }) => ({ id: tenants.shared }),
    'login scope scope a       none    av     av'),
  row('explain', 'a rule and an event of app', (stage) => ({ id: of('app')(stage).event, rule: 'greet', revision: 'active' }),
    'login scope scope a       none    av     av'),
  row('explain', 'an intent about vault', (stage) => ({ id: of('vault')(stage).waiting }),
    'login scope scope none    none    v      v'),
  row('explain', 'an arrival of butler', (stage) => ({ id: of('butler')(stage).arrival }),
    'login scope scope none    b       none   b'),
  row('history', '', { org: 'acme', ...SPAN, limit: 1000 },
    'login scope scope al      no-org:b alov   alov'),
  row('history', 'of butler', { org: 'butler', ...SPAN, limit: 1000 },
    'login scope scope no-org  b       no-org b'),
  row('historyOf', 'an event of app', (stage) => ({ id: of('app')(stage).event }),
    'login scope scope a       none    av     av'),
  row('historyOf', 'an event of vault', (stage) => ({ id: of('vault')(stage).event }),
    'login scope scope none    none    v      v'),
  row('runs', '', { limit: 1000 },
    'login scope scope al      b       alov   ablov'),
  row('runs', 'of acme', { org: 'acme', limit: 1000 },
    'login scope scope al      no-org:b alov   alov'),
  row('runs', 'of an event of vault', (stage) => ({ eventId: of('vault')(stage).event }),
    'login scope scope none    none    v      v'),
  row('runs', 'that reach others', { rule: 'reaches' },
    'login scope scope a       NO_SUCH_RULE:b av     av'),
  row('runs', 'that changed something', { changed: true, limit: 1000 },
    'login scope scope al      b       alov   ablov'),
  row('run', 'about app', (stage) => ({ id: of('app')(stage).run }),
    'login scope scope a       none    a      a'),
  row('run', 'about vault', (stage) => ({ id: of('vault')(stage).run }),
    'login scope scope none    none    v      v'),
  row('run', 'about acme', (stage) => ({ id: of('acme')(stage).run }),
    'login scope scope none    none    o      o'),
  row('shadow', '', { limit: 100 },
    'login scope scope al      b       lov    blov'),
  row('approvals', '', {},
    'login scope scope al      b       alov   ablov'),
  row('schedules', '', {},
    'login scope scope -       b       -      b'),
  row('schedules', 'of acme', { org: 'acme' },
    'login scope scope owners  no-org:b -      -'),
  row('plans', '', {},
    'login scope scope -       b       ov     bov'),
  row('planOf', 'of acme', ({ plans }) => ({ hash: plans[0] }),
    'login scope scope -       -       ov     ov'),
  row('planOf', 'of butler', ({ butlerPlan }) => ({ hash: butlerPlan }),
    'login scope scope -       b       -      b'),
  row('findings', '', {},
    'login scope scope al      b       alov   ablov'),
  row('operators', '', {},
    'login scope scope site    site    site   s'),
  row('audit', '', { org: 'acme' },
    'login scope scope owners  no-org:b -      -'),
  row('audit', 'of no organization', {},
    'login scope scope site    site    site   -'),
  row('jobs', '', {},
    'login scope scope -       b       o      bos'),
  row('explain', 'by the beginning of an id', (stage) => ({ id: of('vault')(stage).run.slice(0, 6) }),
    'login scope scope AMBIGUOUS_ID:a AMBIGUOUS_ID:b AMBIGUOUS_ID:a AMBIGUOUS_ID:a'),
  row('explain', 'by the end of an id of vault', (stage) => ({ id: of('vault')(stage).run.slice(-8) }),
    'login scope scope none    none    v      v'),
  row('rules', '', {},
    'login scope scope p       bq      p      bpq'),
  row('rules', 'of acme', { org: 'acme' },
    'login scope scope p       no-org:b p     p'),
  row('rule', '', { org: 'acme', rule: 'greet' },
    'login scope scope p       no-org:b p     p'),
  row('ruleFiles', 'of acme', { org: 'acme' },
    'login scope scope owners  no-org:b -      -'),
  row('ruleLanguage', '', {},
    'login scope scope -       -       -      -'),
  row('checkDraft', 'of acme', { org: 'acme', files: [{ path: 'more.yaml', text: MORE }] },
    'login scope scope owners  no-org:b yes    yes'),
  row('tryDraft', 'on an event of vault', (stage) => ({ org: 'acme', id: of('vault')(stage).event, rule: 'greet' }),
    'login scope scope owners  no-org:b v      v'),
  row('tryDraft', 'on an event of another organization', (stage) => ({ org: 'acme', id: of('butler')(stage).event }),
    'login scope scope owners  no-org none   none'),
  row('tryOnObject', 'on an issue of somebody else', { org: 'acme', on: 'other/app#1' },
    'login scope scope owners  no-org:b OTHER_OWNER OTHER_OWNER'),
  row('draftFixture', 'of an event of vault that no rule takes', (stage) => ({ org: 'acme', id: of('vault')(stage).event }),
    'login scope scope owners  no-org:b NOTHING_TO_RECORD NOTHING_TO_RECORD'),
  // Of the one that a test above had done.
  row('backtest', 'of acme', { org: 'acme' },
    'login scope scope owners  no-org:b alov   none'),
  row('startBacktest', '', { org: 'acme', days: 1 },
    'login scope scope owners  no-org:b -      -'),
  row('cancelBacktest', 'of butler', { org: 'butler' },
    'login scope scope no-org  no      no-org no'),
  // Orders.
  row('installHook', '', { org: 'acme', dryRun: true },
    'login scope scope scope   no-org:b -      -'),
  row('replay', '', (stage) => ({ id: of('app')(stage).arrival }),
    'login scope scope scope   none    a      a'),
  row('release', '', (stage) => ({ id: of('app')(stage).poison }),
    'login scope scope scope   none    yes    no'),
  row('retry', '', (stage) => ({ id: of('app')(stage).dead }),
    'login scope scope scope   none    yes    no'),
  row('resolve', '', (stage) => ({ id: of('app')(stage).unknown, exists: true }),
    'login scope scope scope   none    yes    no'),
  row('approve', '', (stage) => ({ id: of('app')(stage).waiting }),
    'login scope scope scope   none    a      -'),
  row('pause', 'acme', { org: 'acme', rule: 'greet' },
    'login scope scope scope   no-org:b yes    yes'),
  row('pause', 'everything', { rule: 'tried' },
    'login scope scope scope   site    site   yes'),
  row('resume', 'acme', { org: 'acme', rule: 'greet' },
    'login scope scope scope   no-org:b yes    no'),
  row('resume', 'everything', { rule: 'tried' },
    'login scope scope scope   site    site   yes'),
  row('promote', '', { org: 'acme', rule: 'tried', to: 50, force: true },
    'login scope scope scope   no-org:b -      -'),
  row('runSchedule', '', { org: 'acme', schedule: 'nightly', dryRun: true },
    'login scope scope scope   no-org:b -      -'),
  row('plan', '', { org: 'acme', policy: 'labels' },
    'login scope scope scope   no-org:b ov     ov'),
  row('applyPlan', '', ({ plans }) => ({ hash: plans[0] }),
    'login scope scope scope   none    ov     ov'),
  row('decidePlan', '', ({ plans }) => ({ hash: plans[1], deny: true }),
    'login scope scope scope   none    ov     ov'),
  row('acceptOrg', '', { org: 'acme' },
    'login host  host  host    host    host   NOTHING_TO_ACCEPT'),
  row('addOperator', '', { name: 'eve', scopes: ['read'], expiresS: 3600 },
    'login host  host  host    host    host   -'),
  row('revokeOperator', '', { name: 'eve' },
    'login host  host  host    host    host   -'),
  row('consoleSessions', '', {},
    'login scope scope site    site    site   -'),
  row('consoleLink', '', {},
    'login host  host  host    host    host   NO_CONSOLE'),
  row('endConsoleSession', '', { id: 'a-session' },
    'login scope scope scope   site    site   none'),
  row('runJob', 'of acme', { job: 'hooks.audit', org: 'acme', dryRun: true },
    'login scope scope scope   no-org:b -      -'),
  row('runJob', 'of a forge', { job: 'token.audit', org: 'acme', dryRun: true },
    'login scope scope scope   site    site   b'),
  row('runJob', 'of all', { job: 'hooks.audit', dryRun: true },
    'login scope scope scope   site    site   b'),
  row('restore', '', { file: '/nothing' },
    'login scope scope scope   site    site   NO_ARCHIVE'),
  row('erase', '', { login: 'ann', dryRun: true },
    'login host  host  host    host    host   -'),
  row('copyStoreFiles', '', {},
    'login host  host  host    host    host   -/NO_FILES_TO_COPY'),
  row('reload', '', {},
    'login scope scope scope   site    site   NO_BOT_RUNS/-'),
  // Of the orders above.
  row('acts', '', { limit: 1000 },
    'login scope scope owners  b       ao     abo'),
  row('acts', 'of acme', { org: 'acme', limit: 1000 },
    'login scope scope owners  no-org:b ao     ao'),
];

const RULES = (org: string): string => `version: 1
org: ${org}
rules:
  - { id: greet, on: repository.created, do: { label.ensure: { name: greeted, color: "#00aabb" } } }
  - { id: nightly, schedule: "0 0 29 2 *", where: { repo: app }, limits: { effects_per_run: 5 }, do: { label.ensure: { name: nightly, color: "#00aabb" } } }
  - { id: tried, canary: 10%, on: repository.created, do: { label.ensure: { name: tried, color: "#00aabb" } } }
  - id: roundabout
    on: repository.created
    if: >-
      event.repo.full_name in ["acme" + "/vault", "acme/app/../vault"] || event.repo.name.startsWith("vault")
    do: { label.ensure: { name: roundabout, color: "#00aabb" } }
policies:
  - { id: labels, schedule: "0 0 29 2 *", subjects: { repos: "*" }, labels: [{ name: kind/bug, color: "#d73a4a" }] }
`;

const orgConfig = (name: string): object => ({
  name,
  forge: 'main',
  hooks: [{ id: name, secret: { env: 'HOOK' } }],
  rules: { path: `rules/${name}`, shadow: { path: `rules/${name}-shadow` } },
  trusted: true,
});

const DEPLOYMENTS = ['embedded', ...(POSTGRES_URL && REDIS_URL ? (['distributed'] as const) : [])] as const;

describe.each(DEPLOYMENTS)('integration/callers: who sees and does what (%s)', (deployment) => {
  const before = { ...process.env };
  let database: TestDatabase | null = null;
  let forge: TestForge;
  let dir: string;
  let running: TestControl;
  let stage: Stage;
  let callers: Record<Person, ControlCaller>;

  beforeAll(async () => {
    if (deployment === 'distributed') {
      database = await createTestDatabase();
      Object.assign(process.env, { DATABASE_URL: database.url, REDIS_URL: await freshRedisUrl() });
    }
    forge = await aForge({ org: 'acme' });
    await forge.control('/_sandbox/given', { org: 'butler', owner: 'olga' });
    await forge.control('/_sandbox/accounts', { login: 'bot', org: 'butler', team: 'Owners' });
    const repoIds = { app: '', lib: '', vault: '' };
    for (const name of ['app', 'lib', 'vault'] as const) {
      await forge.act('repository.create', { repo: `acme/${name}` });
      repoIds[name] = String((await forge.get<{ id: number }>(`/repos/acme/${name}`)).id);
    }
    await forge.act('repository.create', { repo: 'butler/app' });
    dir = mkdtempSync(join(tmpdir(), 'fh-callers-'));
    for (const org of ['acme', 'butler'])
      for (const folder of [org, `${org}-shadow`]) {
        mkdirSync(join(dir, 'rules', folder), { recursive: true });
        writeFileSync(join(dir, 'rules', folder, 'r.yaml'), RULES(org));
      }
    const config = {
      forges: [
        { id: 'main', base_url: forge.apiUrl, auth: { type: 'token', token: { env: 'FORGE_TOKEN' } }, rate_per_s: 200 },
      ],
      orgs: [orgConfig('acme'), orgConfig('butler')],
      store: { url: database ? { env: 'DATABASE_URL' } : 'embedded:./data' },
      ...(database ? { queue: { url: { env: 'REDIS_URL' } } } : {}),
      keys: { data: { env: 'DATA_KEY' } },
      server: { host: '127.0.0.1', port: 0, public_url: 'https://bot.example.org' },
    };
    writeFileSync(join(dir, 'forgehand.yaml'), JSON.stringify(config));
    Object.assign(process.env, {
      FORGE_TOKEN: forge.botToken,
      HOOK: 'the secret of the hook',
      DATA_KEY: 'd'.repeat(64),
    });
    running = await aControl(readConfig(join(dir, 'forgehand.yaml')));
    const tenants = await fillTenants(running, repoIds);
    const socket: ControlCaller = {
      kind: 'socket',
      name: 'socket:forgehand',
      login: null,
      scopes: ['read', 'operate', 'approve'],
      grants: null,
    };
    const person = (login: string, ...rights: Parameters<typeof personCaller>[1]): ControlCaller =>
      personCaller({ forge: 'main', login }, rights);
    const sees = (id: string, canWrite: boolean) => ({ id, canWrite, units: null });
    callers = {
      nobody: NOBODY,
      outsider: person('otto'),
      reader: person('rita', { org: 'acme', isOwner: false, repositories: [sees(repoIds.app, false)] }),
      writer: person('wes', {
        org: 'acme',
        isOwner: false,
        repositories: [sees(repoIds.app, true), sees(repoIds.lib, false)],
      }),
      'other owner': person('bess', { org: 'butler', isOwner: true, repositories: [] }),
      owner: person('olga', { org: 'acme', isOwner: true, repositories: [] }),
      socket,
    };
    const { operations } = running.control;
    const { rows: orgs } = await operations.status({ limit: 50 }, socket);
    expect(orgs.flatMap(({ heldBack }) => heldBack)).toEqual([]);
    const plan = async (org: string, policy?: string) =>
      (await operations.plan({ org, ...(policy === undefined ? {} : { policy }) }, socket)).hash;
    const hashes = [await plan('acme'), await plan('acme', 'labels'), await plan('butler')] as const;
    const signs = [
      [hashes[0], 'acme'],
      [hashes[1], 'acme'],
      [hashes[2], 'butler'],
      ['butler', 'butler'],
      ['acme/vault', 'vault'],
    ] as const;
    stage = {
      tenants: { ...tenants, canaries: new Map([...tenants.canaries, ...signs]) },
      plans: [hashes[0], hashes[1]],
      butlerPlan: hashes[2],
    };
  });

  afterAll(async () => {
    await running?.close();
    await forge?.close();
    await database?.drop();
    for (const name of ['FORGE_TOKEN', 'HOOK', 'DATA_KEY', 'DATABASE_URL', 'REDIS_URL'])
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    if (dir) rmSync(dir, { recursive: true, force: true });
  });

  async function call(name: OperationName, sent: object, caller: ControlCaller): Promise<unknown> {
    const operation: AnyOperation = OPERATIONS[name];
    const handle = running.control.operations[name] as (input: unknown, by: ControlCaller) => Promise<unknown>;
    return handle(operation.input.parse(sent), caller);
  }

  function lettersOf(text: string): string {
    const told = [...stage.tenants.canaries].flatMap(([sign, whose]) =>
      text.includes(sign) ? [LETTERS[whose] ?? '?'] : [],
    );
    return [...new Set(told)].sort().join('');
  }

  async function cell({ name, input }: Row, person: Person): Promise<string> {
    const sent = input(stage);
    try {
      const answer = await call(name, sent, callers[person]);
      const [only] = Object.values(answer as object) as unknown[];
      if (typeof only === 'boolean') return only ? 'yes' : 'no';
      return lettersOf(stringifyJson(answer as never)) || '-';
    } catch (error) {
      if (!(error instanceof BotError)) throw error;
      // What was sent tells nothing when it comes back.
      const known = lettersOf(stringifyJson(sent as never));
      const told = [...lettersOf(error.message)].filter((letter) => !known.includes(letter)).join('');
      return `${REFUSALS[error.code] ?? error.code}${told === '' ? '' : `:${told}`}`;
    }
  }

  it('has a row for each operation', () => {
    expect(Object.keys(OPERATIONS).filter((name) => !TABLE.some((one) => one.name === name))).toEqual([]);
  });

  it('counts what is visible, and nothing else', async () => {
    const counted: Partial<Record<Person, object>> = {};
    for (const person of ['writer', 'other owner', 'owner', 'socket'] as const) {
      const status = await running.control.operations.status({ limit: 50 }, callers[person]);
      const { coverage } = await running.control.operations.gaps({ limit: 1, days: 30 }, callers[person]);
      counted[person] = {
        planned: status.intents.planned,
        dead: status.intents.dead,
        behind: status.behind.length,
        arrivals: status.backlog.arrivals,
        events: status.backlog.events,
        quarantined: status.quarantined.length,
        waits: status.paused.find(({ org }) => org === 'acme')?.waiting,
        held: status.held.length,
        rows: coverage.rows.reduce((sum, one) => sum + one.rows, 0),
        told: coverage.rows.reduce((sum, one) => sum + one.webhook, 0),
      };
    }
    const { app, lib, vault, acme, butler } = WEIGHT;

    // Beside the weights: what crosses between app and vault, and what the budgets hold.
    expect(counted).toEqual({
      writer: {
        ...{ planned: app + lib + 1, dead: 2, behind: 6, arrivals: 0, events: app + lib + 1, quarantined: 2 },
        ...{ waits: app + lib + 1, held: 0, rows: 2, told: app + lib + 2 * 2 + 1 },
      },
      'other owner': {
        ...{ planned: butler + 1, dead: 1, behind: 3, arrivals: butler, events: butler, quarantined: 1 },
        ...{ waits: undefined, held: 1, rows: 1, told: butler + 2 },
      },
      owner: {
        ...{ planned: app + lib + vault + acme + 4, dead: 4, behind: 12, arrivals: acme },
        ...{ events: app + lib + vault + acme + 2, quarantined: 4, waits: app + lib + vault + acme + 4, held: 1 },
        ...{ rows: 4, told: app + lib + vault + acme + 4 * 2 + 2 },
      },
      socket: {
        ...{ planned: app + lib + vault + acme + butler + 5, dead: 5, behind: 15, arrivals: acme + butler },
        ...{ events: app + lib + vault + acme + butler + 2, quarantined: 5, waits: app + lib + vault + acme + 4 },
        ...{ held: 2, rows: 5, told: app + lib + vault + acme + butler + 5 * 2 + 2 },
      },
    });
  });

  it('gives the pages of a list by the keys of what is visible', async () => {
    for (const person of ['writer', 'owner'] as const) {
      const { runs, deliveries } = running.control.operations;
      const pagesOf = async (next: (before: string | undefined) => Promise<string[]>): Promise<string[]> => {
        const ids: string[] = [];
        for (let page = await next(undefined); page.length > 0; page = await next(page.at(-1))) ids.push(...page);
        return ids;
      };
      const from = (before: string | undefined) => (before === undefined ? {} : { before });
      const runIds = async (before: string | undefined, limit: number) =>
        (await runs({ limit, ...from(before) }, callers[person])).rows.map(({ run }) => run.id);
      const arrivalIds = async (before: string | undefined, limit: number) =>
        (await deliveries({ limit, ...from(before) }, callers[person])).rows.map(({ id }) => id);

      expect(await pagesOf((before) => runIds(before, 3))).toEqual(await runIds(undefined, 1000));
      expect(await pagesOf((before) => arrivalIds(before, 3))).toEqual(await arrivalIds(undefined, 1000));
    }
  });

  it('keeps what is sealed from who may not see every repository, and opens it to an owner', async () => {
    const id = stage.tenants.reaching;
    const lookups = async (person: Person) =>
      (await running.control.operations.run({ id }, callers[person])).run.lookups;

    expect(await lookups('owner')).toEqual({ feed: { value: `canary-of-vault ${SEALED_TEXT}` } });
    expect(await lookups('writer')).toEqual({ feed: { $sealed: expect.any(String), $hash: expect.any(String) } });
  });

  it('shows no operator what is sealed, whatever the scopes and the operation', async () => {
    const operator: ControlCaller = { ...callers.socket, kind: 'operator', name: 'ann' };
    const event = stage.tenants.of.app.event;
    const reads = TABLE.filter(({ name }) => OPERATIONS[name].scope === 'read' && !name.endsWith('acktest'));
    const asks = [
      ...reads.map((one) => [one.name, one.input(stage)] as const),
      ['run', { id: stage.tenants.reaching }] as const,
      ['explain', { id: stage.tenants.reaching, full: true }] as const,
      ['explain', { id: event, rule: 'reaches', full: true }] as const,
      ['historyOf', { id: event }] as const,
    ];
    const opened = async (caller: ControlCaller): Promise<string[]> => {
      const found: string[] = [];
      for (const [name, sent] of asks) {
        const answer = await call(name, sent, caller).catch((error: unknown) => {
          if (!(error instanceof BotError)) throw error;
          return error.message;
        });
        if (stringifyJson(answer as never).includes(SEALED_TEXT)) found.push(name);
      }
      return [...new Set(found)].sort();
    };

    expect(await opened(operator)).toEqual([]);
    expect(await opened(asOperator(callers.writer))).toEqual([]);
    expect(await opened(asOperator(callers.owner))).toEqual(await opened(callers.owner));
    expect(await opened(callers['other owner'])).toEqual([]);
    expect(await opened(callers.owner)).toEqual(
      expect.arrayContaining(['explain', 'history', 'historyOf', 'run', 'runs']),
    );
    expect(await opened(callers.socket)).toEqual(await opened(callers.owner));
  });

  it('leaves the name of a private repository out of a rule, however the rule writes it', async () => {
    const told = async (person: Person) =>
      stringifyJson(
        (await running.control.operations.rule({ org: 'acme', rule: 'roundabout' }, callers[person])) as never,
      );

    expect(await told('owner')).toContain('\\"/vault\\"');
    expect(await told('writer')).not.toContain('vault');
    expect(await told('writer')).toContain('acme/app/../a repository that you may not see');
  });

  it('tries several edited files together: a rule that moves into another file is in one of them', async () => {
    const { checkDraft, startBacktest, backtest, ruleFiles } = running.control.operations;
    const [{ path = '', text = '' } = {}] = (await ruleFiles({ org: 'acme' }, callers.owner)).files;
    const greet = text.split('\n').find((line) => line.includes('id: greet')) ?? '';
    const into = { path: 'moved.yaml', text: `version: 1\norg: acme\nrules:\n${greet}\n` };
    const from = { path, text: text.replace(`${greet}\n`, '') };
    const check = (...files: Array<{ path: string; text: string }>) =>
      checkDraft({ org: 'acme', files }, callers.owner);

    expect(await check(into)).toMatchObject({ ok: false });
    expect((await check(from)).rules.map(({ id }) => id)).not.toContain('greet');
    expect(await check(into, from)).toMatchObject({ ok: true, problems: [] });
    await startBacktest({ org: 'acme', files: [into, from], days: 30 }, callers.owner);
    await until(async () => !['waiting', 'running'].includes((await backtest({ org: 'acme' }, callers.owner)).state));
    const { problems, report } = await backtest({ org: 'acme' }, callers.owner);
    expect(problems).toEqual([]);
    // Rules without a mode are not in the draft.
    const tried = report?.rules.filter(({ mode }) => mode !== null).map(({ rule }) => rule);
    expect(tried).toEqual(expect.arrayContaining(['greet', 'tried']));
  });

  it('tries a draft on what an owner may see, and tells nobody else of it', async () => {
    const { startBacktest, backtest } = running.control.operations;
    const text = RULES('acme').replace('id: greet', 'id: greet-anew');
    const [{ path = '' } = {}] = (await running.control.operations.ruleFiles({ org: 'acme' }, callers.owner)).files;
    await startBacktest({ org: 'acme', files: [{ path, text }], days: 30 }, callers.owner);
    await until(async () => (await backtest({ org: 'acme' }, callers.owner)).state === 'done');

    const { report } = await backtest({ org: 'acme' }, callers.owner);

    expect(report?.rules.map(({ rule }) => rule)).toContain('greet-anew');
    expect(report?.events).toBeGreaterThan(0);
    expect(lettersOf(stringifyJson(report as never))).not.toMatch(/[bpq]/);
    await expect(backtest({ org: 'acme' }, callers.socket)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(backtest({ org: 'butler' }, callers.owner)).rejects.toMatchObject({ code: 'NO_SUCH_ORG' });
  });

  it('gives a person in each organization the scopes of that organization alone', async () => {
    const { operations } = running.control;
    const [app, { id: ofButler }] = [stage.tenants.of.app, { id: stage.tenants.of.butler.unknown }];
    const both = personCaller({ forge: 'main', login: 'bea' }, [
      { org: 'butler', isOwner: true, repositories: [] },
      {
        org: 'acme',
        isOwner: false,
        repositories: [{ id: callers.writer.grants?.[0]?.repositories?.[0] ?? '', canWrite: true, units: null }],
      },
    ]);

    expect((await operations.run({ id: app.run }, both)).run.id).toBe(app.run);
    await expect(operations.retry({ id: app.dead }, both)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(operations.approve({ id: app.waiting, deny: true }, both)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await expect(operations.pause({ org: 'acme' }, both)).rejects.toMatchObject({ code: 'NO_SUCH_ORG' });
    expect(await operations.resolve({ id: ofButler, exists: true }, both)).toEqual({ resolved: true });
  });

  // The one who may is asked last: an order that one of the others had given would have nothing left to do.
  it.each(TABLE.map((one) => [one.name, one.what, one] as const))('%s %s', async (_name, _what, one) => {
    const found: string[] = [];
    for (const person of PEOPLE) found.push(await cell(one, person));

    expect(found.join(' ')).toBe(
      one.cells.replaceAll(/ +/g, ' ').replace(/(\S+)\/(\S+)$/, deployment === 'embedded' ? '$1' : '$2'),
    );
  });

  it('has recorded each order of whoever had the scope, with the name, and shows an owner those of the own organization', async () => {
    const { operations } = running.control;
    const recorded = async (): Promise<string[]> => {
      const { rows: acts } = await operations.acts({ limit: 1000 }, callers.socket);
      return [...new Set(acts.map(({ operation }) => operation))].sort();
    };
    const rehearsed = ['installHook', 'runJob', 'runSchedule'];
    // The table asked for dry runs of these, which change nothing. That of `erase` is the owner's, and counts.
    expect((await recorded()).filter((name) => rehearsed.includes(name))).toEqual([]);
    const inEarnest = { org: 'acme', dryRun: false };
    await Promise.allSettled([
      operations.installHook({ ...inEarnest, allEvents: false }, callers.socket),
      operations.runJob({ ...inEarnest, job: 'hooks.audit' }, callers.socket),
      operations.runSchedule({ ...inEarnest, schedule: 'nightly' }, callers.socket),
    ]);

    const { rows: acts } = await operations.acts({ limit: 1000 }, callers.socket);
    const { rows: own } = await operations.acts({ limit: 1000 }, callers.owner);
    const orders = Object.entries(OPERATIONS).flatMap(([name, { scope }]) => (scope === 'read' ? [] : [name]));

    expect(await recorded()).toEqual(orders.sort());
    expect([...new Set(acts.map(({ by }) => by))].sort()).toEqual([
      'person:bea@main',
      'person:bess@main',
      'person:olga@main',
      'socket:forgehand',
    ]);
    expect(own.map(({ id }) => id)).toEqual(acts.filter(({ org }) => org === 'acme').map(({ id }) => id));
    expect(own).toContainEqual(
      expect.objectContaining({
        by: 'person:olga@main',
        operation: 'pause',
        about: { rule: 'greet' },
        outcome: 'done',
      }),
    );
    expect(acts).toContainEqual(
      expect.objectContaining({ by: 'person:bess@main', operation: 'retry', org: null, outcome: 'NOT_FOUND' }),
    );
  });
});
