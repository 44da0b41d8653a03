import { describe, expect, it } from '@jest/globals';
import type { DataType, ObjectType } from '../../src/core/data-types.js';
import { EVENT_TYPES } from '../../src/core/event-types.js';
import { Misfit } from '../../src/events/event-fact.js';
import { normalizeDelivery } from '../builders/normalize-delivery.js';
import { DELIVERY_READERS, ROW_READERS } from '../../src/events/normalize/index.js';
import { taskStateOf } from '../../src/events/normalize/task.js';
import * as branches from '../../src/core/objects/git.js';
import { comment, issue, label, milestone, pull } from '../../src/core/objects/tracker.js';
import { contents } from '../../src/core/objects/git.js';
import { hook, pushMirror, repository } from '../../src/core/objects/repositories.js';
import { packageVersion, release } from '../../src/core/objects/publishing.js';
import { user } from '../../src/core/objects/accounts.js';
import { NAMED_OBJECTS, ruleType } from '../../src/core/objects/rule-types.js';
import * as workflows from '../../src/core/objects/workflows.js';
import { jsonTextOf } from '../recordings-tool/act-file.js';
import { readRecordedDeliveries, SERVERS } from '../deliveries/recorded-shapes.js';

/** Places of a value that its type does not know, or knows as something else. */
function misfits(value: unknown, type: DataType, path: string): string[] {
  if (value === null || value === undefined || type.kind === 'dyn') return [];
  switch (type.kind) {
    case 'object':
      return typeof value === 'object' && !Array.isArray(value)
        ? Object.entries(value).flatMap(([name, item]) => {
            const field = type.fields[name];
            return field ? misfits(item, field.type, `${path}.${name}`) : [`${path}.${name} is not known`];
          })
        : [`${path} is no ${type.name}`];
    case 'list':
      return Array.isArray(value)
        ? value.flatMap((item) => misfits(item, type.of, `${path}[]`))
        : [`${path} is no list`];
    case 'map':
      return typeof value === 'object'
        ? Object.values(value).flatMap((item) => misfits(item, type.of, `${path}.*`))
        : [`${path} is no map`];
    case 'string':
      return typeof value === 'string' && (!type.values || type.values.includes(value))
        ? []
        : [`${path} is ${JSON.stringify(value)}`];
    case 'time':
      return value instanceof Date || (typeof value === 'string' && (value === '' || /^\d{4}-\d\d-\d\dT/.test(value)))
        ? []
        : [`${path} is no time`];
    case 'int':
      return Number.isInteger(value) || typeof value === 'bigint' ? [] : [`${path} is no whole number`];
    case 'bool':
      return typeof value === 'boolean' ? [] : [`${path} is not true or false`];
    default:
      return [];
  }
}

const byName = new Map(NAMED_OBJECTS.map(([schema, name]) => [name, ruleType(schema)]));
/** Not told to rules, or ours to replace: credentials, nested types of their own. */
const HIDDEN = new Set(['authorization_header', 'effective_branch_protection', 'entries']);

const RESOURCES = {
  Branch: branches.branch,
  BranchProtection: branches.branchProtection,
  Comment: comment,
  File: contents,
  Hook: hook,
  Issue: issue,
  Label: label,
  Milestone: milestone,
  Package: packageVersion,
  PullRequest: pull,
  PushMirror: pushMirror,
  Release: release,
  Repository: repository,
  User: user,
  WorkflowJob: workflows.workflowJob,
  WorkflowJobsList: workflows.workflowJobs,
  ActionTask: workflows.actionTask,
  TasksList: workflows.actionTasks,
} as const;

describe('core/event-types', () => {
  it.each(SERVERS.map(([server]) => server))(
    'knows every field of every event that %s told, and what it is',
    (server) => {
      const facts = readRecordedDeliveries(server).map((one) =>
        normalizeDelivery({ org: 'acme', eventType: one.event_type, text: jsonTextOf(one) }),
      );
      const strange = facts.flatMap((fact) => {
        if (fact instanceof Misfit || fact.kind === 'unrecognized') return [];
        const type = EVENT_TYPES.get(fact.kind)?.type as ObjectType;
        return misfits({ ...fact.data, kind: fact.kind, actor: fact.actor, repo: fact.repo }, type, fact.kind);
      });

      expect(facts.length).toBeGreaterThan(20);
      expect([...new Set(strange)]).toEqual([]);
    },
  );

  it.each(SERVERS.map(([server]) => server))('names the delivery that tells each kind, as %s tells it', (server) => {
    const wrong = readRecordedDeliveries(server).flatMap((one) => {
      const fact = normalizeDelivery({ org: 'acme', eventType: one.event_type, text: jsonTextOf(one) });
      if (fact instanceof Misfit || fact.kind === 'unrecognized') return [];
      return EVENT_TYPES.get(fact.kind)?.webhook.includes(one.event_type) ? [] : [`${fact.kind} by ${one.event_type}`];
    });

    expect([...new Set(wrong)]).toEqual([]);
  });

  it('covers every event type of deliveries, every op_type and every task state', () => {
    const all = [...EVENT_TYPES.values()];

    expect(new Set(all.flatMap(({ webhook }) => webhook))).toEqual(new Set(DELIVERY_READERS.keys()));
    expect(new Set(all.flatMap(({ feed }) => feed))).toEqual(new Set(ROW_READERS.keys()));
    expect(new Set(all.flatMap(({ tasks }) => tasks))).toEqual(
      new Set(['unknown', 'waiting', 'running', 'success', 'failure', 'cancelled', 'cancelling', 'skipped', 'blocked']),
    );
    for (const [kind, { tasks }] of EVENT_TYPES)
      for (const state of tasks)
        expect([kind, taskStateOf(state)]).toEqual([
          kind,
          kind === 'unrecognized'
            ? null
            : kind.replace('task.', '').replace('started', 'in_progress').replace('finished', 'completed'),
        ]);
  });

  it.each(Object.entries(RESOURCES))('%s has every field that the client reads', (name, schema) => {
    const known = Object.keys(byName.get(name)?.fields ?? {});

    expect(Object.keys(schema.shape).filter((field) => !known.includes(field) && !HIDDEN.has(field))).toEqual([]);
  });
});
