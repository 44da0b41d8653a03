import { Inject, Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import { alert, type AlertKey, Alerts } from '../core/alerts.js';
import type { RecordedRun } from '../pipeline/journal-store.port.js';
import { comparable } from '../pipeline/execute/objections.js';
import { RecoveryStore } from '../pipeline/recovery-store.port.js';
import type { Finding, PolicyFindings, Severity } from '../core/finding.js';
import { FindingStore } from './finding-store.port.js';

/** What a person is told of at once; the others are in the list. */
const LOUD: readonly Severity[] = ['high', 'critical'];

/** So many times made, and undone each time: no accident. */
const UNDONE_AGAIN = 2;
const UNDONE_PREFIX = 'undone/';
/** Effects of one object that are looked at; more than a habit of undoing needs. */
const LOOKED_AT = 8;
const MOST_OPEN = 10_000;

/** Keeps what the expectations of policies find, and tells of the grave ones: once for each expectation, until it holds everywhere again. */
@Injectable()
export class FindingKeeper {
  constructor(
    @Inject(FindingStore) private readonly findings: Omit<FindingStore, 'page'>,
    private readonly alerts: Alerts,
    @Inject(RecoveryStore) private readonly recovery: Pick<RecoveryStore, 'sentOfEffects'>,
  ) {}

  async keep(recorded: Pick<RecordedRun, 'run' | 'intents' | 'findings'>): Promise<void> {
    if (!recorded.findings) return;
    const { findings, alerts } = this;
    const { forge, org, rule: policy, decidedAt: at } = recorded.run;
    const undone = await this.undoneAgain(recorded, recorded.findings.subject);
    const allFindings = {
      ...recorded.findings,
      failing: [...recorded.findings.failing, ...undone.failing],
      looked: [...recorded.findings.looked, ...undone.looked],
    };
    await findings.record({
      forge,
      org,
      policy,
      subject: allFindings.subject,
      name: allFindings.name,
      failing: allFindings.failing,
      looked: allFindings.looked,
      at,
    });
    const failing = new Set(allFindings.failing.map(({ name }) => name));
    for (const { name, severity, message } of allFindings.failing)
      if (LOUD.includes(severity))
        alerts.raise(keyOf(org, policy, name), alert('finding', { subject: allFindings.name, message }), {
          org,
          policy,
          expectation: name,
          severity,
        });
    for (const name of allFindings.looked)
      if (!failing.has(name) && (await findings.countOpen(org, policy, name)) === 0)
        alerts.resolve(keyOf(org, policy, name));
  }

  /** What the policy has made twice as it wants it once more. It is over once a pass finds it as it should be. */
  private async undoneAgain(
    { run, intents }: Pick<RecordedRun, 'run' | 'intents'>,
    subject: string,
  ): Promise<PolicyFindings> {
    const { findings, recovery } = this;
    const { org, rule: policy } = run;
    const failing: Finding[] = [];
    // Side by side: the store answers all of them at once.
    const sent = await Promise.all(intents.map(({ effectKey }) => recovery.sentOfEffects([effectKey], LOOKED_AT)));
    for (const [n, { stepId, itemKey, params, action }] of intents.entries()) {
      const before = (sent[n] ?? []).filter(
        ({ intent }) =>
          intent.state === 'done' &&
          intent.rule === policy &&
          intent.action === action &&
          isDeepStrictEqual(comparable(intent.params), comparable(params)),
      );
      if (before.length < UNDONE_AGAIN) continue;
      const message = `${stepId}: ${itemKey} was made ${before.length} times and is not so again: somebody undoes it. Take it out of the policy, or write respect_undo: true`;
      failing.push({ name: `${UNDONE_PREFIX}${stepId}/${itemKey}`, severity: 'medium', message });
    }
    const names = new Set(failing.map(({ name }) => name));
    const open = await findings.list({ org, policy, subject, ended: false, limit: MOST_OPEN });
    const over = open.filter(({ name }) => name.startsWith(UNDONE_PREFIX));
    return { failing, looked: [...new Set([...names, ...over.map(({ name }) => name)])] };
  }
}

function keyOf(org: string, policy: string, name: string): AlertKey<'finding'> {
  return `finding/${org}/${policy}/${name}`;
}
