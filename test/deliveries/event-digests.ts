import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson } from '../../src/core/canonical-json.js';
import { hashOf } from '../../src/core/ids.js';
import { stringifyJson, type Json } from '../../src/core/json.js';
import { normalizeDelivery } from '../builders/normalize-delivery.js';
import { normalizeEntry } from '../../src/events/normalize-entry.js';
import { jsonTextOf, type Act } from '../recordings-tool/act-file.js';
import { readRecordedActs, SERVERS } from './recorded-shapes.js';

/** Digest of what an arrival tells, by digest of the arrival. */
export type EventDigests = Readonly<Record<string, string>>;

const FILE = join(process.cwd(), 'test/deliveries/event-digests.json');
const LENGTH = 12;

/**
 * What every recorded delivery, feed row and task row tells, as digests. A change of the normalizer shows here, whichever field it changes. With the
 * full set of recordings all of them are read, else the selection, which is a part of it.
 */
export function eventDigests(): EventDigests {
  const digests = SERVERS.flatMap(([server]) => readRecordedActs(server)).flatMap(digestsOf);
  return Object.fromEntries(digests.sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function readEventDigests(): EventDigests {
  return JSON.parse(readFileSync(FILE, 'utf8')) as EventDigests;
}

export const EVENT_DIGESTS_FILE = FILE;

function digestsOf(act: Act): Array<[string, string]> {
  const deliveries = act.deliveries.map((delivery): [string, string] => {
    const text = jsonTextOf(delivery);
    return entry(delivery.event_type, text, normalizeDelivery({ org: act.org, eventType: delivery.event_type, text }));
  });
  const rows = (act.feed ?? []).map((row): [string, string] => rowDigest(act, 'feed', row));
  const repository = { id: 37, name: 'app', full_name: `${act.org}/app`, owner: { login: act.org } };
  const tasks = (act.tasks ?? []).map((row): [string, string] => rowDigest(act, 'tasks', { ...row, repository }));
  return [...deliveries, ...rows, ...tasks];
}

function rowDigest(act: Act, source: 'feed' | 'tasks', row: object): [string, string] {
  const text = stringifyJson(row);
  return entry(source, text, normalizeEntry({ org: act.org, source, text, textHash: 'hash' }));
}

function entry(type: string, text: string, told: unknown): [string, string] {
  return [
    hashOf(type, text).slice(0, LENGTH),
    hashOf(canonicalJson(JSON.parse(stringifyJson(told)) as Json)).slice(0, LENGTH),
  ];
}
