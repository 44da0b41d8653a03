import { dirname, resolve } from 'node:path';
import type { Position, Problem } from '../core/problem.js';
import { Secret } from '../core/secret.js';
import type { ComposedConfig, Path } from './composed-config.js';
import { EnvironmentFile, environmentFileOf } from './environment-file.js';
import { isLoopback, secretInAddress } from './safe-address.js';
import { resolveSecret, type SecretReference } from './secret-reference.js';
import { SECRETS_OF_ROLE, type ConfigReader, type SecretGroup } from './secrets-of-role.js';

/** The config that is read: its secrets, its folder, and what is wrong in it, each with its place. */
export class ConfigFile {
  readonly problems: Problem[] = [];
  readonly warnings: Problem[] = [];
  private readonly folder: string;
  private readonly environmentFile: EnvironmentFile;

  constructor(
    private readonly config: ComposedConfig,
    private readonly env: NodeJS.ProcessEnv,
    readonly reader: ConfigReader,
  ) {
    this.folder = dirname(this.path);
    this.environmentFile = new EnvironmentFile(environmentFileOf(this.path));
  }

  /** Path of the config file itself. */
  get path(): string {
    return this.config.main.path;
  }

  /** A path as written, from the folder of the config file, also where a file of `orgs.d` has it. */
  resolve(path: string): string;
  resolve(path: string | undefined): string | null;
  resolve(path: string | undefined): string | null {
    return path === undefined || path === '' ? null : resolve(this.folder, path);
  }

  /** A secret that this reader's role has, and otherwise one that cannot be revealed; null = none is written. */
  secret(group: SecretGroup, reference: SecretReference, path: Path): Secret;
  secret(group: SecretGroup, reference: SecretReference | undefined, path: Path): Secret | null;
  secret(group: SecretGroup, reference: SecretReference | undefined, path: Path): Secret | null {
    if (!reference) return null;
    const need = SECRETS_OF_ROLE[this.reader][group];
    const name = this.nameOf(path);
    if (need === 'withheld') return Secret.withheld(`${name} is not for a process of the role ${this.reader}`);
    const resolved = resolveSecret(reference, this.env, this.folder, this.environmentFile);
    if (resolved instanceof Secret) return resolved;
    if (need === 'optional') return Secret.withheld(`${name}: ${resolved}`);
    this.problem(path, `${name}: ${resolved}`);
    return new Secret('');
  }

  /** A secret that others could guess by trying: a short one is told. */
  longSecret(group: SecretGroup, reference: SecretReference, path: Path): Secret {
    const secret = this.secret(group, reference, path);
    if (isShort(secret))
      this.warn(
        path,
        `${this.nameOf(path)} is shorter than ${MIN_SECRET_CHARACTERS} characters; the next version refuses it`,
        'make one with: openssl rand -hex 32',
      );
    return secret;
  }

  /** @returns null when it is a secret that is not there: this reader may do without it, or the mistake is told */
  url(group: SecretGroup, written: string | SecretReference, path: Path): string | null {
    if (typeof written === 'string') {
      this.checkSecretFree(written, path);
      return written;
    }
    const secret = this.secret(group, written, path);
    return secret.isEmpty ? null : secret.reveal();
  }

  proxy(written: string | SecretReference, path: Path): Secret {
    if (typeof written !== 'string') return this.secret('forges', written, path);
    this.checkSecretFree(written, path);
    return new Secret(written);
  }

  /** An address of another service: no secret in it, and no secret sent to it in the clear. */
  checkAddress(address: string, path: Path, reasonForHttp: string | undefined, wayOut: string): void {
    this.checkSecretFree(address, path, wayOut);
    const { protocol, hostname } = new URL(address);
    if (protocol === 'https:' || reasonForHttp !== undefined || isLoopback(hostname)) return;
    this.problem(
      path,
      `${this.nameOf(path)} is http: what is sent there can be read and changed on the way`,
      'use https, or say why it is safe here: insecure_http: "reason"',
    );
  }

  /** The paths of all calls go behind it: what does not end in /api/v1 answers, as a page or with 404, and never as an API. */
  checkApiAddress(address: string, path: Path): void {
    const { origin, pathname, search, hash } = new URL(address);
    if (pathname.replace(/\/+$/, '').endsWith('/api/v1') && search === '' && hash === '') return;
    if (secretInAddress(address)) return;
    const below = pathname.replace(/\/+$/, '').replace(/\/api(?:\/v\d+(?:\/.*)?)?$/, '');
    const other = below === '' ? '' : `, or ${origin}${below}/api/v1 if the server itself lives below ${below}`;
    this.problem(
      path,
      `${this.nameOf(path)} does not end in /api/v1: it is no address of an API`,
      `write ${origin}/api/v1${other}`,
    );
  }

  checkNoQuery(address: string | undefined, path: Path): void {
    const url = address === undefined ? null : new URL(address);
    if (url === null || (url.search === '' && url.hash === '')) return;
    this.problem(
      path,
      `${this.nameOf(path)} has a query: the forge could not reach the paths behind it`,
      `write ${url.origin}${url.pathname.replace(/\/+$/, '')}`,
    );
  }

  checkSecretFree(address: string, path: Path, wayOut = 'give the whole address as { env: NAME }'): void {
    const secret = secretInAddress(address);
    if (secret)
      this.problem(path, `${this.nameOf(path)} holds ${secret}: a secret does not belong in this file`, wayOut);
  }

  warn(path: Path, message: string, hint: string): void {
    this.warnings.push({ ...this.placeOf(path), message, hint });
  }

  problem(path: Path, message: string, hint?: string): null {
    this.problems.push({ ...this.placeOf(path), message, ...(hint ? { hint } : {}) });
    return null;
  }

  placeOf(path: Path): Position {
    const { file, line, col } = this.config.writtenAt(path);
    return { file, line, col };
  }

  /** The keys of a value in the file where it was written. */
  private nameOf(path: Path): string {
    return this.config.writtenAt(path).name;
  }
}

type OwnName<Key> = Key extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<OwnName<Rest>>}` : Key;

/** `every_s` of the file is `everyS` here. */
export function underOwnNames<Group extends object>(
  group: Group,
): { [Key in keyof Group as OwnName<Key>]: Group[Key] } {
  const named = Object.entries(group).map(([name, value]) => [
    name.replace(/_(.)/g, (_, next: string) => next.toUpperCase()),
    value,
  ]);
  return Object.fromEntries(named) as { [Key in keyof Group as OwnName<Key>]: Group[Key] };
}

/** 128 bits, written in hex. */
const MIN_SECRET_CHARACTERS = 32;

export function isShort(secret: Secret): boolean {
  return !secret.isEmpty && secret.reveal().length < MIN_SECRET_CHARACTERS;
}
