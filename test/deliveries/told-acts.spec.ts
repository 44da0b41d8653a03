import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { performAct } from '../../src/sandbox/acts/perform-act.js';
import type { SandboxParts } from '../../src/sandbox/parts.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { jsonTextOf, type Act } from '../recordings-tool/act-file.js';
import { aWorld, furnish } from './every-act.js';
import { RECORDED_LIFE } from './recorded-life.js';
import { readRecordedActs, SERVERS } from './recorded-shapes.js';

/** What one act was told by: deliveries to the organization's hook, and rows of its feed. */
interface Told {
  readonly deliveries: readonly string[];
  readonly feed: readonly string[];
}

/** The object of a push has times and addresses in it: its number of commits must do. */
function shownRow({ op_type, ref_name, content }: { op_type: string; ref_name: string; content: string }): string {
  const pushed = content.startsWith('{') ? `${(JSON.parse(content) as { Len: number }).Len} commits` : content;
  return [op_type, ref_name, pushed].filter((part) => part !== '').join(' ');
}

function named(type: string, json: string): string {
  const { action } = JSON.parse(json) as { action?: string };
  return action === undefined ? type : `${type} ${action}`;
}

function recordedOf({ deliveries, feed }: Act): Told {
  return {
    deliveries: deliveries.filter(({ hook }) => hook === 'acme').map((one) => named(one.event_type, jsonTextOf(one))),
    feed: (feed ?? []).map((row) => shownRow(row as never)),
  };
}

async function live(parts: SandboxParts): Promise<Map<string, Told>> {
  const told = new Map<string, Told>();
  for (const [title, as, act, params] of RECORDED_LIFE) {
    const [lastRow, sentBefore] = [parts.world.feed.at(-1)?.id ?? 0n, parts.deliveries.history().length];
    await performAct(parts, { as, act, params });
    if (title === 'repository created in the organization') furnish(parts);
    const rows = parts.world.feed.filter(({ id }) => id > lastRow);
    told.set(title, {
      deliveries: parts.deliveries
        .history()
        .slice(sentBefore)
        .map(({ text }) => named(text.type, text.json)),
      feed: rows.map((row) => shownRow({ op_type: row.opType, ref_name: row.refName, content: row.content })),
    });
  }
  return told;
}

describe.each(SERVERS)('sandbox, beside the acts recorded on %s', (server, profile) => {
  const recorded = new Map(readRecordedActs(server).map((act) => [act.title, recordedOf(act)]));
  const titles = RECORDED_LIFE.map(([title]) => title).filter((title) => recorded.has(title));
  // The selection for lone clones leaves equal deliveries of large acts out, and says so in the act.
  const thinned = new Set(
    readRecordedActs(server).flatMap(({ title, note }) => (String(note ?? '').includes('left out') ? [title] : [])),
  );
  const whole = titles.filter((title) => !thinned.has(title));
  let sandbox: Sandbox;
  let told: Map<string, Told>;

  beforeAll(async () => {
    sandbox = await startSandbox({ profile, populate: (parts) => aWorld(parts) });
    sandbox.parts.deliveries.faults.dropPercent(100, 1);
    told = await live(sandbox.parts);
  });

  afterAll(() => sandbox.close());

  it('has most of its acts in the life lived here', () => {
    expect(titles.length).toBeGreaterThan(35);
  });

  it('tells each act by the same deliveries, in the same order', () => {
    const ours = Object.fromEntries(whole.map((title) => [title, told.get(title)?.deliveries]));

    expect(whole.length).toBeGreaterThan(10);
    expect(ours).toEqual(Object.fromEntries(whole.map((title) => [title, recorded.get(title)?.deliveries])));
  });

  it('writes the same rows into the feed', () => {
    const ours = Object.fromEntries(titles.map((title) => [title, told.get(title)?.feed]));

    expect(ours).toEqual(Object.fromEntries(titles.map((title) => [title, recorded.get(title)?.feed])));
  });
});
