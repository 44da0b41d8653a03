import { alert, type AlertKey, type Alerts } from '../core/alerts.js';
import type { RecordedRun } from '../pipeline/journal-store.port.js';
import type { Severity } from '../rules/language/revision.js';
import type { FindingStore } from './finding-store.port.js';

/** What a person is told of at once; the others are in the list. */
const LOUD: readonly Severity[] = ['high', 'critical'];

/** Keeps what the expectations of policies find, and tells of the grave ones: once for each expectation, until it holds everywhere again. */
export class FindingKeeper {
  constructor(private readonly deps: { readonly findings: FindingStore; readonly alerts: Alerts }) {}

  async keep({ run, found }: Pick<RecordedRun, 'run' | 'found'>): Promise<void> {
    if (!found) return;
    const { findings, alerts } = this.deps;
    const { forge, org, rule: policy, decidedAt: at } = run;
    await findings.record({
      forge,
      org,
      policy,
      subject: found.subject,
      name: found.name,
      failing: found.failing,
      looked: found.looked,
      at,
    });
    const failing = new Set(found.failing.map(({ name }) => name));
    for (const { name, severity, message } of found.failing)
      if (LOUD.includes(severity))
        alerts.raise(keyOf(org, policy, name), alert('finding', { subject: found.name, message }), {
          policy,
          expectation: name,
          severity,
        });
    for (const name of found.looked)
      if (!failing.has(name) && (await findings.countOpen(org, policy, name)) === 0)
        alerts.resolve(keyOf(org, policy, name));
  }
}

function keyOf(org: string, policy: string, name: string): AlertKey<'finding'> {
  return `finding/${org}/${policy}/${name}`;
}
