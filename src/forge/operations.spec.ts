import { describe, expect, it } from '@jest/globals';
import { isWrite, operationNames, operationOf, operations, type OperationName } from './operations.js';

/** The endpoints of the API document: number, method, path, query, required body fields, optional body fields. */
const SPECIFIED: [number, OperationName, string, string, string, string, string][] = [
  [1, 'createBranch', 'POST', '/repos/{owner}/{repo}/branches', '', 'new_branch_name', 'old_branch_name old_ref_name'],
  [2, 'getBranch', 'GET', '/repos/{owner}/{repo}/branches/{branch}', '', '', ''],
  [3, 'listOrgHooks', 'GET', '/orgs/{org}/hooks', 'page limit', '', ''],
  [
    4,
    'adminCreateRepo',
    'POST',
    '/admin/users/{username}/repos',
    '',
    'name',
    'auto_init default_branch description gitignores issue_labels license object_format_name private readme template trust_model',
  ],
  [5, 'getFiles', 'POST', '/repos/{owner}/{repo}/file-contents', 'ref', 'files', ''],
  [
    6,
    'updateUserSettings',
    'PATCH',
    '/user/settings',
    '',
    '',
    'description diff_view_style full_name hide_activity hide_email language location theme website',
  ],
  [
    7,
    'createPushMirror',
    'POST',
    '/repos/{owner}/{repo}/push_mirrors',
    '',
    '',
    'interval remote_address remote_password remote_username sync_on_commit',
  ],
  [8, 'listOrgFeed', 'GET', '/orgs/{org}/activities/feeds', 'date page limit', '', ''],
  [9, 'getPackage', 'GET', '/packages/{owner}/{type}/{name}/{version}', '', '', ''],
  [10, 'getBranchProtection', 'GET', '/repos/{owner}/{repo}/branch_protections/{name}', '', '', ''],
  [11, 'listMyJobs', 'GET', '/user/actions/jobs', 'status page limit sort order', '', ''],
  [
    12,
    'listJobsOfAttempt',
    'GET',
    '/repos/{owner}/{repo}/actions/runs/{run}/attempts/{attempt}/jobs',
    'status page limit',
    '',
    '',
  ],
  [
    13,
    'updateRelease',
    'PATCH',
    '/repos/{owner}/{repo}/releases/{id}',
    '',
    '',
    'body draft name prerelease tag_name target_commitish',
  ],
  [14, 'listActionTasks', 'GET', '/repos/{owner}/{repo}/actions/tasks', 'page limit', '', ''],
  [15, 'createLabel', 'POST', '/repos/{owner}/{repo}/labels', '', 'color name', 'description exclusive is_archived'],
  [16, 'listTokens', 'GET', '/users/{username}/tokens', 'page limit', '', ''],
  [17, 'updateOrgVariable', 'PUT', '/orgs/{org}/actions/variables/{variablename}', '', 'value', 'description name'],
  [18, 'createMilestone', 'POST', '/repos/{owner}/{repo}/milestones', '', '', 'description due_on state title'],
  [19, 'listPushMirrors', 'GET', '/repos/{owner}/{repo}/push_mirrors', 'page limit', '', ''],
  [20, 'createUserVariable', 'POST', '/user/actions/variables/{variablename}', '', 'value', 'description'],
];

const words = (text: string): string[] =>
  text
    .split(' ')
    .filter((word) => word !== '')
    .sort();

interface Shape {
  shape: Record<string, { safeParse(value: unknown): { success: boolean } }>;
}

describe('forge/operations', () => {
  it.each(SPECIFIED)('op %i is %s', (n, name, method, path, query, required, optional) => {
    const operation = operationOf(name);
    const body = (operation.body as unknown as Shape | undefined)?.shape ?? {};
    const isOptional = (field: string): boolean => body[field]?.safeParse(undefined).success === true;

    expect(operation).toMatchObject({ n, method, path });
    expect(Object.keys(operation.query ?? {}).sort()).toEqual(words(query));
    expect(
      Object.keys(body)
        .filter((field) => !isOptional(field))
        .sort(),
    ).toEqual(words(required));
    expect(Object.keys(body).filter(isOptional).sort()).toEqual(words(optional));
  });

  it('numbers exactly the 20 operations, each once', () => {
    const numbers = operationNames.map((name) => operationOf(name).n).filter((n) => n !== undefined);

    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  });

  it.each(operationNames.map((name) => [name]))('%s has a full row', (name) => {
    const { scope, retry, summary, success, method, readOnly, body, paged, query } = operationOf(name);

    expect([scope, summary].every((text) => text.length > 0)).toBe(true);
    expect(success.length).toBeGreaterThan(0);
    expect(success.every((status) => status >= 200 && status < 300)).toBe(true);
    expect(retry === 'read').toBe(method === 'GET' || readOnly === true);
    expect(method === 'GET' && body !== undefined).toBe(false);
    expect(paged === true).toBe(query !== undefined && 'page' in query);
  });

  it('has no two rows for one method and path', () => {
    const keys = operationNames.map(
      (name) => `${operationOf(name).method} ${operationOf(name).path.replace(/\{[^}]+\}/g, '{}')}`,
    );

    expect(new Set(keys).size).toBe(keys.length);
  });

  it('types only parameters that the path has', () => {
    const strays = operationNames.flatMap((name) =>
      Object.keys(operationOf(name).pathTypes ?? {})
        .filter((key) => !operationOf(name).path.includes(`{${key}}`))
        .map((key) => `${name}.${key}`),
    );

    expect(strays).toEqual([]);
  });

  it('counts nine writing operations among the 20; op 5 is a POST that only reads', () => {
    const writing = operationNames
      .filter((name) => operationOf(name).n !== undefined && isWrite(name))
      .map((name) => operationOf(name).n ?? 0);

    expect(writing.sort((a, b) => a - b)).toEqual([1, 4, 6, 7, 13, 15, 17, 18, 20]);
    expect(operations.getFiles.method).toBe('POST');
  });
});
