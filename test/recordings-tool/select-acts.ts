// Copies the selection that `test/recordings` carries: for every server the smallest acts that together tell every kind of event, every word of
// the feed and every way of sending. `node --import ./test/register-swc.mjs test/recordings-tool/select-acts.ts FROM TO`, where FROM holds `<server>/acts/*.json`.
// To keep the repository small, answers of calls are left out, and in large acts the second of two hooks that were sent the same bodies
// (many hooks together, and small acts, stay whole).
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Misfit } from '../../src/events/event-fact.js';
import { normalizeDelivery } from '../builders/normalize-delivery.js';
import type { Act } from './act-file.js';
import { factOf, jsonTextOf, readActFolders } from './act-file.js';

const LARGE_BYTES = 22_000;

const [from, to] = process.argv.slice(2);
if (!from || !to) throw new Error('usage: select-acts.ts FROM TO');

for (const { name: server } of readdirSync(from, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
  const acts = readActFolders(join(from, server)).flatMap((folder) => folder.acts);
  if (acts.length === 0) continue;
  const target = join(to, server, 'acts');
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const chosen = choose(acts);
  let bytes = 0;
  for (const act of chosen) {
    const text = `${JSON.stringify(slim(act), null, 1)}\n`;
    writeFileSync(join(target, basename(act.file)), text);
    bytes += Buffer.byteLength(text);
  }
  console.log(`${server}: ${chosen.length} of ${acts.length} acts, ${bytes} bytes`);
}

/** Smallest act first for each thing to tell; then those that the others make needless go. */
function choose(acts: readonly Act[]): Act[] {
  const bySize = [...acts].sort((a, b) => sizeOf(a) - sizeOf(b));
  const chosen = new Set<Act>();
  for (const word of new Set(acts.flatMap(wordsOf))) {
    const smallest = bySize.find((act) => wordsOf(act).includes(word));
    if (smallest) chosen.add(smallest);
  }
  for (const act of [...chosen].sort((a, b) => sizeOf(b) - sizeOf(a))) {
    const others = new Set([...chosen].filter((other) => other !== act).flatMap(wordsOf));
    if (wordsOf(act).every((word) => others.has(word))) chosen.delete(act);
  }
  return acts.filter((act) => chosen.has(act));
}

function slim(act: Act): object {
  const content = JSON.parse(readFileSync(act.file, 'utf8')) as {
    calls?: Array<{ answer?: unknown }>;
    deliveries: unknown[];
    note?: string;
  };
  for (const call of content.calls ?? []) delete call.answer;
  const hooks = new Set(act.deliveries.map((delivery) => delivery.hook));
  if (hooks.size !== 2 || sizeOf(act) < LARGE_BYTES) return content;
  const facts = act.deliveries.map((delivery) => factOf(act, delivery));
  content.deliveries = content.deliveries.filter((_, index) => facts.indexOf(facts[index] ?? '') === index);
  content.note = [content.note, "the second hook's equal deliveries are left out"].filter(Boolean).join('; ');
  return content;
}

function wordsOf(act: Act): string[] {
  const words = new Set<string>();
  for (const delivery of act.deliveries) {
    const fact = normalizeDelivery({
      org: 'acme',
      eventType: delivery.event_type,
      text: jsonTextOf(delivery),
    });
    words.add(
      `delivery ${delivery.event_type} ${fact instanceof Misfit ? 'misfit' : `${fact.kind} ${String(fact.data.action ?? '')}`}`,
    );
    words.add(`sent as ${delivery.content_type} ${delivery.secret ? 'signed' : 'unsigned'}`);
  }
  for (const row of act.feed ?? [])
    words.add(`feed ${row.op_type} ${'content' in row && row.content === '' ? 'empty' : ''}`);
  for (const task of act.tasks ?? []) words.add(`task ${String(task.status)}`);
  return [...words];
}

function sizeOf(act: Act): number {
  return statSync(act.file).size;
}
