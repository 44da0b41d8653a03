import { readFileSync } from 'node:fs';
import { compareForge, compareWrites, type Finding } from './compare.js';
import { derive, type Derived } from './derive.js';
import { CannotDerive } from './failures.js';
import type { Handover, JsonObject } from './handover.js';
import { ForgeReader } from './read-forge.js';
import { printFindings } from './print-findings.js';
import { readRuleFiles } from './rule-files.js';

/**
 * `node verify-forge.js HANDOVER.json [--json]`: a process of its own that reads the forge over HTTP and nothing of the bot, and compares it
 * with what the complete rule files ask for after the acts that were played. Status 0 = equal, 1 = not, 3 = could not be told.
 */
async function main([file = '', ...flags]: readonly string[]): Promise<number> {
  const handover = JSON.parse(readFileSync(file, 'utf8')) as Handover;
  const reader = new ForgeReader(handover);
  const derived = await derive(handover, readRuleFiles(handover.rules), reader);
  const elsewhere = [...derived.model.repos.values()]
    .map(({ info }) => String(info.full_name))
    .filter((name) => !name.startsWith(`${handover.org}/`));
  const findings = [
    ...compareForge(derived.model, await reader.snapshot(elsewhere)),
    ...(handover.sandbox === null ? [] : compareWrites(derived.writes, await writesTaken(handover, handover.sandbox))),
    ...(isHeardOf(handover) ? unseen(derived) : []),
  ];
  printFindings(findings, flags.includes('--json'));
  return findings.every(({ verdict }) => verdict === 'ok') ? 0 : 1;
}

/** What the sandbox's ledger says it took from the bot: changes applied, whatever was answered. */
async function writesTaken(
  { api, bot }: Handover,
  sandbox: NonNullable<Handover['sandbox']>,
): Promise<Array<{ method: string; path: string }>> {
  const answer = await fetch(`${sandbox.url}/_sandbox/ledger`, {
    headers: { authorization: `Bearer ${sandbox.controlToken}` },
  });
  if (!answer.ok) throw new Error(`the ledger was answered with ${answer.status}`);
  const { entries } = (await answer.json()) as { entries: Array<JsonObject & { applied: unknown[] }> };
  const base = new URL(api).pathname;
  return entries
    .filter(
      ({ caller, applied, method }) =>
        String(caller).toLowerCase() === bot.login.toLowerCase() && applied.length > 0 && method !== 'GET',
    )
    .map(({ method, path }) => ({
      method: String(method),
      path: decodeURIComponent(String(path).split('?', 1)[0] ?? '').slice(base.length),
    }));
}

/** Where no delivery arrives, rules about what the feed does not tell are left without an effect by right. */
function isHeardOf({ acts }: Handover): boolean {
  return acts.some(({ act, isDropped }) => act === 'push' && !isDropped);
}

/** A rule file that these acts leave without any effect could be missing and nobody would see it. */
function unseen({ files, writes }: Derived): Finding[] {
  const seen = new Set(writes.map(({ by }) => files.get(by)));
  return [...new Set(files.values())].map((file) => ({
    what: 'rule files with an effect',
    by: file,
    item: file,
    verdict: seen.has(file) ? 'ok' : 'missing',
  }));
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(
    error instanceof CannotDerive
      ? `what the rules ask for cannot be told: ${error.message}`
      : `verification failed: ${error instanceof Error ? error.message : String(error)}`,
  );
  process.exitCode = 3;
}
