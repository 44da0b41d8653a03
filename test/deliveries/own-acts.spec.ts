import { describe, expect, it } from '@jest/globals';
import { actions } from '../../src/actions/index.js';
import type { SentEffect } from '../../src/actions/support/recovery.js';
import type { ForgeEvent } from '../../src/core/event.js';
import type { JsonObject } from '../../src/core/json.js';
import { stringifyJson } from '../../src/core/json.js';
import { hashOf } from '../../src/core/ids.js';
import { type EventFact, Misfit } from '../../src/events/event-fact.js';
import { normalizeDelivery } from '../builders/normalize-delivery.js';
import { normalizeEntry } from '../../src/events/normalize-entry.js';
import { jsonTextOf, type Act } from '../recordings-tool/act-file.js';
import { readRecordedActs, SERVERS } from './recorded-shapes.js';

type Wish = readonly [action: string, params: JsonObject, snapshot?: JsonObject];

/** What would have made the bot do this act: the facts are taken from its calls. */
function wishOf({ title, calls = [] }: Act & { calls?: readonly Call[] }): Wish | null {
  const { path = '', body = {} } = calls.at(-1) ?? {};
  const number = /(?:issues|pulls)\/(\d+)/.exec(path)?.[1] ?? '';
  const wishes: Record<string, Wish> = {
    'second label put on': ['issue.label', { number, add: ['feature'] }, { added: ['feature'], removed: [] }],
    'labels replaced': ['issue.label', { number, set: ['prio/high'] }, { added: ['prio/high'], removed: ['bug'] }],
    'one label removed': ['issue.label', { number, remove: ['prio/high'] }, { added: [], removed: ['prio/high'] }],
    'pull request labelled': ['issue.label', { number, add: ['feature'] }, { added: ['feature'], removed: [] }],
    'milestone set': ['issue.milestone', { number, title: '1.0' }],
    'milestone cleared': ['issue.milestone', { number }],
    'pull request milestoned': ['issue.milestone', { number, title: '1.0' }],
    assigned: ['issue.assign', { number, add: ['ben', 'cleo'] }],
    unassigned: ['issue.assign', { number, remove: ['ben', 'cleo'] }],
    'pull request assigned': ['issue.assign', { number, add: ['cleo'] }],
    'issue closed': ['issue.state', { number, state: 'closed' }],
    'issue reopened': ['issue.state', { number, state: 'open' }],
    'pull request closed': ['issue.state', { number, state: 'closed' }],
    'pull request reopened': ['issue.state', { number, state: 'open' }],
    'review asked for': ['pull_request.request_review', { number, reviewers: ['cleo'] }],
    'commit status set': ['status.set', { sha: path.split('/').at(-1) ?? '', ...body }],
    'pull request merged, branch deleted': [
      'pull_request.merge',
      { number, sha: 'f'.repeat(40), delete_branch: true },
      { base: 'develop', branch: 'feature/login' },
    ],
    'pull request from a fork: squashed': [
      'pull_request.merge',
      { number, sha: 'f'.repeat(40), method: 'squash' },
      { base: 'main', branch: 'typo' },
    ],
    'push a new branch without work': ['branch.create', { new_branch_name: 'release/1.0' }],
    'release edited (op 13)': ['release.update', { tag: 'v1.0.0', body: 'first, polished' }],
  };
  return wishes[title] ?? null;
}

interface Call {
  readonly path?: string;
  readonly body?: JsonObject | null;
}

/** Kinds that the act is told by, each by delivery or by feed; of other people's effects on the same issue only what comes of this call. */
function eventsOf({ org, deliveries, feed }: Act): ForgeEvent[] {
  // One hook is told all that the others are, and the committed selection may hold that one alone.
  const told = deliveries
    .filter(({ hook }) => hook === deliveries[0]?.hook)
    .map((one) => normalizeDelivery({ org, eventType: one.event_type, text: jsonTextOf(one) }));
  const rows = (feed ?? []).map((row) =>
    normalizeEntry({ org, source: 'feed', text: stringifyJson(row as JsonObject), textHash: '' }),
  );
  return [
    ...told.flatMap((fact) => anEvent(fact, 'webhook')),
    ...rows.flatMap((facts) => (facts instanceof Misfit ? [] : facts.flatMap((fact) => anEvent(fact, 'feed')))),
  ];
}

function anEvent(fact: EventFact | Misfit, source: 'webhook' | 'feed'): ForgeEvent[] {
  if (fact instanceof Misfit) throw new Error(fact.reason);
  return [{ ...fact, id: 'e', forge: 'main', org: 'acme', source, storedAt: new Date(0) } as ForgeEvent];
}

function isEcho(event: ForgeEvent, action: string, sent: Partial<SentEffect>): boolean {
  const matcher = actions.get(action)?.recover?.matcher;
  const effect = { params: {}, snapshot: null, objectId: null, ...sent };
  return (matcher?.echoes?.includes(event.kind) ?? false) && (matcher?.isEcho?.(event, effect) ?? false);
}

describe.each(SERVERS.map(([server]) => server))('own acts as %s tells them', (server) => {
  const acts = readRecordedActs(server);
  const wished = acts.flatMap((act) => {
    const wish = wishOf(act);
    // Forgejo tells nobody of a status.
    return wish && act.deliveries.length > 0 ? [{ title: act.title, act, wish }] : [];
  });

  it('are in the recordings', () => {
    expect(new Set(wished.map(({ wish: [action] }) => action)).size).toBeGreaterThanOrEqual(7);
  });

  it.each(wished)(
    'are known by deliveries and feed rows: $title',
    ({ act, wish: [action, params, snapshot = null] }) => {
      const events = eventsOf(act);
      const raised = events.filter(({ kind }) => actions.get(action)?.raises.includes(kind));

      expect(events.filter((event) => isEcho(event, action, { params, snapshot })).map(nameOf)).toEqual(
        raised.map(nameOf),
      );
      expect(raised).not.toEqual([]);
    },
  );

  it.each(wished)(
    'are not taken for acts on another object: $title',
    ({ act, wish: [action, params, snapshot = null] }) => {
      const other = Object.fromEntries(
        Object.entries(params).map(([name, value]) =>
          ['number', 'sha', 'tag', 'new_branch_name'].includes(name) ? [name, '999'] : [name, value],
        ),
      );

      const taken = eventsOf(act).filter((event) => isEcho(event, action, { params: other, snapshot }));

      // The branch is what its deletion is known by.
      expect(taken.filter(({ kind }) => kind !== 'branch.deleted').map(nameOf)).toEqual([]);
    },
  );

  it('know a comment by the mark in it, or by its id where the feed cut it off', () => {
    const act = acts.find(({ title }) => title === 'comment on a pull request') as Act;
    const key = 'stale';
    const mark = `<!-- forgehand:${hashOf('comment', key).slice(0, 16)} -->`;
    const told = eventsOf(act).filter(({ kind }) => kind === 'comment.created');
    const [id] = told.map(({ data }) => (data['comment'] as JsonObject)['id'] as string);
    const marked = told.map((event) => {
      const comment = { ...(event.data['comment'] as JsonObject), body: `Nice.\n\n${mark}` };
      return { ...event, data: { ...event.data, comment } };
    });
    const known = (events: readonly ForgeEvent[], sent: Partial<SentEffect>): string[] =>
      events.filter((event) => isEcho(event, 'issue.comment', sent)).map(nameOf);

    expect(told.map(nameOf)).toEqual(['webhook comment.created', 'feed comment.created']);
    expect(known(marked, { params: { number: '4', key } })).toEqual(told.map(nameOf));
    expect(known(marked, { params: { number: '4', key: 'other' } })).toEqual([]);
    expect(known(marked, { params: { number: '5', key } })).toEqual([]);
    expect(known(told, { params: { number: '4', key }, objectId: id ?? null })).toEqual(told.map(nameOf));
    expect(known(told, { params: { number: '4', key } })).toEqual([]);
  });

  it.each(acts.filter(({ title }) => /^issue (?:opened|body edited|closed|reopened)$/.test(title)))(
    'know the issue of a key by its number, or by the mark in it: $title',
    (act) => {
      const { raises = [] } = actions.get('issue.ensure') ?? {};
      const told = eventsOf(act).filter(({ kind }) => raises.includes(kind));
      const number = String(told[0]?.data['number']);
      const params = { key: 'k', open: act.title !== 'issue closed' };
      const known = (events: readonly ForgeEvent[], sent: Partial<SentEffect>): string[] =>
        events.filter((event) => isEcho(event, 'issue.ensure', { params, ...sent })).map(nameOf);
      const mark = `<!-- forgehand:issue:${hashOf('issue', 'k').slice(0, 16)} -->`;
      const marked = told.map((event) => ({
        ...event,
        data: { ...event.data, issue: { ...(event.data['issue'] as JsonObject), body: `${mark}\n\nx` } },
      }));

      expect(told).not.toEqual([]);
      expect(known(told, { objectId: number })).toEqual(told.map(nameOf));
      expect(known(told, { snapshot: { edits: number } })).toEqual(told.map(nameOf));
      expect(known(marked, {})).toEqual(told.map(nameOf));
      expect(known(told, {})).toEqual([]);
      expect(known(told, { objectId: '999' })).toEqual([]);
      expect(known(marked, { params: { key: 'other', open: params.open } })).toEqual([]);
      expect(known(marked, { params: { key: 'k', open: !params.open } })).toEqual([]);
    },
  );
});

function nameOf({ source, kind }: ForgeEvent): string {
  return `${source} ${kind}`;
}
