import Table from 'cli-table3';
import type { Goal } from '../support/figures.js';
import { median, short } from '../support/figures.js';
import type { Contestant, Key } from './contestants.js';
import type { Sample, Setting } from './rounds.js';

type Place = Pick<Setting, 'rules' | 'shape'>;

const FIVE = { shape: 'five match' } as const;

export function goalsOf(samples: readonly Sample[]): Goal[] {
  const all = samples.find(({ shape }) => shape === 'all match')?.rules ?? 0;
  const many = Math.max(...samples.map(({ rules }) => rules));
  return [
    {
      name: 'rules-10000-by-10 (time, at most)',
      wanted: { atMost: 2 },
      measured: ratioOf(samples, ['ours', { ...FIVE, rules: 10_000 }], ['ours', { ...FIVE, rules: 10 }]),
    },
    {
      name: 'rules-json-rules-engine-1000',
      wanted: { atLeast: 20 },
      measured: ratioOf(samples, ['json-rules-engine', { ...FIVE, rules: 1000 }], ['ours', { ...FIVE, rules: 1000 }]),
    },
    {
      name: 'rules-traced-five-match (time, at most)',
      wanted: { atMost: 2 },
      measured: ratioOf(samples, ['ours', { ...FIVE, rules: many }], ['untraced', { ...FIVE, rules: many }]),
    },
    {
      name: 'rules-traced-all-match (time, at most)',
      wanted: { atMost: 2 },
      measured: ratioOf(
        samples,
        ['ours', { shape: 'all match', rules: all }],
        ['untraced', { shape: 'all match', rules: all }],
      ),
    },
  ];
}

/** Median over the rounds of one's time by the other's in the same round; null when one of them did not run. */
function ratioOf(samples: readonly Sample[], one: readonly [Key, Place], other: readonly [Key, Place]): number | null {
  const others = samplesOf(samples, ...other);
  const ratios = samplesOf(samples, ...one).flatMap(({ round, usPerEvent }) => {
    const pair = others.find((sample) => sample.round === round);
    return pair ? [usPerEvent / pair.usPerEvent] : [];
  });
  return ratios.length > 0 ? median(ratios) : null;
}

function samplesOf(samples: readonly Sample[], key: Key, { rules, shape }: Place): Sample[] {
  return samples.filter((sample) => sample.contestant === key && sample.rules === rules && sample.shape === shape);
}

export function tableOf(
  samples: readonly Sample[],
  contestants: readonly Contestant[],
  settings: readonly Setting[],
): string {
  const table = new Table({
    head: ['rules', 'which', 'engine', 'events per s', 'us per event', 'x'],
    style: { head: [], border: [] },
    colAligns: ['right', 'left', 'left', 'right', 'right', 'right'],
  });
  for (const setting of settings) {
    for (const { key, name } of contestants) {
      const us = median(samplesOf(samples, key, setting).map(({ usPerEvent }) => usPerEvent));
      table.push([
        setting.rules,
        setting.shape,
        name,
        short(1e6 / us),
        short(us),
        short(ratioOf(samples, [key, setting], ['ours', setting]) ?? NaN),
      ]);
    }
  }
  return table.toString();
}
