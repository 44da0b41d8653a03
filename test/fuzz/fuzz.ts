import { createHmac } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { isEventKind } from '../../src/core/event-kinds.js';
import { stringifyJson } from '../../src/core/json.js';
import { Secret } from '../../src/core/secret.js';
import { seededRandom } from '../../src/core/seeded-random.js';
import { TenantMismatch } from '../../src/events/bind-tenant.js';
import { Misfit } from '../../src/events/event-fact.js';
import { readDelivery } from '../../src/events/normalize-delivery.js';
import { jsonBytesOf, readText, type Encoding } from '../../src/core/json-bytes.js';
import { receiveDelivery, type Hook } from '../../src/webhooks/receive-delivery.js';
import { SAMPLE_BODIES } from '../builders/sample-bodies.js';
import { ManualClock } from '../fakes/manual-clock.js';
import { jsonTextOf, readActFolders } from '../recordings-tool/act-file.js';
import { FORMS, MUTATIONS, type MutationName, type Sample } from './mutations.js';

/** What was seen to go wrong, with the seed that shows it again: `npm run storms -- fuzz --seed N --count 1`. */
export interface Crash {
  readonly seed: number;
  readonly mutation: MutationName;
  readonly what: string;
}

export interface Tally {
  /** By mutation and outcome. */
  readonly counts: ReadonlyMap<string, number>;
  readonly outcomes: ReadonlyMap<string, number>;
  readonly crashes: readonly Crash[];
}

const KEY = 'a key of the fuzzed hook, long enough';
const HOOK: Hook = { id: 'acme', org: 'acme', forge: 'main', secrets: [new Secret(KEY)], authorizations: [] };
const Clock = new ManualClock();

/** Every code under which a worker may set a delivery aside. */
const CODES = new Set([
  'no_payload',
  'not_utf8',
  'not_json',
  'too_deep',
  'too_many_values',
  'unended_text',
  'endless_number',
  'key_twice',
  'key_proto',
  'no_event_type',
  'misfit',
  'unknown_kind',
]);

const NAMES = Object.keys(MUTATIONS) as MutationName[];
/** Larger bodies of recordings are left out: a fuzzer lives on many small ones. */
const MAX_CHARS = 20_000;

export function readSamples(): Sample[] {
  const recorded = ['gitea-1.24', 'gitea-1.26', 'gitea-1.27', 'forgejo-15'].flatMap((server) =>
    readActFolders(`test/recordings/${server}`).flatMap(({ acts }) => acts.flatMap(({ deliveries }) => deliveries)),
  );
  const texts = recorded.map((delivery) => ({
    eventType: delivery.event_type,
    event: delivery.event_type,
    text: jsonTextOf(delivery),
  }));
  const own = Object.entries(SAMPLE_BODIES).map(([type, body]) => ({
    eventType: type,
    event: type,
    text: JSON.stringify(body),
  }));
  return [...own, ...texts.filter(({ text }) => text.length < MAX_CHARS)];
}

/** Door, form decoding, reading, binding and normalizer over `count` spoilt deliveries; each by its own seed, from `seed` on. */
export function fuzz(samples: readonly Sample[], seed: number, count: number): Tally {
  const counts = new Map<string, number>();
  const outcomes = new Map<string, number>();
  const crashes: Crash[] = [];
  const prototype = Object.getOwnPropertyNames(Object.prototype);
  for (let one = seed; one < seed + count; one += 1) {
    const { mutation, run } = attempt(samples, one);
    let outcome: string;
    try {
      outcome = run();
      if (!isDeepStrictEqual(Object.getOwnPropertyNames(Object.prototype), prototype))
        throw new Error('Object.prototype has changed');
    } catch (error) {
      outcome = 'crash';
      crashes.push({
        seed: one,
        mutation,
        what: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    }
    counts.set(mutation, (counts.get(mutation) ?? 0) + 1);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  return { counts, outcomes, crashes };
}

function attempt(samples: readonly Sample[], seed: number): { mutation: MutationName; run: () => string } {
  const random = seededRandom(seed);
  const mutation = random.pick(NAMES);
  const sample = random.pick(samples);
  return {
    mutation,
    run: () => {
      const text = MUTATIONS[mutation](Buffer.from(sample.text), random, random.pick(samples));
      const encoding: Encoding = random.below(3) === 0 ? 'form' : 'json';
      const body = encoding === 'json' ? text : Buffer.from(random.pick(FORMS)(formOf(text), random), 'latin1');
      const eventType =
        random.below(8) === 0
          ? random.pick(['constructor', '__proto__', 'push', 'issues', 'x'.repeat(65), '', '\u0000', 'status'])
          : sample.eventType;
      const key = random.below(64) === 0 ? 'another key' : KEY;
      const signature = createHmac('sha256', key)
        .update(jsonBytesOf(encoding, body) ?? '')
        .digest('hex');
      const headers = {
        'x-gitea-event': sample.event,
        'x-gitea-event-type': eventType,
        'x-gitea-delivery': 'd',
        'x-gitea-signature': signature,
      };
      return judge(headers, encoding, body);
    },
  };
}

/** @throws Error when something came of it that nobody documents, or something else was kept than was sent */
function judge(headers: Readonly<Record<string, string>>, encoding: Encoding, body: Buffer): string {
  const sent = Buffer.from(body);
  const received = receiveDelivery(HOOK, { headers, encoding, body }, Clock);
  if (!received) return 'not authentic';
  if (!received.body.equals(sent)) throw new Error('other bytes were kept than were sent');
  const read = readDelivery({ ...received, ...readText(encoding, sent) });
  if (read instanceof TenantMismatch) return 'of another organization';
  if (read instanceof Misfit) {
    if (!CODES.has(read.code)) throw new Error(`there is no code ${read.code}`);
    return read.code;
  }
  if (!isEventKind(read.fact.kind)) throw new Error(`there is no kind ${String(read.fact.kind)}`);
  if (/\\u0000/.test(stringifyJson(read.fact.data).replaceAll('\\\\', '')))
    throw new Error('the event holds a NUL, which PostgreSQL does not');
  return 'event';
}

/** Each byte that is no letter or digit as a percent code, as a form has it. */
function formOf(text: Buffer): string {
  return `payload=${text.toString('latin1').replace(/[^A-Za-z0-9_.-]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)}`;
}
