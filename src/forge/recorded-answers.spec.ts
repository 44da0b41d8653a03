import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { isJsonObject, parseJson, type JsonObject } from '../core/json.js';
import { checkReply } from './http/reply.js';
import { matchOperation } from '../../test/contract/match-operation.js';
import { isWrite, operationOf } from './operations.js';

interface Step {
  place: string;
  op: number | undefined;
  method: string;
  path: string;
  status: number;
  contentType: string;
  body: JsonObject[string];
}

/** The full set where it is there, else the selection of this repository. */
const roots = ['../shared/recordings', 'test/recordings']
  .map((path) => resolve(path))
  .filter((path) => existsSync(path));

function stepsBelow(root: string): Step[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => /exchanges[\\/][^\\/]+\.json$/.test(name))
    .flatMap((name) => {
      const story = parseJson(readFileSync(join(root, name), 'utf8')) as JsonObject;
      return (story['steps'] as JsonObject[]).flatMap((step) => readStep(`${name} step ${String(step['n'])}`, step));
    });
}

function readStep(place: string, step: JsonObject): Step[] {
  const { request, response, op, web } = step;
  // Pages are no operations.
  if (web === true || !isJsonObject(request) || !isJsonObject(response)) return [];
  const path = String(request['template'] ?? request['path']).replace(/\{\{[^}]*\}\}/g, '1');
  const headers = (response['headers'] ?? {}) as Record<string, string>;
  const contentType = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  return [
    {
      place,
      op: typeof op === 'number' ? op : undefined,
      method: String(request['method']),
      path,
      status: Number(response['status']),
      contentType,
      body: response['body'] ?? null,
    },
  ];
}

const steps = roots.flatMap(stepsBelow);
/** Without routes that are asked for because they do not exist, methods a client never uses, and pull requests as texts. */
const known = steps.filter(
  ({ path, method }) => !path.startsWith('/no/such') && method !== 'HEAD' && !/\.(diff|patch)$/.test(path),
);

describe('forge/recorded-answers', () => {
  it('has recorded steps to look at', () => {
    expect(steps.length).toBeGreaterThan(100);
  });

  it('has a row for every recorded request', () => {
    const without = known.filter((step) => step.status !== 405 && matchOperation(step.method, step.path) === undefined);

    expect([...new Set(without.map((step) => `${step.place}: ${step.method} ${step.path}`))]).toEqual([]);
  });

  it('gives the recorded requests of the 20 operations their number', () => {
    const wrong = known.filter((step) => {
      const name = matchOperation(step.method, step.path);
      const isOtherForm = name === 'getFilesByQuery' && step.op === 5;
      return name !== undefined && operationOf(name).n !== step.op && !isOtherForm;
    });

    expect(wrong.map((step) => `${step.place}: ${step.method} ${step.path}`)).toEqual([]);
  });

  it('knows every recorded success status', () => {
    const wrong = known.filter((step) => {
      const name = matchOperation(step.method, step.path);
      return name !== undefined && step.status < 300 && !operationOf(name).success.includes(step.status);
    });

    expect(wrong.map((step) => `${step.place}: ${step.method} ${step.path} ${step.status}`)).toEqual([]);
  });

  it('reads every recorded success answer without a complaint', () => {
    const complaints: string[] = [];
    let read = 0;
    for (const step of known) {
      const name = matchOperation(step.method, step.path);
      if (name === undefined || step.status >= 300) continue;
      try {
        checkReply(operationOf(name), step.body === '' ? undefined : step.body, isWrite(name));
        read += 1;
      } catch (error) {
        complaints.push(`${step.place}: ${name}: ${String(error)}`);
      }
    }

    expect(complaints).toEqual([]);
    expect(read).toBeGreaterThan(50);
  });

  it('reads every recorded row of the feed and of the tasks', () => {
    const complaints: string[] = [];
    let rows = 0;
    for (const root of roots) {
      for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) =>
        /acts[\\/][^\\/]+\.json$/.test(file),
      )) {
        const act = parseJson(readFileSync(join(root, name), 'utf8')) as JsonObject;
        const feed = Array.isArray(act['feed']) ? act['feed'] : [];
        const tasks = Array.isArray(act['tasks']) ? act['tasks'] : [];
        rows += feed.length + tasks.length;
        try {
          checkReply(operationOf('listOrgFeed'), feed, false);
          checkReply(operationOf('listActionTasks'), { workflow_runs: tasks, total_count: tasks.length }, false);
        } catch (error) {
          complaints.push(`${name}: ${String(error)}`);
        }
      }
    }

    expect(complaints).toEqual([]);
    expect(rows).toBeGreaterThan(50);
  });
});
