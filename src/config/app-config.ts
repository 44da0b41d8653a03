import type { MailSettings, Message } from '../core/message.js';
import type { Problem } from '../core/problem.js';
import type { Secret } from '../core/secret.js';

/** The operator's config after reading: checked, defaults filled in, secrets resolved, frozen. Durations in the unit of the name. Stands for itself as a token. */
export abstract class AppConfig {
  /** Absolute path of the file, for messages; relative paths in it are resolved against its folder. */
  abstract readonly file: string;
  abstract readonly forges: readonly ForgeConfig[];
  abstract readonly orgs: readonly OrgConfig[];
  abstract readonly store: StoreConfig;
  abstract readonly queue: QueueConfig;
  /** `publicUrl`: under which address the forge reaches us, no trailing slash; null = not told. */
  abstract readonly server: ServerConfig;
  abstract readonly control: ControlConfig;
  abstract readonly console: ConsoleConfig;
  /** `token` null = anybody on this machine may read /metrics. `maxOrgs`: organizations that have series of their own; the first of the config have. */
  abstract readonly metrics: {
    readonly listen: string;
    readonly token: Secret | null;
    readonly maxOrgs: number;
  } | null;
  abstract readonly alerts: AlertTarget | null;
  /** `archive`: absolute path of the folder that old arrivals go to; null = their bodies are given up. */
  abstract readonly retention: {
    readonly inboxDays: number;
    /** Longest time between an act and its delivery; null = any. */
    readonly maxAgeMs: number | null;
    readonly archive: string | null;
    readonly historyDays: number;
    /** Null = acts of people stay for ever. */
    readonly actsDays: number | null;
    /** How long an equal delivery is recognized; null = for ever. */
    readonly repeatDays: number | null;
    readonly tickDays: number;
  };
  /** `audits`: whether they run by themselves. */
  abstract readonly housekeeping: { readonly audits: boolean; readonly staleBranchDays: number };
  /** Key that seals mirror passwords and variable values (32 bytes); made and kept beside the data in embedded mode when absent. */
  abstract readonly keys: { readonly data: Secret | null };
  abstract readonly log: { readonly level: string };
  /** What a later version will refuse. */
  abstract readonly warnings: readonly Problem[];
}

export interface ServerConfig {
  readonly host: string;
  readonly port: number;
  readonly maxBodyBytes: number;
  readonly publicUrl: string | null;
  /** Addresses and ranges of proxies that say in X-Forwarded-For whom they speak for. */
  readonly trustedProxies: readonly string[];
  /** Memory for requests before their signature is verified, in all and of one sender; each at least four largest bodies. */
  readonly unverified: { readonly bytes: number; readonly bytesPerAddress: number };
  /** Deliveries that are stored and not decided, in all and of one hook. */
  readonly undecided: { readonly bytes: number; readonly bytesPerHook: number };
}

/** Where the bot's own alerts go, as a message of `notify` has it. */
export type AlertTarget = Pick<Message, 'format' | 'to' | 'credential' | 'server'>;

/** How the bot signs in at a forge. */
export type AuthConfig =
  | { readonly type: 'token'; readonly token: Secret }
  | { readonly type: 'basic'; readonly username: string; readonly password: Secret };

export interface ForgeConfig {
  readonly id: string;
  /** Ends in /api/v1, no trailing slash. */
  readonly baseUrl: string;
  readonly auth: AuthConfig;
  /** The application there that people log in to; null = nobody logs in to the Console through it. */
  readonly oauth: { readonly clientId: string; readonly clientSecret: Secret } | null;
  readonly caFile: string | null;
  /** Its address may hold a password. */
  readonly proxy: Secret | null;
  readonly concurrency: number;
  readonly ratePerS: number;
  /** Longest life of a request at the forge and what stands before it: only after it an unknown outcome is read about. */
  readonly settleS: number;
  /** Whether a call that is made again after an unknown outcome bears a mark of ours in the description. */
  readonly marks: boolean;
  /** Settings of the bot's own account there, by their names in the API; null = they are left alone. */
  readonly account: Readonly<Record<string, string | boolean>> | null;
}

/** Actions that do more than a writer of the repository may: each is named by the operator before a rule may use it. */
export const POWERS = [
  'backport',
  'branch.delete',
  'protection.ensure',
  'repo.create_for_user',
  'repository_settings.ensure',
  'review.approve',
  'topics.ensure',
  'user_settings.update',
] as const;
type Power = (typeof POWERS)[number];

export interface HookConfig {
  readonly id: string;
  /** Valid HMAC keys, several at once for rotation; empty when only `authorization` is set. */
  readonly secrets: readonly Secret[];
  readonly authorizations: readonly Secret[];
}

/**
 * False = the operator did not allow it: merges, merges in a set of rules that also approves, push mirrors of private repositories, and writing private
 * text where others may read it.
 */
export interface OrgLimits {
  readonly merges: boolean;
  readonly approveAndMerge: boolean;
  readonly privateMirrors: boolean;
  readonly privateReads: boolean;
}

export interface OrgConfig {
  /** Under this text everything is kept of it: it stays the same when the name changes, and no other organization ever has it. Nothing reads a name out of it. */
  readonly key: string;
  /** As the forge writes it. */
  readonly name: string;
  /** How people are shown it, and may type it: its name, behind its forge where the config has the name twice: `main/acme`. */
  readonly label: string;
  readonly forge: string;
  /** Credentials of its own; null = those of the forge. */
  readonly auth: AuthConfig | null;
  readonly hooks: readonly HookConfig[];
  readonly rules: RulesConfig;
  /** Numbers of repositories that are the organization's, decimal strings: what a forge of the core profile cannot say by itself. */
  readonly repositories: readonly string[];
  readonly powers: readonly Power[];
  readonly mirrorHosts: readonly string[];
  /** Policies that are new to the store need no approval. */
  readonly trusted: boolean;
  /** What rules may do beyond their own repositories. */
  readonly limits: OrgLimits;
  /** Whether people are told what became of what they asked for, and the accounts of bots, which never are. */
  readonly answers: { readonly enabled: boolean; readonly bots: readonly string[] };
  readonly notifyHosts: readonly string[];
  /** What takes mail of `notify`, and who gets it; null = nobody. */
  readonly mail: MailSettings | null;
  readonly tasks: { readonly callsPerPoll: number };
  /** `graceS`: how long a polled row waits for its delivery before that counts as missing. */
  /** The slow sweep over lists of issues and releases; `everyS` 0 = off. */
  readonly lists: { readonly everyS: number; readonly callsPerVisit: number };
  readonly feed: { readonly everyS: number; readonly graceS: number };
  /** Times in which schedules do not fire and no plan is applied. */
  readonly freeze: readonly FreezeConfig[];
  /** Decisions that a rule in shadow or canary must have made, without an error, before it is promoted. */
  readonly promotion: { readonly minDecisions: number };
  /**
   * Effects in any hour: of all, on one repository, by one rule, on account of one member and of one other person. The last two hold for each
   * policy that has no caps of its own: effects of one plan, and the share of its subjects. Null = no limit.
   */
  readonly budgets: Readonly<
    Record<
      | 'effectsPerHour'
      | 'perRepository'
      | 'perRule'
      | 'perActor'
      | 'perStranger'
      | 'effectsPerPlan'
      | 'percentOfSubjects',
      number | null
    >
  >;
  /** Named secrets that rules may use as `secrets.NAME`. */
  readonly secrets: Readonly<Record<string, Secret>>;
}

/** Wall-clock times count as if they were UTC; `toWallMs` is outside. A window that comes again begins with each occurrence of `cron`. */
export type FreezeConfig = { readonly tz: string; readonly reason: string } & (
  | { readonly kind: 'once'; readonly fromWallMs: number; readonly toWallMs: number }
  | { readonly kind: 'again'; readonly cron: string; readonly forS: number }
);

/**
 * One of `path` (a folder) and `repository` is set. `extendsFrom`: folders out of which rule files may extend shared ones; `builtInSets`: whether they may extend the
 * rule sets of the program; `shadow`: rules that are tried
 * beside these and never write; paths are absolute.
 */
export interface RulesConfig {
  readonly path: string | null;
  readonly repository: RulesRepositoryConfig | null;
  readonly extendsFrom: readonly string[];
  readonly builtInSets: boolean;
  readonly shadow: { readonly path: string } | null;
}

/** Rule files out of the organization's own repository. */
interface RulesRepositoryConfig {
  /** owner/name; the owner is the organization. */
  readonly name: string;
  /** For forges that do not tell the default branch; else null. */
  readonly branch: string | null;
  /** Its number at the forge, decimal string; null = the first one seen is kept. */
  readonly id: string | null;
  readonly everyS: number;
  /** The operator takes a branch onto which writers may push without a review. */
  readonly acceptsOpenBranch: boolean;
  /** Approvals of the merged pull request, and a verified signature, of the newest commit. */
  readonly require: { readonly reviews: number; readonly signed: boolean };
}

/** `group`: number of the group that may read the files; null = the bot's own user alone. */
export type StoreConfig =
  | { readonly kind: 'embedded'; readonly dir: string; readonly group?: number | null }
  | { readonly kind: 'postgres'; readonly url: Secret };
export type QueueConfig = ({ readonly kind: 'embedded' } | { readonly kind: 'redis'; readonly url: Secret }) & {
  /** Seconds between two looks into the store for due work that no wake-up announced. */
  readonly sweepS: number;
};
export interface ControlConfig {
  /** Path of the Unix socket (embedded), under 100 bytes. */
  readonly socket: string | null;
  /** host:port (distributed). */
  readonly listen: string | null;
  readonly token: Secret | null;
  /** Paths of PEM files; null = plain HTTP, on this machine only. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
}

/** The Console, which the roles `console` and `all` serve. */
export interface ConsoleConfig {
  readonly enabled: boolean;
  /** host:port. */
  readonly listen: string;
  /** The origin under which browsers reach it, without a slash at the end; null = the address that it listens on. */
  readonly publicUrl: string | null;
  /** People who see and do everything: `login@forge` or `id:NUMBER@forge`, in lower case. */
  readonly operators: readonly string[];
}

/** Plain http: a session of the Console ends with the process that made it. */
export function isPlainHttp({ publicUrl }: Pick<ConsoleConfig, 'publicUrl'>): boolean {
  return publicUrl?.startsWith('https:') !== true;
}

export type Role = 'web' | 'worker' | 'scheduler' | 'console' | 'all';
