import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { InvalidFile } from '../core/errors.js';
import type { Problem } from '../core/problem.js';
import { Secret } from '../core/secret.js';
import { cronFault, isZone, parseDuration } from '../core/schedule-text.js';
import type {
  AuthConfig,
  AppConfig,
  ConsoleConfig,
  ControlConfig,
  ForgeConfig,
  FreezeConfig,
  HookConfig,
  OrgConfig,
  QueueConfig,
  RulesConfig,
  ServerConfig,
  StoreConfig,
} from './app-config.js';
import { configSchema } from './config-schema.js';
import type { WrittenConfig } from './config-schema.js';
import { didYouMean } from '../core/did-you-mean.js';
import { parseLocatedYaml } from '../core/located-yaml.js';
import type { LocatedYaml } from '../core/located-yaml.js';
import { EnvironmentFile, environmentFileOf } from './environment-file.js';
import { isLoopback, listenAddress, secretInAddress } from './safe-address.js';
import { resolveSecret } from './secret-reference.js';
import type { SecretReference } from './secret-reference.js';
import type { ConfigReader, SecretGroup } from './secrets-of-role.js';
import { SECRETS_OF_ROLE } from './secrets-of-role.js';
import { tableOf } from '../core/table.js';

export interface ReadConfigOptions {
  /** Where `{ env: NAME }` is looked up, before the environment file beside the config; default the process environment. */
  env?: NodeJS.ProcessEnv;
  /** Who reads it, which decides the secrets that are read; default `all`. */
  reader?: ConfigReader;
}

/**
 * Read the operator's config file once: strict, every mistake at once, secrets resolved, defaults filled in, frozen.
 * @throws InvalidFile with file:line:col for each problem
 */
export function readConfig(file: string, options: ReadConfigOptions = {}): AppConfig {
  const path = resolve(file);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw new InvalidFile(
      [
        {
          file,
          line: 1,
          col: 1,
          message: code === 'ENOENT' ? 'no such file' : `cannot be read (${code})`,
          hint: 'give its path with --config, or make one: forgehand init',
        },
      ],
      'INVALID_CONFIG',
    );
  }
  return parseConfig(path, text, options);
}

export function parseConfig(path: string, text: string, options: ReadConfigOptions = {}): AppConfig {
  const { yaml, problems } = parseLocatedYaml(path, text);
  if (!yaml) throw new InvalidFile(problems, 'INVALID_CONFIG');
  const parsed = configSchema.safeParse(yaml.value ?? {});
  if (!parsed.success)
    throw new InvalidFile(
      parsed.error.issues.flatMap((issue) => problemsOf(path, yaml, issue)),
      'INVALID_CONFIG',
    );
  return new ConfigBuilder(path, yaml, options.env ?? process.env, options.reader ?? 'all').build(parsed.data);
}

/** Default of `server.unverified_bytes`, where bodies are of the default size. */
const UNVERIFIED_BYTES = 40 * 1024 * 1024;

/** Every key name of the schema, for did-you-mean. */
const KNOWN_KEYS: readonly string[] = collectKeys(
  z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' }),
);

function collectKeys(schema: unknown, keys = new Set<string>()): string[] {
  if (typeof schema === 'object' && schema !== null) {
    for (const [name, value] of Object.entries(schema)) {
      if (name === 'properties') for (const key of Object.keys(value as object)) keys.add(key);
      collectKeys(value, keys);
    }
  }
  return [...keys];
}

/** What a value must be, for people. */
const KINDS = tableOf({
  array: 'a list',
  object: 'a map of keys',
  record: 'a map of keys',
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
});

function problemsOf(file: string, yaml: LocatedYaml, issue: z.core.$ZodIssue): Problem[] {
  const at = issue.path.join('.') || 'the file';
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const meant = didYouMean(key, KNOWN_KEYS);
      const hint =
        meant === key ? 'there is such a key in another part of the file' : meant && `did you mean "${meant}"?`;
      return {
        file,
        ...yaml.positionOf([...issue.path, key], true),
        message: `unknown key "${key}"`,
        ...(hint ? { hint } : {}),
      };
    });
  }
  const place = { file, ...yaml.positionOf(issue.path) };
  // eslint-disable-next-line local/no-decision-by-text -- zod marks messages of its own by nothing else
  const isOfZod = issue.message.startsWith('Invalid input');
  if (valueAt(yaml.value, issue.path) !== undefined) {
    const kind = isOfZod && issue.code === 'invalid_type' ? KINDS[issue.expected] : undefined;
    return [{ ...place, message: kind === undefined ? `${at}: ${issue.message}` : `${at} must be ${kind}` }];
  }
  // What is missing has no type; a message of the schema's own says what to write.
  return [
    {
      ...place,
      message: `${at} is missing`,
      ...(isOfZod ? {} : { hint: issue.message }),
    },
  ];
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined,
    root,
  );
}

/** Turns the written config into the used one, collecting what only shows across keys (references, secrets, roles of urls). */
class ConfigBuilder {
  private readonly problems: Problem[] = [];
  private readonly warnings: Problem[] = [];
  private readonly folder: string;
  private readonly environmentFile: EnvironmentFile;

  constructor(
    private readonly file: string,
    private readonly yaml: LocatedYaml,
    private readonly env: NodeJS.ProcessEnv,
    private readonly reader: ConfigReader,
  ) {
    this.folder = dirname(file);
    this.environmentFile = new EnvironmentFile(environmentFileOf(file));
  }

  build(written: WrittenConfig): AppConfig {
    this.checkNames(written);
    const store = this.store(written);
    const config: AppConfig = {
      file: this.file,
      forges: written.forges.map((forge, i) => this.forge(forge, ['forges', i])),
      orgs: written.orgs.map((org, i) => this.org(org, ['orgs', i])),
      store,
      queue: this.queue(written),
      server: this.server(written),
      control: this.control(written, store),
      console: this.console(written),
      metrics: this.metrics(written.metrics),
      alerts: this.alerts(written.alerts),
      retention: {
        inboxDays: written.retention.inbox_days,
        maxAgeMs: this.maxAge(written.retention.max_age),
        archive: written.retention.archive ? resolve(this.folder, written.retention.archive) : null,
        tickDays: written.retention.tick_days,
      },
      housekeeping: { audits: written.housekeeping.audits, staleBranchDays: written.housekeeping.stale_branch_days },
      keys: { data: written.keys.data ? this.secret('data key', written.keys.data, ['keys', 'data']) : null },
      log: { level: written.log.level },
      warnings: this.warnings,
    };
    if (store.kind === 'postgres' && !config.keys.data)
      this.problem(
        ['keys'],
        'keys.data is missing',
        'with PostgreSQL give one key to all processes: keys: { data: { env: FORGEHAND_DATA_KEY } }',
      );
    if (config.keys.data && isShort(config.keys.data))
      this.problem(['keys', 'data'], 'keys.data is shorter than 32 characters', 'make one with: openssl rand -hex 32');
    if (this.problems.length > 0) throw new InvalidFile(this.problems, 'INVALID_CONFIG');
    return deepFreeze(config);
  }

  private server({ server }: WrittenConfig): ServerConfig {
    const { max_body_bytes: maxBodyBytes, unverified_bytes_per_address: ofOne } = server;
    const bytes = server.unverified_bytes ?? Math.max(UNVERIFIED_BYTES, 8 * maxBodyBytes, 2 * (ofOne ?? 0));
    const bytesPerAddress = ofOne ?? Math.max(4 * maxBodyBytes, Math.floor(bytes / 2));
    const least = 4 * maxBodyBytes;
    const fix = `write ${least} or more, or lower server.max_body_bytes`;
    const tooSmall = (what: number): string =>
      `${what} bytes are less than four largest deliveries (4 x ${maxBodyBytes})`;
    if (bytes < least) this.problem(['server', 'unverified_bytes'], `server.unverified_bytes: ${tooSmall(bytes)}`, fix);
    else if (bytesPerAddress < least)
      this.problem(
        ['server', 'unverified_bytes_per_address'],
        `server.unverified_bytes_per_address: ${tooSmall(bytesPerAddress)}`,
        fix,
      );
    this.checkNoQuery(server.public_url, ['server', 'public_url']);
    return {
      host: server.host,
      port: server.port,
      maxBodyBytes,
      publicUrl: server.public_url?.replace(/\/+$/, '') ?? null,
      trustedProxies: server.trusted_proxies,
      unverified: { bytes, bytesPerAddress },
      undecided: { bytes: server.undecided_bytes, bytesPerHook: server.undecided_bytes_per_hook },
    };
  }

  private checkNames(written: WrittenConfig): void {
    const seen = new Set<string>();
    const once = (what: string, name: string, path: PropertyKey[]): void => {
      if (seen.has(`${what} ${name.toLowerCase()}`))
        this.problem(path, `${what} "${name}" is there twice`, 'give each a name of its own');
      seen.add(`${what} ${name.toLowerCase()}`);
    };
    for (const [i, forge] of written.forges.entries()) once('forge', forge.id, ['forges', i, 'id']);
    for (const [i, org] of written.orgs.entries()) {
      // Rules, pauses and revisions are kept by the organization's name: two of one name need two bots.
      once('organization', org.name, ['orgs', i, 'name']);
      if (!written.forges.some((forge) => forge.id === org.forge)) {
        const meant = didYouMean(
          org.forge,
          written.forges.map((forge) => forge.id),
        );
        this.problem(
          ['orgs', i, 'forge'],
          `there is no forge "${org.forge}"`,
          meant ? `did you mean "${meant}"?` : 'forges[].id names them',
        );
      }
      for (const [j, hook] of org.hooks.entries()) once('hook', hook.id, ['orgs', i, 'hooks', j, 'id']);
      for (const [j, id] of org.repositories.entries()) {
        const other = written.orgs.find(
          ({ name, forge, repositories }) => name !== org.name && forge === org.forge && repositories.includes(id),
        );
        if (other)
          this.problem(
            ['orgs', i, 'repositories', j],
            `repository ${id} is named for ${other.name} as well: it belongs to one organization`,
            'take it away from the other',
          );
      }
    }
  }

  private forge(forge: WrittenConfig['forges'][number], path: PropertyKey[]): ForgeConfig {
    this.checkAddress(
      forge.base_url,
      [...path, 'base_url'],
      forge.insecure_http,
      'take it away: auth says how the bot signs in',
    );
    this.checkApiAddress(forge.base_url, [...path, 'base_url']);
    return {
      id: forge.id,
      baseUrl: forge.base_url.replace(/\/+$/, ''),
      auth: this.auth(forge.auth, [...path, 'auth']),
      oauth: forge.oauth
        ? {
            clientId: forge.oauth.client_id,
            clientSecret: this.secret('login', forge.oauth.client_secret, [...path, 'oauth', 'client_secret']),
          }
        : null,
      caFile: forge.ca_file ? resolve(this.folder, forge.ca_file) : null,
      proxy: forge.proxy === undefined ? null : this.proxy(forge.proxy, [...path, 'proxy']),
      concurrency: forge.concurrency,
      ratePerS: forge.rate_per_s,
      settleS: forge.settle_s,
      marks: forge.marks,
      account: accountOf(forge.account),
    };
  }

  private auth(auth: WrittenConfig['forges'][number]['auth'], path: PropertyKey[]): AuthConfig {
    return auth.type === 'token'
      ? { type: 'token', token: this.secret('forges', auth.token, [...path, 'token']) }
      : {
          type: 'basic',
          username: auth.username,
          password: this.secret('forges', auth.password, [...path, 'password']),
        };
  }

  private org(org: WrittenConfig['orgs'][number], path: PropertyKey[]): OrgConfig {
    return {
      name: org.name,
      forge: org.forge,
      auth: org.auth ? this.auth(org.auth, [...path, 'auth']) : null,
      hooks: org.hooks.map((hook, i) => this.hook(hook, [...path, 'hooks', i])),
      rules: this.rules(org, [...path, 'rules']),
      repositories: [...new Set(org.repositories)],
      powers: org.powers,
      mirrorHosts: org.mirror_hosts,
      trusted: org.trusted,
      limits: limitsOf(org),
      answers: org.answers,
      notifyHosts: org.notify_hosts,
      tasks: { callsPerPoll: org.tasks.calls_per_poll },
      lists: { everyS: org.lists.every_s, callsPerVisit: org.lists.calls_per_visit },
      feed: { everyS: org.feed.every_s, graceS: org.feed.grace_s },
      freeze: org.freeze.flatMap((window, i) => this.freeze(window, [...path, 'freeze', i]) ?? []),
      promotion: { minDecisions: org.promotion.min_decisions },
      budgets: {
        effectsPerHour: limitOf(org.budgets.effects_per_hour),
        perRepository: limitOf(org.budgets.per_repository),
        perRule: limitOf(org.budgets.per_rule),
        perActor: limitOf(org.budgets.per_actor),
        perStranger: limitOf(org.budgets.per_stranger),
        effectsPerPlan: org.budgets.effects_per_plan ?? null,
        percentOfSubjects: org.budgets.percent_of_subjects ?? null,
      },
      secrets: Object.fromEntries(
        Object.entries(org.secrets).map(([name, reference]) => [
          name,
          this.secret('orgs', reference, [...path, 'secrets', name]),
        ]),
      ),
    };
  }

  private freeze(window: WrittenConfig['orgs'][number]['freeze'][number], path: PropertyKey[]): FreezeConfig | null {
    const { tz, reason, from, to, cron } = window;
    if (!isZone(tz))
      return this.problem([...path, 'tz'], `there is no time zone "${tz}"`, 'names are like Europe/Paris');
    if (from !== undefined && to !== undefined && cron === undefined && window.for === undefined) {
      const [fromWallMs, toWallMs] = [wallMs(from, false), wallMs(to, true)];
      if (Number.isNaN(fromWallMs)) return this.problem([...path, 'from'], `there is no time "${from}"`);
      if (Number.isNaN(toWallMs)) return this.problem([...path, 'to'], `there is no time "${to}"`);
      return toWallMs > fromWallMs
        ? { kind: 'once', fromWallMs, toWallMs, tz, reason }
        : this.problem([...path, 'to'], `"${to}" is not after "${from}"`);
    }
    if (cron === undefined || window.for === undefined || from !== undefined || to !== undefined)
      return this.problem(
        path,
        'a freeze is from and to, or cron and for',
        '{ from: 2026-12-24, to: 2027-01-02, reason: … } or { cron: "0 17 * * 5", for: 62h, reason: … }',
      );
    const fault = cronFault(cron, tz);
    if (fault) return this.problem([...path, 'cron'], ...fault);
    const forS = parseDuration(window.for);
    if (forS === null || forS < 60 || forS > MAX_FREEZE_S)
      return this.problem(
        [...path, 'for'],
        `"${window.for}" is no length of a freeze`,
        'a duration from 1m to 744h, like 62h',
      );
    return { kind: 'again', cron, forS, tz, reason };
  }

  private maxAge(written: string | undefined): number | null {
    if (written === undefined) return null;
    const days = /^(\d{1,4})d$/.exec(written)?.[1];
    const seconds = days === undefined ? parseDuration(written) : Number(days) * DAY_S;
    if (seconds !== null && seconds >= MIN_MAX_AGE_S && seconds <= MAX_MAX_AGE_S) return seconds * 1000;
    return this.problem(
      ['retention', 'max_age'],
      `"${written}" is no age of an act`,
      'a duration from 1h to 3650d, like 7d',
    );
  }

  private rules({ name, rules }: WrittenConfig['orgs'][number], path: PropertyKey[]): RulesConfig {
    const { repository, branch, repository_id: id, every_s: everyS } = rules;
    if ((rules.path === undefined) === (repository === undefined))
      this.problem(
        path,
        'rules come from a folder (path) or from a repository of the organization (repository): one of the two',
        'rules: { path: FOLDER } or rules: { repository: owner/name }',
      );
    if (repository !== undefined && repository.split('/')[0]?.toLowerCase() !== name.toLowerCase())
      this.problem(
        [...path, 'repository'],
        `rules of ${name} come from a repository of ${name}, and ${repository} is none`,
        `write ${name}/NAME`,
      );
    if (repository === undefined && (rules.accept !== undefined || rules.require.reviews > 0 || rules.require.signed))
      this.problem(path, 'accept and require belong to a repository', 'add repository: owner/name');
    if (rules.accept !== undefined && rules.require.reviews > 0)
      this.problem(
        [...path, 'accept'],
        'accept: open-branch takes what nobody reviewed, and require.reviews asks for reviews',
        'take one of the two away',
      );
    if (repository === undefined && (branch !== undefined || id !== undefined))
      this.problem(path, 'branch and repository_id belong to a repository', 'add repository: owner/name');
    return {
      path: rules.path === undefined ? null : resolve(this.folder, rules.path),
      repository:
        repository === undefined
          ? null
          : {
              name: repository,
              branch: branch ?? null,
              id: id ?? null,
              everyS,
              acceptsOpenBranch: rules.accept === 'open-branch',
              require: rules.require,
            },
      extendsFrom: rules.extends_from.map((place) => resolve(this.folder, place)),
      shadow: rules.shadow ? { path: resolve(this.folder, rules.shadow.path) } : null,
    };
  }

  private hook(hook: WrittenConfig['orgs'][number]['hooks'][number], path: PropertyKey[]): HookConfig {
    if (!hook.secret && !hook.authorization)
      this.problem(
        path,
        `hook "${hook.id}" names neither a secret nor an authorization`,
        'secret: { env: NAME } is the usual one',
      );
    return {
      id: hook.id,
      secrets: list(hook.secret).map((reference, i) =>
        this.longSecret('hooks', reference, [...path, 'secret', ...(Array.isArray(hook.secret) ? [i] : [])]),
      ),
      authorizations: list(hook.authorization).map((reference, i) =>
        this.longSecret('hooks', reference, [
          ...path,
          'authorization',
          ...(Array.isArray(hook.authorization) ? [i] : []),
        ]),
      ),
    };
  }

  private store(written: WrittenConfig): StoreConfig {
    const url = this.url('store', written.store.url, ['store', 'url']);
    // Only a command may be without it, and only until it opens the store.
    if (url === null) return { kind: 'postgres', url: Secret.withheld('store.url is not known to this command') };
    if (url.startsWith('embedded:'))
      return {
        kind: 'embedded',
        dir: resolve(this.folder, url.slice('embedded:'.length) || './data'),
        group: written.store.group ?? null,
      };
    if (/^postgres(ql)?:\/\//.test(url)) return { kind: 'postgres', url: new Secret(url) };
    this.problem(['store', 'url'], 'store.url is neither embedded:DIR nor postgres://…');
    return { kind: 'embedded', dir: this.folder };
  }

  private queue(written: WrittenConfig): QueueConfig {
    const url = this.url('queue', written.queue.url, ['queue', 'url']);
    const sweepS = written.queue.sweep_s;
    // Without the queue's address nothing is announced, and the workers' sweep finds what is due.
    if (url === null || url === 'embedded') return { kind: 'embedded', sweepS };
    if (/^rediss?:\/\//.test(url)) return { kind: 'redis', url: new Secret(url), sweepS };
    this.problem(['queue', 'url'], 'queue.url is neither embedded nor redis://…');
    return { kind: 'embedded', sweepS };
  }

  private control(written: WrittenConfig, store: StoreConfig): ControlConfig {
    const { socket, tls } = written.control;
    const listen = written.control.listen && onLoopback(written.control.listen);
    const token = written.control.token ? this.secret('control', written.control.token, ['control', 'token']) : null;
    if (listen && (!token || isShort(token)))
      this.problem(
        ['control'],
        'control.listen needs a control.token of at least 32 characters',
        'make one with: openssl rand -hex 32',
      );
    if (listen && !tls && !isLoopback(listenAddress(listen).host))
      this.problem(
        ['control', 'listen'],
        `control.listen ${listen} can be reached from other machines, and its token would cross the network in the clear`,
        'set control.tls: { cert_file, key_file }, or listen on 127.0.0.1',
      );
    const path = socket
      ? resolve(this.folder, socket)
      : store.kind === 'embedded'
        ? join(store.dir, 'run', 'control.sock')
        : null;
    return {
      socket: path,
      // A process that was not given the token does not listen. A command listens to nobody, and may have a token of its own.
      listen: listen && (this.reader === 'command' || !token?.isWithheld) ? listen : null,
      token: this.reader !== 'command' && token?.isWithheld ? null : token,
      tls: tls ? { certFile: resolve(this.folder, tls.cert_file), keyFile: resolve(this.folder, tls.key_file) } : null,
    };
  }

  private console({ console: { enabled, ...written }, forges }: WrittenConfig): ConsoleConfig {
    const listen = onLoopback(written.listen);
    const publicUrl = written.public_url ? new URL(written.public_url) : null;
    if (publicUrl) this.publicUrl(publicUrl, ['console', 'public_url']);
    if (enabled && !isLoopback(listenAddress(listen).host) && publicUrl?.protocol !== 'https:')
      this.problem(
        ['console', 'listen'],
        `console.listen ${listen} can be reached from other machines, and sessions would cross the network in the clear`,
        'set console.public_url to the https address of the proxy before it, or listen on 127.0.0.1',
      );
    for (const [i, operator] of written.operators.entries())
      if (!forges.some(({ id }) => id === operator.slice(operator.indexOf('@') + 1)))
        this.problem(['console', 'operators', i], `there is no forge of "${operator}"`, 'forges[].id names them');
    return {
      enabled,
      listen,
      publicUrl: publicUrl?.origin ?? null,
      operators: written.operators.map((operator) => operator.toLowerCase()),
    };
  }

  private publicUrl(url: URL, path: PropertyKey[]): void {
    this.checkSecretFree(url.href, path);
    if (url.protocol !== 'https:' && !isLoopback(url.hostname))
      this.problem(path, `${path.join('.')} is http: sessions would cross the network in the clear`, 'use https');
    if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
      this.problem(path, `${path.join('.')} has a path`, `write ${url.origin}: the Console has a host name of its own`);
  }

  private metrics(written: WrittenConfig['metrics']): AppConfig['metrics'] {
    if (!written) return null;
    const listen = onLoopback(written.listen);
    const token = written.token ? this.longSecret('metrics', written.token, ['metrics', 'token']) : null;
    if (!token && !isLoopback(listenAddress(listen).host))
      this.problem(
        ['metrics', 'listen'],
        `metrics.listen ${listen} can be reached from other machines and needs a token`,
        'set metrics.token: { env: NAME }, or listen on 127.0.0.1; /healthz and /readyz answer without it',
      );
    return { listen, token };
  }

  private alerts(written: WrittenConfig['alerts']): AppConfig['alerts'] {
    if (!written) return null;
    this.checkAddress(
      written.url,
      ['alerts', 'url'],
      written.insecure_http,
      'take it away: the receiver knows an alert by its signature (alerts.secret)',
    );
    const secret = this.longSecret('alerts', written.secret, ['alerts', 'secret']);
    return secret.isWithheld ? null : { url: written.url, secret };
  }

  private proxy(written: string | SecretReference, path: PropertyKey[]): Secret {
    if (typeof written !== 'string') return this.secret('forges', written, path);
    this.checkSecretFree(written, path);
    return new Secret(written);
  }

  /** @returns null when it is a secret that is not there: this reader may do without it, or the mistake is told */
  private url(group: SecretGroup, written: string | SecretReference, path: PropertyKey[]): string | null {
    if (typeof written === 'string') {
      this.checkSecretFree(written, path);
      return written;
    }
    const secret = this.secret(group, written, path);
    return secret.isEmpty ? null : secret.reveal();
  }

  /** An address of another service: no secret in it, and no secret sent to it in the clear. */
  private checkAddress(address: string, path: PropertyKey[], reasonForHttp: string | undefined, wayOut: string): void {
    this.checkSecretFree(address, path, wayOut);
    const { protocol, hostname } = new URL(address);
    if (protocol === 'https:' || reasonForHttp !== undefined || isLoopback(hostname)) return;
    this.problem(
      path,
      `${path.join('.')} is http: what is sent there can be read and changed on the way`,
      'use https, or say why it is safe here: insecure_http: "reason"',
    );
  }

  /** The paths of all calls go behind it: what does not end in /api/v1 answers, as a page or with 404, and never as an API. */
  private checkApiAddress(address: string, path: PropertyKey[]): void {
    const { origin, pathname, search, hash } = new URL(address);
    if (pathname.replace(/\/+$/, '').endsWith('/api/v1') && search === '' && hash === '') return;
    if (secretInAddress(address)) return;
    const below = pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
    const other = below === '' ? '' : `, or ${origin}${below}/api/v1 if the server itself lives below ${below}`;
    this.problem(
      path,
      `${path.join('.')} does not end in /api/v1: it is no address of an API`,
      `write ${origin}/api/v1${other}`,
    );
  }

  private checkNoQuery(address: string | undefined, path: PropertyKey[]): void {
    const url = address === undefined ? null : new URL(address);
    if (url === null || (url.search === '' && url.hash === '')) return;
    this.problem(
      path,
      `${path.join('.')} has a query: the forge could not reach the paths behind it`,
      `write ${url.origin}${url.pathname.replace(/\/+$/, '')}`,
    );
  }

  private checkSecretFree(
    address: string,
    path: PropertyKey[],
    wayOut = 'give the whole address as { env: NAME }',
  ): void {
    const found = secretInAddress(address);
    if (found) this.problem(path, `${path.join('.')} holds ${found}: a secret does not belong in this file`, wayOut);
  }

  /** A secret that this reader's role has, and otherwise one that cannot be revealed. */
  private secret(group: SecretGroup, reference: SecretReference, path: PropertyKey[]): Secret {
    const need = SECRETS_OF_ROLE[this.reader][group];
    const name = path.join('.');
    if (need === 'withheld') return Secret.withheld(`${name} is not for a process of the role ${this.reader}`);
    const resolved = resolveSecret(reference, this.env, this.folder, this.environmentFile);
    if (resolved instanceof Secret) return resolved;
    if (need === 'optional') return Secret.withheld(`${name}: ${resolved}`);
    this.problem(path, `${name}: ${resolved}`);
    return new Secret('');
  }

  /** A secret that others could guess by trying: a short one is told. */
  private longSecret(group: SecretGroup, reference: SecretReference, path: PropertyKey[]): Secret {
    const secret = this.secret(group, reference, path);
    if (isShort(secret))
      this.warn(
        path,
        `${path.join('.')} is shorter than ${MIN_SECRET_CHARACTERS} characters; the next version refuses it`,
        'make one with: openssl rand -hex 32',
      );
    return secret;
  }

  private warn(path: PropertyKey[], message: string, hint: string): void {
    this.warnings.push({ file: this.file, ...this.yaml.positionOf(path), message, hint });
  }

  private problem(path: PropertyKey[], message: string, hint?: string): null {
    this.problems.push({ file: this.file, ...this.yaml.positionOf(path), message, ...(hint ? { hint } : {}) });
    return null;
  }
}

/** 128 bits, written in hex. */
const MIN_SECRET_CHARACTERS = 32;

function isShort(secret: Secret): boolean {
  return !secret.isEmpty && secret.reveal().length < MIN_SECRET_CHARACTERS;
}

const MAX_FREEZE_S = 31 * 24 * 3600;
const DAY_S = 86_400;
const MIN_MAX_AGE_S = 3600;
const MAX_MAX_AGE_S = 3650 * DAY_S;

/** @param isEnd a day then means its end; NaN when the calendar has no such time */
function wallMs(text: string, isEnd: boolean): number {
  const [day = '', time] = text.split('T');
  const at = Date.parse(`${day}T${time ?? '00:00'}:00Z`);
  if (Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== day) return Number.NaN;
  return isEnd && time === undefined ? at + 24 * 3_600_000 : at;
}

function list<T>(value: T | T[] | undefined): T[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}

/** A bare port listens on 127.0.0.1 only. */
function onLoopback(address: string): string {
  return /^\d+$/.test(address) ? `127.0.0.1:${address}` : address;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !(value instanceof Secret) && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}

function limitOf(written: number | 'none'): number | null {
  return written === 'none' ? null : written;
}

function accountOf(written: WrittenConfig['forges'][number]['account']): Record<string, string | boolean> | null {
  return written
    ? Object.fromEntries(
        Object.entries(written).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
      )
    : null;
}

/** Rules from a repository are written by others than the operator: what the operator does not allow them is refused. */
function limitsOf({ limits, rules }: WrittenConfig['orgs'][number]): OrgConfig['limits'] {
  const isAllowed = (word: 'refuse' | 'allow' | undefined): boolean =>
    (word ?? (rules.repository === undefined ? 'allow' : 'refuse')) === 'allow';
  return {
    merges: isAllowed(limits.merges),
    privateMirrors: isAllowed(limits.private_mirrors),
    privateReads: isAllowed(limits.private_reads),
  };
}
