import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { jsonTextOf, readActFolders, type Act, type RecordedDelivery } from '../recordings-tool/act-file.js';
import { keySetsOf, type KeySets } from './key-sets.js';

/** Every recorded server, with the profile that plays it. */
export const SERVERS = [
  ['gitea-1.27', 'gitea'],
  ['gitea-1.26', 'gitea@1.26'],
  ['gitea-1.24', 'gitea@1.24'],
  ['forgejo-15', 'forgejo'],
] as const;

const FULL = join(process.cwd(), '../shared/recordings');
const SELECTION = join(process.cwd(), 'test/recordings');

/** The shapes of every recorded body of a server, so that a clone without the full recordings is held to all of them. */
export const shapesFile = (server: string): string => join(process.cwd(), `test/deliveries/shapes.${server}.json`);

/** Whether the full set of recordings lies beside the repository. */
export const hasFullSet = existsSync(FULL);

export function readRecordedActs(server: string): Act[] {
  return readActFolders(join(hasFullSet ? FULL : SELECTION, server, 'acts')).flatMap(({ acts }) => acts);
}

export function readRecordedDeliveries(server: string): RecordedDelivery[] {
  return readRecordedActs(server).flatMap((act) => act.deliveries);
}

/** Bodies by event type and action (`push`, `issues/opened`). */
export function groupBodies<T>(
  items: readonly T[],
  read: (item: T) => { type: string; json: string },
): Map<string, unknown[]> {
  const groups = new Map<string, unknown[]>();
  for (const item of items) {
    const { type, json } = read(item);
    const body = JSON.parse(json) as { action?: string };
    const name = `${type}${body.action === undefined ? '' : `/${body.action}`}`;
    groups.set(name, [...(groups.get(name) ?? []), body]);
  }
  return groups;
}

export function groupRecorded(deliveries: readonly RecordedDelivery[]): Map<string, unknown[]> {
  return groupBodies(deliveries, (one) => ({ type: one.event_type, json: jsonTextOf(one) }));
}

/** Each set of keys is written once and referred to by its place in the list. */
interface ShapesFile {
  generator: string;
  keys: string[];
  groups: Record<string, Record<string, number[]>>;
}

export function writeShapes(groups: ReadonlyMap<string, unknown[]>): ShapesFile {
  const keys: string[] = [];
  const placeOf = (shape: string): number => (keys.includes(shape) ? keys.indexOf(shape) : keys.push(shape) - 1);
  const shown = [...groups].map(
    ([name, bodies]) =>
      [
        name,
        Object.fromEntries([...keySetsOf(bodies)].map(([path, shapes]) => [path, [...shapes].map(placeOf)])),
      ] as const,
  );
  return { generator: 'test/deliveries/write-shapes.ts', groups: Object.fromEntries(shown), keys };
}

export function readShapes(server: string): Map<string, KeySets> {
  const { keys, groups } = JSON.parse(readFileSync(shapesFile(server), 'utf8')) as ShapesFile;
  const setsOf = (paths: Record<string, number[]>): KeySets =>
    new Map(Object.entries(paths).map(([path, places]) => [path, new Set(places.map((place) => keys[place] ?? ''))]));
  return new Map(Object.entries(groups).map(([name, paths]) => [name, setsOf(paths)]));
}
