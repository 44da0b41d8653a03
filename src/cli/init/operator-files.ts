import { basename, dirname, join, relative } from 'node:path';
import { environmentFileOf } from '../../config/environment-file.js';

/** Where the files of a new operator lie. */
export interface Places {
  readonly config: string;
  readonly environment: string;
  /** Holds a folder of rules for each organization, and the schema. */
  readonly rules: string;
  readonly schema: string;
  readonly data: string;
  /** State of the forge in a box. */
  readonly sandbox: string;
}

/** Rules and data lie beside a folder named `config`, else beside the config file. */
export function placesOf(config: string): Places {
  const folder = dirname(config);
  const root = basename(folder) === 'config' ? dirname(folder) : folder;
  return {
    config,
    environment: environmentFileOf(config),
    rules: join(root, 'rules'),
    schema: join(root, 'rules', 'forgehand.schema.json'),
    data: join(root, 'data'),
    sandbox: join(root, 'sandbox.state'),
  };
}

export interface NewConfig {
  readonly baseUrl: string;
  /** Why plain http is safe on the way to the forge; null = it is https, or this machine. */
  readonly insecureHttp: string | null;
  readonly org: string;
  readonly publicUrl: string;
  readonly port: number;
  /** Of the Console, on this machine. */
  readonly consolePort: number;
  /** Calls per second at the forge; null = the default. */
  readonly ratePerS: number | null;
  /** Hosts of push mirrors, as `mirror_hosts` takes them. */
  readonly mirrorHosts: readonly string[];
}

const DEFAULT_PORT = 8080;
export const DEFAULT_CONSOLE_PORT = 8090;

/** The config of one organization: what differs from the defaults, in at most fifteen lines. */
export function configText(places: Places, config: NewConfig): string {
  const from = (path: string): string => relative(dirname(places.config), path).replaceAll('\\', '/');
  const { org, mirrorHosts: hosts } = config;
  const port = config.port === DEFAULT_PORT ? '' : `, port: ${config.port}`;
  return [
    `forges: # Every key: docs/config.md. Secrets are in ${basename(places.environment)}.`,
    '  - id: main',
    `    base_url: ${word(config.baseUrl)}`,
    '    auth: { type: token, token: { env: FORGE_TOKEN } }',
    ...(config.insecureHttp === null ? [] : [`    insecure_http: ${JSON.stringify(config.insecureHttp)}`]),
    ...(config.ratePerS === null ? [] : [`    rate_per_s: ${config.ratePerS}`]),
    'orgs:',
    `  - name: ${word(org)}`,
    '    forge: main',
    `    hooks: [{ id: ${word(hookIdOf(org))}, secret: { env: ${variableOf(org, 'HOOK_SECRET')} } }]`,
    `    rules: { path: ${word(from(join(places.rules, org)))} }`,
    ...(hosts.length === 0
      ? []
      : [
          `    mirror_hosts: [${hosts.map(word).join(', ')}]`,
          `    secrets: { mirror_token: { env: ${variableOf(org, 'MIRROR_TOKEN')} } }`,
        ]),
    `store: { url: ${JSON.stringify(`embedded:${from(places.data)}`)} }`,
    `server: { public_url: ${JSON.stringify(config.publicUrl)}${port} }`,
    ...(config.consolePort === DEFAULT_CONSOLE_PORT ? [] : [`console: { listen: ${config.consolePort} }`]),
    '',
  ].join('\n');
}

/** `ACME_HOOK_SECRET` for acme. */
export function variableOf(org: string, what: string): string {
  const name = org.toUpperCase().replace(/[^A-Z0-9]/g, '_');
  return `${/^\d/.test(name) ? 'ORG_' : ''}${name}_${what}`;
}

function hookIdOf(org: string): string {
  return org.toLowerCase();
}

/** A plain scalar of YAML where it is one for every reader, else quoted. */
export function word(text: string): string {
  return /^[A-Za-z./][A-Za-z0-9._/:-]*[A-Za-z0-9/]$/.test(text) && !/^(true|false|yes|no|on|off|null)$/i.test(text)
    ? text
    : JSON.stringify(text);
}

/** The lines to add, so that each name has a value; what is there stays. */
export function withVariables(text: string, names: ReadonlySet<string>, add: ReadonlyMap<string, string>): string {
  const missing = [...add].filter(([name]) => !names.has(name));
  const before = text === '' ? '# Secrets of forgehand.yaml. For its owner alone: chmod 600.\n' : text;
  const lines = missing.map(([name, value]) => `${name}=${value}\n`).join('');
  return missing.length === 0 ? text : `${before}${before.endsWith('\n') ? '' : '\n'}${lines}`;
}
