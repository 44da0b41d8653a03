import type { JsonObject } from '../../../src/core/json.js';
import type { LedgerRow, RecordedDemo } from './recorded-demo.js';

/** What a bot that was not given a rule file would not have written, and how the forge would be without it. */
interface Omission {
  /** METHOD path of each write of that file's rules, and of no other file's. */
  readonly writes: RegExp;
  undo(demo: RecordedDemo, write: LedgerRow): void;
}

/** Fields by which a list of a repository knows what a request made: in the row, in the request. */
const KEYS: Readonly<Record<string, readonly [string, string]>> = {
  labels: ['name', 'name'],
  milestones: ['title', 'title'],
  push_mirrors: ['remote_address', 'remote_address'],
  branches: ['name', 'new_branch_name'],
};

/** Takes the row out that the request made. */
function takeRowOut(demo: RecordedDemo, { path, body }: LedgerRow): void {
  const [inRow, inRequest] = KEYS[path.split('/').at(-1) ?? ''] ?? [];
  if (inRow === undefined || inRequest === undefined) throw new Error(`no list at ${path}`);
  demo.change<JsonObject[]>(path, (rows) => rows.filter((row) => row[inRow] !== body[inRequest]));
}

/** Puts a variable back, or takes it out where it was not there before. */
function undoVariable(demo: RecordedDemo, { path }: LedgerRow): void {
  const [folder = '', name = ''] = [path.slice(0, path.lastIndexOf('/')), path.split('/').at(-1)];
  const before = folder.startsWith('/user/')
    ? demo.handover.before.accountVariables
    : demo.handover.before.orgVariables;
  const was = before[name];
  demo.change<JsonObject[]>(folder, (rows) =>
    rows.flatMap((row) =>
      row.name !== name ? [row] : was ? [{ ...row, data: was.value, description: was.description }] : [],
    ),
  );
}

function undoAccount(demo: RecordedDemo, write: LedgerRow): void {
  if (write.path === '/user/settings') demo.change<JsonObject>(write.path, () => demo.handover.before.accountSettings);
  else undoVariable(demo, write);
}

/** The notes as the last person left them. */
function undoNotes(demo: RecordedDemo, { path }: LedgerRow): void {
  const id = path.split('/').at(-1);
  const byPeople = demo.handover.acts
    .map(({ result }) => result as JsonObject | null)
    .findLast((result) => String(result?.id) === id && result?.tag_name);
  demo.change<JsonObject[]>(path.slice(0, path.lastIndexOf('/')), (rows) =>
    rows.map((row) =>
      String(row.id) === id ? { ...row, body: byPeople?.body ?? '', prerelease: byPeople?.prerelease ?? false } : row,
    ),
  );
}

function takeRepositoryOut(demo: RecordedDemo, { path, body }: LedgerRow): void {
  demo.remove(`/repos/${path.split('/')[3]}/${String(body.name)}`);
}

/** By rule file of `config/rules/acme`. */
export const OMISSIONS: Readonly<Record<string, Omission>> = {
  'bot-account.yaml': { writes: /^(PATCH \/user\/settings|POST \/user\/actions\/variables\/\w+)$/, undo: undoAccount },
  'labels.yaml': { writes: /^POST \/repos\/[^/]+\/[^/]+\/labels$/, undo: takeRowOut },
  'last-release.yaml': { writes: /^(POST|PUT) \/orgs\/acme\/actions\/variables\/LAST_RELEASE$/, undo: undoVariable },
  'milestones.yaml': { writes: /^POST \/repos\/[^/]+\/[^/]+\/milestones$/, undo: takeRowOut },
  'mirrors.yaml': { writes: /^POST \/repos\/[^/]+\/[^/]+\/push_mirrors$/, undo: takeRowOut },
  'protections.yaml': { writes: /^(POST|PUT) \/orgs\/acme\/actions\/variables\/PROTECTED_\w+$/, undo: undoVariable },
  'release-branch.yaml': { writes: /^POST \/repos\/[^/]+\/[^/]+\/branches$/, undo: takeRowOut },
  'release-notes.yaml': { writes: /^PATCH \/repos\/[^/]+\/[^/]+\/releases\/\d+$/, undo: undoNotes },
  'repository-requests.yaml': { writes: /^POST \/admin\/users\/[^/]+\/repos$/, undo: takeRepositoryOut },
};

export const writeText = ({ method, path }: LedgerRow): string => `${method} ${path}`;

/**
 * Alters a recorded demo into that of a bot that was not given the file.
 * @returns the writes that such a bot would not have made
 */
export function omit(demo: RecordedDemo, file: string): string[] {
  const omission = OMISSIONS[file];
  if (!omission) throw new Error(`nothing is known about ${file}: say in OMISSIONS what its rules write`);
  const left = demo.writes().filter((write) => omission.writes.test(writeText(write)));
  for (const write of left) omission.undo(demo, write);
  demo.keepWrites((write) => (omission.writes.test(writeText(write)) ? 0 : 1));
  return left.map(writeText).sort();
}
