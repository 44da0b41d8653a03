import type { Bot } from './bot.js';

/** Values of a scrape by name and labels as written: `forgehand_deliveries_total{org="acme",…}`. */
export type Metrics = ReadonlyMap<string, number>;

/** Read `/metrics` of a bot whose config has `metrics.listen`. */
export async function readMetrics({ places }: Bot): Promise<Metrics> {
  const address = places.find((place) => place.startsWith('metrics '))?.slice('metrics '.length);
  if (!address) throw new Error('the bot has no metrics listener');
  const text = await (await fetch(`${address}/metrics`)).text();
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}

/** Sum over all label sets of a name, or those whose labels hold the text. */
export function sumOf(metrics: Metrics, name: string, label = ''): number {
  return [...metrics]
    .filter(([key]) => key.startsWith(`${name}{`) && key.includes(label))
    .reduce((sum, [, value]) => sum + value, 0);
}
