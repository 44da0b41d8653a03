import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Misfit } from '../events/event-fact.js';
import type { EventFact } from '../events/event-fact.js';
import { normalizeEntry } from '../events/normalize-entry.js';
import { isJsonObject, parseJson, stringifyJson } from './json.js';
import type { Json, JsonObject } from './json.js';
import { EVENT_TYPES } from './event-types.js';
import { isDelivered, sourcesWithout } from './event-sources.js';

/** Every row of the feed in the recordings, wherever it stands. */
function rowsIn(value: Json): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap(rowsIn);
  if (!isJsonObject(value)) return [];
  return 'op_type' in value && 'act_user' in value ? [value] : Object.values(value).flatMap(rowsIn);
}

function recordedFacts(): EventFact[] {
  const files = readdirSync('test/recordings', { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.json'),
  );
  const rows = files.flatMap((name) => rowsIn(parseJson(readFileSync(`test/recordings/${name}`, 'utf8'))));
  return rows.flatMap((row) => {
    const facts = normalizeEntry({ org: 'acme', source: 'feed', text: stringifyJson(row), textHash: 'hash' });
    return facts instanceof Misfit ? [] : facts;
  });
}

const OBJECTS = ['issue', 'pull_request', 'comment', 'review', 'release'];

describe('core/event-sources', () => {
  const facts = recordedFacts();

  it('is asked of rows of many kinds', () => {
    expect(new Set(facts.map(({ kind }) => kind)).size).toBeGreaterThan(10);
  });

  it('a field that the feed is said to tell stands in every recorded row', () => {
    const missing = facts.flatMap(({ kind, data }) =>
      OBJECTS.flatMap((object) => {
        const told = data[object];
        const type = EVENT_TYPES.get(kind)?.type.fields[object]?.type;
        if (!isJsonObject(told) || type?.kind !== 'object') return [];
        return Object.keys(type.fields)
          .filter((field) => !sourcesWithout(kind, object, field).includes('feed') && (told[field] ?? null) === null)
          .map((field) => `${kind}: ${object}.${field}`);
      }),
    );

    expect([...new Set(missing)]).toEqual([]);
  });

  it.each<[string, string, string, string[]]>([
    ['issue.opened', 'issue', 'labels', ['feed']],
    ['issue.opened', 'issue', 'number', []],
    ['issue.opened', 'issue', 'title', []],
    ['issue.closed', 'issue', 'title', ['feed']],
    ['pull_request.merged', 'pull_request', 'title', []],
    ['issue.labeled', 'issue', 'labels', []],
    ['issue.labeled', 'actor', 'login', ['lists']],
    ['issue.opened', 'actor', 'login', []],
    ['task.finished', 'actor', 'login', ['tasks']],
    ['pull_request.opened', 'pull_request', 'head', ['feed', 'lists']],
    ['pull_request.edited', 'pull_request', 'head', ['lists']],
    ['pull_request.edited', 'pull_request', 'draft', []],
    ['release.published', 'release', 'id', ['feed']],
    ['push', 'head_commit', 'id', []],
  ])('%s: who leaves out %s.%s', (kind, object, field, sources) => {
    expect(sourcesWithout(kind as never, object, field)).toEqual(sources);
  });

  it.each<[string, string, boolean]>([
    ['pull_request.opened', 'sha', true],
    ['push', 'after', true],
    ['push', 'tag', false],
    ['issue.opened', 'commit_id', false],
  ])('a delivery of %s always tells %s: %s', (kind, field, is) => {
    expect(isDelivered(kind as never, field)).toBe(is);
  });
});
