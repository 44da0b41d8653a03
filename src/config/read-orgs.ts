import type { AuthConfig, ForgeConfig, FreezeConfig, HookConfig, OrgConfig, RulesConfig } from './app-config.js';
import type { Path } from './composed-config.js';
import { freshKey } from './org-keys.js';
import { underOwnNames, type ConfigFile } from './config-file.js';
import type { WrittenConfig, WrittenForge, WrittenOrg } from './config-schema.js';
import { readMailServer } from './mail-schema.js';
import { didYouMean } from '../core/did-you-mean.js';
import type { Secret } from '../core/secret.js';
import { cronFault, isZone, parseDuration } from '../core/schedule-text.js';

const MAX_FREEZE_S = 31 * 24 * 3600;

export function checkNames(file: ConfigFile, written: WrittenConfig): void {
  if (written.orgs.length === 0)
    file.problem(
      ['orgs'],
      'at least one organization',
      'write it below orgs, or into a file of its own: orgs.d/NAME.yaml',
    );
  const first = new Map<string, Path>();
  const once = (what: string, name: string, path: Path, forge = ''): void => {
    const key = JSON.stringify([what, forge, name.toLowerCase()]);
    const other = first.get(key);
    if (other) {
      const { file: where, line } = file.placeOf(other);
      file.problem(
        path,
        `${what} "${name}" is there twice`,
        `${what === 'organization' ? 'take one of them away' : 'give each a name of its own'}; the other is at ${where}:${line}`,
      );
    } else first.set(key, path);
  };
  for (const [i, forge] of written.forges.entries()) once('forge', forge.id, ['forges', i, 'id']);
  const forges = new Set(written.forges.map(({ id }) => id));
  const ownerOf = new Map<string, string>();
  for (const [i, org] of written.orgs.entries()) {
    once('organization', org.name, ['orgs', i, 'name'], org.forge);
    if (!forges.has(org.forge)) {
      const suggestion = didYouMean(org.forge, [...forges]);
      file.problem(
        ['orgs', i, 'forge'],
        `there is no forge "${org.forge}"`,
        suggestion ? `did you mean "${suggestion}"?` : 'forges[].id names them',
      );
    }
    for (const [j, hook] of org.hooks.entries()) once('hook', hook.id, ['orgs', i, 'hooks', j, 'id']);
    for (const [j, id] of org.repositories.entries()) {
      const key = `${org.forge} ${id}`;
      // Of one forge, so that the name says which organization.
      const owner = ownerOf.get(key) ?? org.name;
      ownerOf.set(key, owner);
      if (owner !== org.name)
        file.problem(
          ['orgs', i, 'repositories', j],
          `repository ${id} is named for ${owner} as well: it belongs to one organization`,
          'take it away from the other',
        );
    }
  }
  checkDefaults(file, written);
}

/** A name that is misspelt there would keep an organization from its defaults, and nobody would see it. */
function checkDefaults(file: ConfigFile, { defaults, orgs }: WrittenConfig): void {
  const names = new Set(orgs.map(({ name }) => name.toLowerCase()));
  const withForge = new Set(orgs.map((org) => `${org.forge}/${org.name}`.toLowerCase()));
  for (const [i, name] of (defaults?.orgs ?? []).entries()) {
    if (names.has(name.toLowerCase()) || withForge.has(name.toLowerCase())) continue;
    const suggestion = didYouMean(name, [...names]);
    file.problem(
      ['defaults', 'orgs', i],
      `there is no organization "${name}"`,
      suggestion ? `did you mean "${suggestion}"?` : 'orgs[].name names them',
    );
  }
}

export function readForge(file: ConfigFile, forge: WrittenForge, path: Path): ForgeConfig {
  file.checkAddress(
    forge.base_url,
    [...path, 'base_url'],
    forge.insecure_http,
    'take it away: auth says how the bot signs in',
  );
  file.checkApiAddress(forge.base_url, [...path, 'base_url']);
  return {
    id: forge.id,
    baseUrl: forge.base_url.replace(/\/+$/, ''),
    auth: readAuth(file, forge.auth, [...path, 'auth']),
    oauth: forge.oauth
      ? {
          clientId: forge.oauth.client_id,
          clientSecret: file.secret('login', forge.oauth.client_secret, [...path, 'oauth', 'client_secret']),
        }
      : null,
    caFile: file.resolve(forge.ca_file),
    proxy: forge.proxy === undefined ? null : file.proxy(forge.proxy, [...path, 'proxy']),
    concurrency: forge.concurrency,
    ratePerS: forge.rate_per_s,
    settleS: forge.settle_s,
    marks: forge.marks,
    account: (forge.account as ForgeConfig['account'] | undefined) ?? null,
  };
}

function readAuth(file: ConfigFile, auth: WrittenForge['auth'], path: Path): AuthConfig {
  return auth.type === 'token'
    ? { type: 'token', token: file.secret('forges', auth.token, [...path, 'token']) }
    : {
        type: 'basic',
        username: auth.username,
        password: file.secret('forges', auth.password, [...path, 'password']),
      };
}

/** @param isShared whether the config has the name on another forge as well */
export function readOrg(file: ConfigFile, org: WrittenOrg, path: Path, isShared: boolean): OrgConfig {
  return {
    // Until the store says under which key it is kept.
    key: freshKey(org, new Set(), isShared),
    name: org.name,
    label: isShared ? `${org.forge}/${org.name}` : org.name,
    forge: org.forge,
    auth: org.auth ? readAuth(file, org.auth, [...path, 'auth']) : null,
    hooks: org.hooks.map((hook, i) => readHook(file, hook, [...path, 'hooks', i])),
    rules: readRules(file, org, [...path, 'rules']),
    repositories: [...new Set(org.repositories)],
    powers: org.powers,
    mirrorHosts: org.mirror_hosts,
    trusted: org.trusted,
    limits: limitsOf(org),
    answers: org.answers,
    notifyHosts: org.notify_hosts,
    mail: org.mail
      ? { ...readMailServer(file, 'orgs', org.mail, [...path, 'mail']), recipients: org.mail.recipients }
      : null,
    tasks: underOwnNames(org.tasks),
    lists: underOwnNames(org.lists),
    feed: underOwnNames(org.feed),
    freeze: org.freeze.flatMap((window, i) => readFreeze(file, window, [...path, 'freeze', i]) ?? []),
    promotion: underOwnNames(org.promotion),
    budgets: underOwnNames(org.budgets),
    secrets: Object.fromEntries(
      Object.entries(org.secrets).map(([name, reference]) => [
        name,
        file.secret('orgs', reference, [...path, 'secrets', name]),
      ]),
    ),
  };
}

function readHook(file: ConfigFile, hook: WrittenOrg['hooks'][number], path: Path): HookConfig {
  if (!hook.secret && !hook.authorization)
    file.problem(
      path,
      `hook "${hook.id}" names neither a secret nor an authorization`,
      'secret: { env: NAME } is the usual one',
    );
  return {
    id: hook.id,
    secrets: hookSecrets(file, hook.secret, [...path, 'secret']),
    authorizations: hookSecrets(file, hook.authorization, [...path, 'authorization']),
  };
}

function readRules(file: ConfigFile, { name, rules }: WrittenOrg, path: Path): RulesConfig {
  const { repository, branch, repository_id: id, every_s: everyS } = rules;
  if ((rules.path === undefined) === (repository === undefined))
    file.problem(
      path,
      'rules come from a folder (path) or from a repository of the organization (repository): one of the two',
      'rules: { path: FOLDER } or rules: { repository: owner/name }',
    );
  if (repository !== undefined && repository.split('/')[0]?.toLowerCase() !== name.toLowerCase())
    file.problem(
      [...path, 'repository'],
      `rules of ${name} come from a repository of ${name}, and ${repository} is none`,
      `write ${name}/NAME`,
    );
  if (repository === undefined && (rules.accept !== undefined || rules.require.reviews > 0 || rules.require.signed))
    file.problem(path, 'accept and require belong to a repository', 'add repository: owner/name');
  if (rules.accept !== undefined && rules.require.reviews > 0)
    file.problem(
      [...path, 'accept'],
      'accept: open-branch takes what nobody reviewed, and require.reviews asks for reviews',
      'take one of the two away',
    );
  if (repository === undefined && (branch !== undefined || id !== undefined))
    file.problem(path, 'branch and repository_id belong to a repository', 'add repository: owner/name');
  return {
    path: file.resolve(rules.path),
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
    extendsFrom: rules.extends_from.map((place) => file.resolve(place)),
    builtInSets: rules.built_in_sets,
    shadow: rules.shadow ? { path: file.resolve(rules.shadow.path) } : null,
  };
}

function readFreeze(file: ConfigFile, window: WrittenOrg['freeze'][number], path: Path): FreezeConfig | null {
  const { tz, reason, from, to, cron } = window;
  if (!isZone(tz)) return file.problem([...path, 'tz'], `there is no time zone "${tz}"`, 'names are like Europe/Paris');
  if (from !== undefined && to !== undefined && cron === undefined && window.for === undefined) {
    const [fromWallMs, toWallMs] = [wallMs(from, false), wallMs(to, true)];
    if (Number.isNaN(fromWallMs)) return file.problem([...path, 'from'], `there is no time "${from}"`);
    if (Number.isNaN(toWallMs)) return file.problem([...path, 'to'], `there is no time "${to}"`);
    return toWallMs > fromWallMs
      ? { kind: 'once', fromWallMs, toWallMs, tz, reason }
      : file.problem([...path, 'to'], `"${to}" is not after "${from}"`);
  }
  if (cron === undefined || window.for === undefined || from !== undefined || to !== undefined)
    return file.problem(
      path,
      'a freeze is from and to, or cron and for',
      '{ from: 2026-12-24, to: 2027-01-02, reason: … } or { cron: "0 17 * * 5", for: 62h, reason: … }',
    );
  const fault = cronFault(cron, tz);
  if (fault) return file.problem([...path, 'cron'], ...fault);
  const forS = parseDuration(window.for);
  if (forS === null || forS < 60 || forS > MAX_FREEZE_S)
    return file.problem(
      [...path, 'for'],
      `"${window.for}" is no length of a freeze`,
      'a duration from 1m to 744h, like 62h',
    );
  return { kind: 'again', cron, forS, tz, reason };
}

/** @param isEnd a day then means its end; NaN when the calendar has no such time */
function wallMs(text: string, isEnd: boolean): number {
  const [day = '', time] = text.split('T');
  const at = Date.parse(`${day}T${time ?? '00:00'}:00Z`);
  if (Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== day) return Number.NaN;
  return isEnd && time === undefined ? at + 24 * 3_600_000 : at;
}

/** One, or several during a rotation. */
function hookSecrets(file: ConfigFile, written: WrittenOrg['hooks'][number]['secret'], path: Path): Secret[] {
  if (Array.isArray(written)) return written.map((one, i) => file.longSecret('hooks', one, [...path, i]));
  return written ? [file.longSecret('hooks', written, path)] : [];
}

/** Rules from a repository are written by others than the operator: what the operator does not allow them is refused. */
function limitsOf({ limits, rules }: WrittenOrg): OrgConfig['limits'] {
  const isAllowed = (word: 'refuse' | 'allow' | undefined): boolean =>
    (word ?? (rules.repository === undefined ? 'allow' : 'refuse')) === 'allow';
  return {
    merges: isAllowed(limits.merges),
    approveAndMerge: isAllowed(limits.approve_and_merge),
    privateMirrors: isAllowed(limits.private_mirrors),
    privateReads: isAllowed(limits.private_reads),
  };
}
