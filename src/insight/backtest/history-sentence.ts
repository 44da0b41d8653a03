import type { BacktestReport } from './backtest-report.js';

/** What a change of rules would have changed, in one sentence. */
export function historySentence({ events, rules }: Pick<BacktestReport, 'events' | 'rules'>): string {
  const sum = (pick: (rule: BacktestReport['rules'][number]) => number): number =>
    rules.reduce((total, rule) => total + pick(rule), 0);
  const parts = [
    [sum(({ differences }) => differences.firesNow.count), 'more'],
    [sum(({ differences }) => differences.firesNoMore.count), 'fewer'],
    [sum(({ differences }) => differences.otherEffects.count), 'with other effects'],
    [sum(({ differences }) => differences.failsNow.count), 'failing'],
    [sum(({ differences }) => differences.unknown.count), 'not known'],
  ] as const;
  const changed = parts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  return `on the last ${events} events: ${changed.length === 0 ? 'nothing would have changed' : `runs ${changed.join(', ')}`}`;
}
