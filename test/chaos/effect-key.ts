import type { Change } from '../../src/sandbox/happening.js';
import { isJsonObject, parseJson, type JsonObject } from '../../src/core/json.js';

/** Operations whose effects are counted. A second effect of one key is a double: an object made twice, or people told twice. */
export const COUNTED = [
  'createBranch',
  'adminCreateRepo',
  'updateUserSettings',
  'createPushMirror',
  'updateRelease',
  'createLabel',
  'updateOrgVariable',
  'createMilestone',
  'createUserVariable',
  'deleteBranch',
  'updatePullBranch',
  'createIssue',
  'applyPatch',
  'createPull',
  'mergePull',
  'cancelPlannedMerge',
  'createReview',
  'notify',
] as const;
export type Counted = (typeof COUNTED)[number];

/** Numbers of the operations in the API document. */
export const NUMBERS: Readonly<Partial<Record<Counted, number>>> = {
  createBranch: 1,
  adminCreateRepo: 4,
  updateUserSettings: 6,
  createPushMirror: 7,
  updateRelease: 13,
  createLabel: 15,
  updateOrgVariable: 17,
  createMilestone: 18,
  createUserVariable: 20,
};

/** Operations whose effect is that something is gone. */
const REMOVING: ReadonlySet<string> = new Set<Counted>(['deleteBranch']);

/** Whether a call had the effect of its operation: what it took away beside is none. */
export function isEffectOf(operation: string, applied: readonly Change[]): boolean {
  return applied.some(({ what }) => (what === 'deleted') === REMOVING.has(operation));
}

/** Operations that nothing in the forge keeps from happening twice and that the 20 operations cannot read back. */
export const KEYLESS: readonly Counted[] = ['createLabel', 'createMilestone'];

const lastOf = (path: string): string => decodeURIComponent(path.split('?')[0]?.split('/').at(-1) ?? '');
const textOf = (body: JsonObject, name: string): string => String(body[name] ?? '').trim();

/** Every effect of the storms has a key of its own somewhere in its request; null = a call of another kind. Of what is done to a pull request: `REPO#NUMBER`. */
export function keyOfRequest(
  operation: string,
  path: string,
  bodyText: string | null,
  applied: readonly Change[] = [],
): string | null {
  const body = bodyOf(bodyText);
  switch (operation as Counted) {
    case 'createBranch':
      return textOf(body, 'new_branch_name');
    case 'adminCreateRepo':
      return textOf(body, 'name');
    case 'updateUserSettings':
      return textOf(body, 'full_name');
    case 'createPushMirror':
      return lastOf(textOf(body, 'remote_address')).replace(/\.git$/, '');
    case 'updateRelease':
      return textOf(body, 'name');
    case 'createLabel':
      return textOf(body, 'name');
    case 'updateOrgVariable':
    case 'createUserVariable':
      return lastOf(path).toLowerCase();
    case 'createMilestone':
    case 'createIssue':
      return textOf(body, 'title');
    case 'deleteBranch':
      return lastOf(path);
    // The first line is the title of the pull request whose changes it brings.
    case 'applyPatch':
      return textOf(body, 'message').split('\n')[0] ?? '';
    case 'createPull':
      return textOf(body, 'title').split(' ').at(-1) ?? '';
    case 'mergePull':
    case 'cancelPlannedMerge':
    case 'createReview':
      return pullIn(path);
    case 'notify':
      return textOf(body, 'text');
    // Its request names the pull request alone; the key is the branch that it moves.
    case 'updatePullBranch':
      return lastOf(String(applied.find(({ kind }) => kind === 'branch')?.id ?? ''));
    default:
      return null;
  }
}

/** `REPO#NUMBER` */
export function pullIn(path: string): string {
  const [, repo = '', number = ''] = /\/([^/]+)\/pulls\/(\d+)/.exec(path) ?? [];
  return `${repo}#${number}`;
}

/** The same out of the parameters of an intent; for the cross counts alone. */
export function keyOfIntent(params: JsonObject): string {
  const found =
    params['new_branch_name'] ??
    params['full_name'] ??
    params['remote_address'] ??
    params['title'] ??
    params['name'] ??
    params['branch'] ??
    params['text'];
  const key = String(found ?? '').trim();
  return 'remote_address' in params ? lastOf(key).replace(/\.git$/, '') : 'value' in params ? key.toLowerCase() : key;
}

function bodyOf(text: string | null): JsonObject {
  try {
    const value = parseJson(text ?? '{}');
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
