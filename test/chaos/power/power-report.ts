import { some } from '../report.js';
import { CLASSES } from './cut-points.js';
import type { PowerReport } from './power-goal.js';

/** What may not be; empty = the run holds. */
export function wrongOfPower({ classes, wrong, planted }: PowerReport): string[] {
  return [
    ...some('faults', wrong),
    ...CLASSES.filter((name) => classes[name].cuts === 0).map((name) => `the class "${name}" was never hit`),
    ...(CLASSES.every((name) => classes[name].dropped === 0)
      ? ['no cut dropped anything: this disk forgets nothing']
      : []),
    ...(planted.withLosses === 0
      ? [`${planted.cuts} cuts without flushes, and no loss was seen: this rig finds nothing`]
      : []),
  ];
}

export function linesOfPower(report: PowerReport): string[] {
  const { seed, cuts, deliveries, records, flushes, classes, planted, wrong, tookMs } = report;
  const of = (word: string): number => wrong.filter((line) => line.includes(`${word}:`)).length;
  return [
    `power, seed ${seed}: ${cuts} cuts in a storm of ${deliveries} deliveries, ${Math.round(tookMs / 1000)} s`,
    `  recorded: ${records} calls to the disk, ${flushes} of them flushes`,
    `  hit: ${CLASSES.map((name) => `${classes[name].cuts} ${name} (${classes[name].dropped} dropped)`).join(', ')}`,
    `  without flushes: ${planted.withLosses} of ${planted.cuts} cuts lost something`,
    `  lost ${of('lost')}, doubled ${of('doubled')}, stores that did not open ${wrong.filter((line) => line.includes('does not open')).length}`,
  ];
}
