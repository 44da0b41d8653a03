import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { InvalidFile } from '../core/errors.js';
import { grouped } from '../core/grouped.js';
import { Secret } from '../core/secret.js';
import { parseDuration } from '../core/schedule-text.js';
import type {
  AppConfig,
  ConsoleConfig,
  ControlConfig,
  QueueConfig,
  ServerConfig,
  StoreConfig,
  Role,
} from './app-config.js';
import { ComposedConfig, type Path } from './composed-config.js';
import { ConfigFile, isShort, underOwnNames } from './config-file.js';
import { distinct, problemsOf } from './config-problems.js';
import { configSchema, type WrittenConfig } from './config-schema.js';
import { httpUrl, type AddressByRole } from './config-values.js';
import { parseLocatedYaml } from '../core/located-yaml.js';
import { NO_ORG_FILES, readOrgFiles, type OrgFiles } from './org-files.js';
import { checkNames, readForge, readOrg } from './read-orgs.js';
import { readMailServer } from './mail-schema.js';
import { isLoopback, listenAddress } from './safe-address.js';
import type { SecretReference } from './secret-reference.js';
import type { ConfigReader } from './secrets-of-role.js';

export interface ReadConfigOptions {
  /** Where `{ env: NAME }` is looked up, before the environment file beside the config; default the process environment. */
  env?: NodeJS.ProcessEnv;
  /** Who reads it, which decides the secrets that are read; default `all`. */
  reader?: ConfigReader;
  /** Told each address of `metrics.listen` and `control.listen` and each path of `control.socket`, of every role, under its key (`metrics.listen.web`). */
  listensAt?: (key: string, address: string) => void;
}

/**
 * Read the operator's config file, and the files of `orgs.d` beside it: strict, every mistake at once, secrets resolved, defaults filled in, frozen.
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
  return parseConfig(path, text, options, readOrgFiles(path));
}

/** The same of a text. @param orgFiles the organizations that have a file each */
export function parseConfig(
  path: string,
  text: string,
  options: ReadConfigOptions = {},
  orgFiles: OrgFiles = NO_ORG_FILES,
): AppConfig {
  const { yaml, problems } = parseLocatedYaml(path, text);
  if (!yaml || orgFiles.problems.length > 0)
    throw new InvalidFile([...problems, ...orgFiles.problems], 'INVALID_CONFIG');
  const composed = new ComposedConfig({ path, yaml }, orgFiles.files);
  const parsed = configSchema.safeParse(composed.value);
  if (!parsed.success)
    throw new InvalidFile(
      distinct(parsed.error.issues.flatMap((issue) => problemsOf(composed, issue))),
      'INVALID_CONFIG',
    );
  const file = new ConfigFile(composed, options.env ?? process.env, options.reader ?? 'all');
  file.warnings.push(...orgFiles.warnings);
  return new ConfigBuilder(file, options.listensAt).build(parsed.data);
}

/** Default of `server.unverified_bytes`, where bodies are of the default size. */
const UNVERIFIED_BYTES = 40 * 1024 * 1024;

/** Turns the written config into the used one, collecting what only shows across keys (references, secrets, roles of urls). */
class ConfigBuilder {
  constructor(
    private readonly file: ConfigFile,
    private readonly listensAt: ReadConfigOptions['listensAt'],
  ) {}

  build(written: WrittenConfig): AppConfig {
    checkNames(this.file, written);
    const store = this.store(written);
    const named = grouped(written.orgs, ({ name }) => name.toLowerCase());
    const isShared = ({ name }: { name: string }): boolean => (named.get(name.toLowerCase())?.length ?? 0) > 1;
    const maxAgeMs = this.maxAge(written.retention.max_age);
    const config: AppConfig = {
      file: this.file.path,
      forges: written.forges.map((forge, i) => readForge(this.file, forge, ['forges', i])),
      orgs: written.orgs.map((org, i) => readOrg(this.file, org, ['orgs', i], isShared(org))),
      store,
      queue: this.queue(written),
      server: this.server(written),
      control: this.control(written, store),
      console: this.console(written),
      metrics: this.metrics(written.metrics),
      alerts: this.alerts(written.alerts),
      retention: {
        inboxDays: written.retention.inbox_days,
        maxAgeMs,
        archive: this.file.resolve(written.retention.archive),
        historyDays: written.retention.history_days,
        actsDays: written.retention.acts_days ?? null,
        repeatDays: this.repeatDays(written.retention.repeat_days, maxAgeMs),
        tickDays: written.retention.tick_days,
      },
      housekeeping: underOwnNames(written.housekeeping),
      keys: { data: this.file.secret('data key', written.keys.data, ['keys', 'data']) },
      log: written.log,
      warnings: distinct(this.file.warnings),
    };
    if (store.kind === 'postgres' && !config.keys.data)
      this.file.problem(
        ['keys'],
        'keys.data is missing',
        'with PostgreSQL give one key to all processes: keys: { data: { env: FORGEHAND_DATA_KEY } }',
      );
    if (config.keys.data && isShort(config.keys.data))
      this.file.problem(
        ['keys', 'data'],
        'keys.data is shorter than 32 characters',
        'make one with: openssl rand -hex 32',
      );
    if (this.file.problems.length > 0) throw new InvalidFile(distinct(this.file.problems), 'INVALID_CONFIG');
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
    if (bytes < least)
      this.file.problem(['server', 'unverified_bytes'], `server.unverified_bytes: ${tooSmall(bytes)}`, fix);
    else if (bytesPerAddress < least)
      this.file.problem(
        ['server', 'unverified_bytes_per_address'],
        `server.unverified_bytes_per_address: ${tooSmall(bytesPerAddress)}`,
        fix,
      );
    this.file.checkNoQuery(server.public_url, ['server', 'public_url']);
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

  private maxAge(written: string | undefined): number | null {
    if (written === undefined) return null;
    const days = /^(\d{1,4})d$/.exec(written)?.[1];
    const seconds = days === undefined ? parseDuration(written) : Number(days) * DAY_S;
    if (seconds !== null && seconds >= MIN_MAX_AGE_S && seconds <= MAX_MAX_AGE_S) return seconds * 1000;
    return this.file.problem(
      ['retention', 'max_age'],
      `"${written}" is no age of an act`,
      'a duration from 1h to 3650d, like 7d',
    );
  }

  /** What is forgotten can come again: an age must hold it instead. */
  private repeatDays(days: number | undefined, maxAgeMs: number | null): number | null {
    if (days === undefined) return null;
    if (maxAgeMs === null || maxAgeMs > days * DAY_S * 1000)
      this.file.problem(
        ['retention', 'repeat_days'],
        'retention.repeat_days needs a retention.max_age that is not longer: the bot would decide a delivery that comes again once more',
        `write max_age: 7d, or at most ${days}d`,
      );
    return days;
  }

  private store(written: WrittenConfig): StoreConfig {
    const url = this.file.url('store', written.store.url, ['store', 'url']);
    // Only a command may be without it, and only until it opens the store.
    if (url === null) return { kind: 'postgres', url: Secret.withheld('store.url is not known to this command') };
    if (url.startsWith('embedded:'))
      return {
        kind: 'embedded',
        dir: this.file.resolve(url.slice('embedded:'.length) || './data'),
        group: written.store.group ?? null,
      };
    if (/^postgres(ql)?:\/\//.test(url)) return { kind: 'postgres', url: new Secret(url) };
    this.file.problem(['store', 'url'], 'store.url is neither embedded:DIR nor postgres://…');
    return { kind: 'embedded', dir: this.file.resolve('.') };
  }

  private queue(written: WrittenConfig): QueueConfig {
    const url = this.file.url('queue', written.queue.url, ['queue', 'url']);
    const sweepS = written.queue.sweep_s;
    // Without the queue's address nothing is announced, and the workers' sweep finds what is due.
    if (url === null || url === 'embedded') return { kind: 'embedded', sweepS };
    if (/^rediss?:\/\//.test(url)) return { kind: 'redis', url: new Secret(url), sweepS };
    this.file.problem(['queue', 'url'], 'queue.url is neither embedded nor redis://…');
    return { kind: 'embedded', sweepS };
  }

  private control(written: WrittenConfig, store: StoreConfig): ControlConfig {
    const { socket, tls } = written.control;
    const listen = this.listen(written.control.listen, ['control', 'listen']);
    const token = this.file.secret('control', written.control.token, ['control', 'token']);
    if (listen && (!token || isShort(token)))
      this.file.problem(
        ['control'],
        'control.listen needs a control.token of at least 32 characters',
        'make one with: openssl rand -hex 32',
      );
    if (listen && !tls && !isLoopback(listenAddress(listen).host))
      this.file.problem(
        ['control', 'listen'],
        `control.listen ${listen} can be reached from other machines, and its token would cross the network in the clear`,
        'set control.tls: { cert_file, key_file }, or listen on 127.0.0.1',
      );
    const beside = store.kind === 'embedded' ? join(store.dir, 'run', 'control.sock') : null;
    return {
      socket:
        this.file.resolve(this.ofRole(socket, ['control', 'socket'], (path) => this.file.resolve(path)) ?? undefined) ??
        beside,
      // A process that was not given the token does not listen. A command listens to nobody, and may have a token of its own.
      listen: listen && (this.file.reader === 'command' || !token?.isWithheld) ? listen : null,
      token: this.file.reader !== 'command' && token?.isWithheld ? null : token,
      tls: tls ? { certFile: this.file.resolve(tls.cert_file), keyFile: this.file.resolve(tls.key_file) } : null,
    };
  }

  /** The address of this process; null = it does not listen there. */
  private listen(written: AddressByRole | undefined, path: Path): string | null {
    const address = this.ofRole(written, path, onLoopback);
    return address === null ? null : onLoopback(address);
  }

  /** The address or path of this process, of which each role that is named has one of its own; null = it has none. */
  private ofRole(written: AddressByRole | undefined, path: Path, whole: (one: string) => string): string | null {
    const key = path.join('.');
    const report = (name: string, one: string): void => this.listensAt?.(name, whole(one));
    if (written === undefined) return null;
    if (typeof written === 'string') {
      report(key, written);
      return written;
    }
    const named = ROLES.filter((role) => written[role] !== undefined);
    for (const role of named) {
      const own = written[role] ?? '';
      report(`${key}.${role}`, own);
      const same = named.find((other) => whole(written[other] ?? '') === whole(own));
      if (same !== role && !own.endsWith(':0') && own !== '0')
        this.file.problem([...path, role], `${key} gives ${same} and ${role} the same address`, 'give each its own');
    }
    const own = this.file.reader === 'command' ? named[0] : this.file.reader;
    return (own && written[own]) ?? null;
  }

  private console({ console: { enabled, ...written }, forges }: WrittenConfig): ConsoleConfig {
    const listen = onLoopback(written.listen);
    const publicUrl = written.public_url ? new URL(written.public_url) : null;
    if (publicUrl) this.publicUrl(publicUrl, ['console', 'public_url']);
    if (enabled && !isLoopback(listenAddress(listen).host) && publicUrl?.protocol !== 'https:')
      this.file.problem(
        ['console', 'listen'],
        `console.listen ${listen} can be reached from other machines, and sessions would cross the network in the clear`,
        'set console.public_url to the https address of the proxy before it, or listen on 127.0.0.1',
      );
    for (const [i, operator] of written.operators.entries())
      if (!forges.some(({ id }) => id === operator.slice(operator.indexOf('@') + 1)))
        this.file.problem(['console', 'operators', i], `there is no forge of "${operator}"`, 'forges[].id names them');
    return {
      enabled,
      listen,
      publicUrl: publicUrl?.origin ?? null,
      operators: written.operators.map((operator) => operator.toLowerCase()),
    };
  }

  private publicUrl(url: URL, path: Path): void {
    this.file.checkSecretFree(url.href, path);
    if (url.protocol !== 'https:' && !isLoopback(url.hostname))
      this.file.problem(path, `${path.join('.')} is http: sessions would cross the network in the clear`, 'use https');
    if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
      this.file.problem(
        path,
        `${path.join('.')} has a path`,
        `write ${url.origin}: the Console has a host name of its own`,
      );
  }

  private metrics(written: WrittenConfig['metrics']): AppConfig['metrics'] {
    if (!written) return null;
    const listen = this.listen(written.listen, ['metrics', 'listen']);
    if (listen === null) return null;
    const token = written.token ? this.file.longSecret('metrics', written.token, ['metrics', 'token']) : null;
    if (!token && !isLoopback(listenAddress(listen).host))
      this.file.problem(
        ['metrics', 'listen'],
        `metrics.listen ${listen} can be reached from other machines and needs a token`,
        'set metrics.token: { env: NAME }, or listen on 127.0.0.1; /healthz and /readyz answer without it',
      );
    return { listen, token, maxOrgs: written.max_orgs };
  }

  private alerts(written: WrittenConfig['alerts']): AppConfig['alerts'] {
    if (!written) return null;
    const { format, mail, secret, url } = written;
    const needed = format === 'mail' ? ['mail'] : format === 'slack' ? ['url'] : ['url', 'secret'];
    for (const key of ['url', 'secret', 'mail'] as const)
      if ((written[key] !== undefined) !== needed.includes(key))
        this.file.problem(
          ['alerts'],
          `alerts.${key} ${needed.includes(key) ? 'is missing' : `means nothing with format: ${format}`}`,
          needed.includes(key) ? `alerts of the format ${format} need it` : 'take it away',
        );
    const server = mail ? readMailServer(this.file, 'alerts', mail, ['alerts', 'mail']) : null;
    const read = format === 'webhook' ? this.file.longSecret.bind(this.file) : this.file.secret.bind(this.file);
    const credential = secret ? read('alerts', secret, ['alerts', 'secret']) : null;
    const to = mail ? new Secret(mail.to.join(' ')) : this.alertAddress(url, written.insecure_http);
    const isWithheld = [to, credential, server?.login?.password].some((one) => one?.isWithheld);
    return to === null || isWithheld ? null : { format, to, credential, server };
  }

  private alertAddress(
    written: string | SecretReference | undefined,
    reasonForHttp: string | undefined,
  ): Secret | null {
    if (written === undefined) return null;
    const path = ['alerts', 'url'];
    const to = typeof written === 'string' ? new Secret(written) : this.file.secret('alerts', written, path);
    if (to.isEmpty) return to;
    if (!httpUrl.safeParse(to.reveal()).success)
      return this.file.problem(path, 'alerts.url is no http or https address');
    this.file.checkAddress(
      // What stands in no file may hold a secret.
      typeof written === 'string' ? written : new URL(to.reveal()).origin,
      path,
      reasonForHttp,
      'take it away: the receiver knows an alert by its signature (alerts.secret)',
    );
    return to;
  }
}

const DAY_S = 86_400;
const MIN_MAX_AGE_S = 3600;
const MAX_MAX_AGE_S = 3650 * DAY_S;

/** As a command asks them: a web process cannot answer what reads the store. */
const ROLES = ['all', 'worker', 'scheduler', 'console', 'web'] as const satisfies readonly Role[];

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
