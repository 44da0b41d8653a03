import { readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { hashOf } from '../../src/core/ids.js';

const deliverySchema = z.looseObject({
  hook: z.string().min(1),
  secret: z.string().nullish(),
  authorization_header: z.string().nullish(),
  content_type: z.enum(['json', 'form']),
  event_type: z.string(),
  method: z.string().default('POST'),
  headers: z.array(z.tuple([z.string(), z.string()])),
  body: z.string(),
});

const actSchema = z.looseObject({
  n: z.number(),
  title: z.string(),
  server: z.string().optional(),
  org: z.string().min(1),
  deliveries: z.array(deliverySchema),
  feed: z.array(z.looseObject({ op_type: z.string() })).nullish(),
  tasks: z.array(z.looseObject({})).nullish(),
});

export type RecordedDelivery = z.output<typeof deliverySchema>;
export type Act = z.output<typeof actSchema> & { readonly file: string };

/** Act files of one folder, in file order. */
export interface ActFolder {
  readonly folder: string;
  readonly acts: readonly Act[];
}

/**
 * Every act file below a folder (or the one file named), by folder. A JSON file without `deliveries` is something else and left out.
 * @throws Error naming the file when one is not JSON, or has `deliveries` but not the format's fields
 */
export function readActFolders(path: string): ActFolder[] {
  const files = path.endsWith('.json')
    ? [path]
    : readdirSync(path, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.json'))
        .map((name) => join(path, name));
  const folders = new Map<string, Act[]>();
  for (const file of files.sort(inFileOrder)) {
    const act = readAct(file);
    if (act) folders.set(dirname(file), [...(folders.get(dirname(file)) ?? []), act]);
  }
  return [...folders].map(([folder, acts]) => ({ folder, acts }));
}

/** A fact is a distinct (organization, event type, JSON text). */
export function factOf(act: Act, delivery: RecordedDelivery): string {
  return hashOf(act.org.toLowerCase(), delivery.event_type, jsonTextOf(delivery));
}

/** The body; for `form` the decoded value of `payload`. */
export function jsonTextOf(delivery: RecordedDelivery): string {
  return delivery.content_type === 'form' ? (new URLSearchParams(delivery.body).get('payload') ?? '') : delivery.body;
}

function readAct(file: string): Act | null {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new Error(`${file} is not JSON`, { cause });
  }
  if (typeof content !== 'object' || content === null || !('deliveries' in content)) return null;
  const act = actSchema.safeParse(content);
  if (!act.success) throw new Error(`${file} is no act file: ${z.prettifyError(act.error)}`);
  return { ...act.data, file };
}

/** Names start with a number of three digits or more; compared as numbers where both have one. */
function inFileOrder(a: string, b: string): number {
  return dirname(a).localeCompare(dirname(b), 'en') || basename(a).localeCompare(basename(b), 'en', { numeric: true });
}
