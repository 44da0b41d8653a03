import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { z } from 'zod';
import { parseJson, stringifyJson } from '../../core/json.js';
import { Secret } from '../../core/secret.js';
import { accessToken, organization, team, user, userSettings } from './accounts.js';
import { activity } from './feed.js';
import { listOf, listWithNulls } from './base.js';
import { branch, branchProtection, contents, fileOrFolder, payloadCommit, payloadUser, verification } from './git.js';
import { attachment, comment, label, milestone } from './tracker.js';
import {
  externalTracker,
  externalWiki,
  hook,
  internalTracker,
  permission,
  pushMirror,
  repository,
  repoTransfer,
} from './repositories.js';
import { packageVersion, release } from './publishing.js';
import { actionTask, actionTasks, workflowJob, workflowJobs, workflowRun, workflowStep } from './workflows.js';

/** Resource -> field -> type, from the resource tables of the API document. */
const FIELDS = JSON.parse(readFileSync('test/fixtures/api/resource-fields.json', 'utf8')) as Record<
  string,
  Record<string, string>
>;

const SCHEMAS: Record<string, z.ZodType> = {
  User: user,
  Organization: organization,
  Team: team,
  Repository: repository,
  ExternalTracker: externalTracker,
  ExternalWiki: externalWiki,
  InternalTracker: internalTracker,
  Permission: permission,
  RepoTransfer: repoTransfer,
  Branch: branch,
  PayloadCommit: payloadCommit,
  PayloadUser: payloadUser,
  Verification: verification,
  BranchProtection: branchProtection,
  Hook: hook,
  ContentsResponse: contents,
  UserSettings: userSettings,
  PushMirror: pushMirror,
  Activity: activity,
  Comment: comment,
  Attachment: attachment,
  Package: packageVersion,
  ActionWorkflowJob: workflowJob,
  ActionWorkflowStep: workflowStep,
  WorkflowJobsList: workflowJobs,
  TasksList: actionTasks,
  ActionTask: actionTask,
  Release: release,
  Label: label,
  Milestone: milestone,
  AccessToken: accessToken,
};

const SAMPLES: [RegExp, unknown, unknown][] = [
  [/^string$/, 'text', 7],
  [/^boolean$/, true, 'true'],
  [/^int64$/, 7, 'seven'],
  [/^date-time$/, '2026-11-20T10:00:00+01:00', 'yesterday'],
  [/^array of string$/, ['a', 'b'], 'a'],
  [/^array of /, [{}], 'a'],
  [/^map$/, { key: 'value' }, ['key']],
  [/^object$/, {}, 'text'],
];

const sampleOf = (type: string): [unknown, unknown] => {
  const [, good, bad] = SAMPLES.find(([pattern]) => pattern.test(type)) ?? [/x/, undefined, undefined];
  return [good, bad];
};

const rows = Object.entries(FIELDS).flatMap(([resource, fields]) =>
  Object.entries(fields).map(([field, type]) => [resource, field, type] as const),
);

describe('core/objects', () => {
  it('has a schema for every resource of the document', () => {
    expect(Object.keys(FIELDS).filter((name) => SCHEMAS[name] === undefined)).toEqual([]);
    expect(rows.length).toBeGreaterThan(350);
  });

  it.each(rows)(
    '%s.%s is read as %s, may be null or absent, and is refused as another type',
    (resource, field, type) => {
      const schema = SCHEMAS[resource] as z.ZodType;
      const [good, bad] = sampleOf(type);

      const read = schema.safeParse({ [field]: good });

      expect(read.success).toBe(true);
      expect(Object.keys(read.data as object)).toContain(field);
      expect(schema.safeParse({ [field]: null }).success).toBe(true);
      expect(schema.safeParse({}).success).toBe(true);
      expect(schema.safeParse({ [field]: bad }).success).toBe(false);
    },
  );

  it('keeps fields it does not know', () => {
    expect(label.parse({ name: 'bug', new_in_2027: { a: [1] } })).toEqual({ name: 'bug', new_in_2027: { a: [1] } });
  });

  it.each([
    ['1970-01-01T00:00:00Z', null],
    ['1970-01-01T01:00:00+01:00', null],
    ['1969-12-31T19:00:00-05:00', null],
    ['0001-01-01T00:00:00Z', null],
    ['0001-01-01T00:53:28+00:53', null],
    ['1970-12-31T23:59:59Z', null],
    ['', null],
    ['1971-01-01T00:00:00Z', '1971-01-01T00:00:00Z'],
    ['2026-11-20T10:00:00+01:00', '2026-11-20T10:00:00+01:00'],
  ])('reads the time %s as %s', (sent, read) => {
    expect(pushMirror.parse({ last_update: sent }).last_update).toBe(read);
  });

  it('gives ids as decimal strings, exact beyond 2^53', () => {
    const json = parseJson(
      '{"id":9007199254740993,"actor":1,"owner":{"id":-2},"source_id":0,"parent":{"id":7,"parent":{"id":8}}}',
    );

    const read = repository.parse(json);

    expect(read.id).toBe('9007199254740993');
    expect(read.owner?.id).toBe('-2');
    expect(read.parent?.parent?.id).toBe('8');
  });

  it('keeps counts that are no ids as numbers, exact beyond 2^53', () => {
    expect(release.parse(parseJson('{"assets":[{"size":12,"download_count":9007199254740993}]}')).assets?.[0]).toEqual({
      size: 12,
      download_count: 9007199254740993n,
    });
  });

  it.each([[1.5], [true], ['x'], [{}], ['1e3']])('refuses %p as an id', (value) => {
    expect(label.safeParse({ id: value }).success).toBe(false);
  });

  it('skips null entries of a list, but keeps them where null is an answer', () => {
    expect(listOf(label).parse([null, { name: 'a' }, null])).toEqual([{ name: 'a' }]);
    expect(listWithNulls(contents).parse([null, { path: 'a' }])).toEqual([null, { path: 'a' }]);
    expect(workflowJobs.parse({ jobs: [null, { id: 1, labels: ['x', null] }] }).jobs).toEqual([
      { id: '1', labels: ['x'] },
    ]);
  });

  it('reads null as the empty list, and a missing list as missing', () => {
    expect(listOf(label).parse(null)).toEqual([]);
    expect(listWithNulls(contents).parse(null)).toEqual([]);
    expect(workflowJobs.parse({ jobs: [{ labels: null, steps: null }] }).jobs).toEqual([{ labels: [], steps: [] }]);
    expect(workflowJobs.parse({})).toEqual({});
    expect(fileOrFolder.parse(null)).toEqual({ type: 'dir', entries: [] });
  });

  it('reads a folder from a bare list, and a file as it is', () => {
    expect(fileOrFolder.parse([{ name: 'a.md' }, null])).toEqual({ type: 'dir', entries: [{ name: 'a.md' }] });
    expect(fileOrFolder.parse({ name: 'a.md', type: 'file', content: 'YQ==' })).toEqual({
      name: 'a.md',
      type: 'file',
      content: 'YQ==',
    });
  });

  it.each([
    ['waiting', { status: 'queued' }],
    ['running', { status: 'in_progress' }],
    ['failure', { status: 'completed', conclusion: 'failure' }],
  ])('reads the %s run of a Forgejo under the names of a Gitea', (status, words) => {
    const told = {
      id: 2,
      title: 'ci: add',
      index_in_repo: 1,
      commit_sha: 'abc',
      prettyref: 'main',
      trigger_event: 'push',
      event: '',
      started: '1970-01-01T00:00:00Z',
    };

    const read = workflowRun.parse({ ...told, status });

    expect(read).toMatchObject({
      id: '2',
      display_title: 'ci: add',
      run_number: 1,
      head_sha: 'abc',
      head_branch: 'main',
      event: 'push',
      started_at: null,
      ...words,
    });
    expect(workflowRun.parse({ id: 2, status: 'queued', run_number: 3 })).toEqual({
      id: '2',
      status: 'queued',
      run_number: 3,
    });
  });

  it.each([
    ['one object', { full_name: 'Bot' }],
    ['an array of one', [{ full_name: 'Bot' }]],
    ['an array of several', [{ full_name: 'Bot' }, {}]],
  ])('reads user settings from %s', (_, answer) => {
    expect(userSettings.parse(answer)).toMatchObject({ full_name: 'Bot' });
  });

  it.each([
    ['an empty array', []],
    ['text', 'x'],
    ['null', null],
    ['an array of null', [null]],
  ])('refuses user settings as %s', (_, answer) => {
    expect(userSettings.safeParse(answer).success).toBe(false);
  });

  it('holds credentials of answers as Secret', () => {
    const read = hook.parse({ authorization_header: 'Bearer canary' });

    expect(read.authorization_header).toBeInstanceOf(Secret);
    expect(read.authorization_header?.reveal()).toBe('Bearer canary');
    expect(stringifyJson(read)).not.toContain('canary');
  });
});
