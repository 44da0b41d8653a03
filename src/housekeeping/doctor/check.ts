/** `ok` it is as it should be; `note` it could not be looked at, or is worth knowing; `warning` and `problem` are findings. */
export type CheckState = 'ok' | 'note' | 'warning' | 'problem';

/** One thing that the doctor looked at. */
export interface Check {
  /** `hook.events`: what was looked at; the same word in every release. */
  readonly check: string;
  readonly state: CheckState;
  readonly forge: string;
  /** Null where it is about the forge or the account. */
  readonly org: string | null;
  /** What was seen, in one sentence. */
  readonly said: string;
  /** What to click or type, step by step; empty where nothing is to be done. */
  readonly fix: readonly string[];
}

/** A check of one part; whose it is, is added where the parts come together. */
export type Looked = Omit<Check, 'forge' | 'org'>;

export function ok(check: string, said: string): Looked {
  return { check, state: 'ok', said, fix: [] };
}

export function note(check: string, said: string, ...fix: string[]): Looked {
  return { check, state: 'note', said, fix };
}

export function warning(check: string, said: string, ...fix: string[]): Looked {
  return { check, state: 'warning', said, fix };
}

export function problem(check: string, said: string, ...fix: string[]): Looked {
  return { check, state: 'problem', said, fix };
}

export function isFinding({ state }: Pick<Check, 'state'>): boolean {
  return state === 'warning' || state === 'problem';
}

/** Pages of a forge's web front, as people find them. */
export interface WebPages {
  readonly hooks: (org: string) => string;
  readonly teams: (org: string) => string;
  readonly tokens: string;
}

/** @param baseUrl address of the API, ends in /api/v1 */
export function webPages(baseUrl: string): WebPages {
  const web = baseUrl.replace(/\/api\/v1\/?$/, '');
  return {
    hooks: (org) => `${web}/org/${encodeURIComponent(org)}/settings/hooks`,
    teams: (org) => `${web}/org/${encodeURIComponent(org)}/teams`,
    tokens: `${web}/user/settings/applications`,
  };
}
