/** A JSON value as the forge, the rule files and the demo give it. */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** What the demo hands over to the verifying process, as a JSON file: where the forge is, how it was before, and what people did. */
export interface Handover {
  /** Base address of the API, ends in /api/v1. */
  readonly api: string;
  /** Its ledger tells every write that it took; null on a forge without one. */
  readonly sandbox: { readonly url: string; readonly controlToken: string } | null;
  readonly org: string;
  readonly bot: { readonly login: string; readonly token: string };
  /** Token of somebody who may see everything. */
  readonly adminToken: string;
  /** Folder of the complete rule files. */
  readonly rules: string;
  /** The forge before the bot ever wrote. */
  readonly before: Snapshot;
  /** Everything that was done, in order. */
  readonly acts: readonly PlayedAct[];
}

/** One act as the sandbox performed it. Besides: `start` (the bot's), `forged` (a stranger's), `nightfall` (every schedule fired once). */
export interface PlayedAct {
  readonly as: string;
  readonly act: string;
  readonly params: JsonObject;
  /** The API's object where the API can do it. */
  readonly result: unknown;
  /** What the sandbox says happened (its own kinds). */
  readonly happened: readonly string[];
  /** True when its deliveries were kept from the bot: then polling has to find it. */
  readonly isDropped: boolean;
  /** ISO time. */
  readonly at: string;
}

/** What rules can change, and what they look at. */
export interface Snapshot {
  readonly repos: readonly RepoState[];
  readonly orgVariables: Readonly<Record<string, Variable>>;
  readonly accountVariables: Readonly<Record<string, Variable>>;
  readonly accountSettings: JsonObject;
}

export interface Variable {
  readonly value: string;
  /** Null where the forge keeps no descriptions of variables (Forgejo). */
  readonly description: string | null;
}

export interface RepoState {
  /** The API's repository object. */
  readonly repo: JsonObject;
  readonly labels: readonly Row[];
  readonly milestones: readonly Row[];
  readonly mirrors: readonly Row[];
  /** Name -> commit. */
  readonly branches: Readonly<Record<string, string | null>>;
  /** The API's release objects, drafts too. */
  readonly releases: readonly JsonObject[];
}

/** A label, milestone or mirror with the fields that matter. */
export type Row = Readonly<Record<string, string | boolean | null>>;
