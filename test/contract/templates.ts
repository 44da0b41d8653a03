import type { Json } from '../../src/core/json.js';
import { isJsonObject } from '../../src/core/json.js';

/** A template names an answer that this run does not have, or a field that the answer has not. */
export class MissingReference extends Error {
  constructor(readonly reference: string) {
    super(`nothing kept under ${reference}`);
  }
}

const REFERENCE = /\{\{([^{} ]+)\}\}/g;

/** `{{name.field.0.field}}` inside a text. */
export function resolveText(template: string, saved: ReadonlyMap<string, Json>): string {
  return template.replace(REFERENCE, (_, reference: string) => String(lookUp(reference, saved)));
}

/** Names of the answers that a template refers to. */
export function namesIn(template: string): string[] {
  return [...template.matchAll(REFERENCE)].map(([, reference = '']) => reference.split('.')[0] ?? '');
}

/**
 * The same inside a body; a text that is one reference becomes the value itself, so that numbers stay numbers, and
 * `{ repeat: text, times: n }` the long text that it stands for.
 */
export function resolveBody(template: Json, saved: ReadonlyMap<string, Json>): Json {
  if (typeof template === 'string') {
    const whole = /^\{\{([^{} ]+)\}\}$/.exec(template);
    return whole ? lookUp(whole[1] as string, saved) : resolveText(template, saved);
  }
  if (Array.isArray(template)) return template.map((item) => resolveBody(item, saved));
  if (isJsonObject(template) && typeof template.repeat === 'string')
    return template.repeat.repeat(Number(template.times));
  if (isJsonObject(template))
    return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, resolveBody(value, saved)]));
  return template;
}

function lookUp(reference: string, saved: ReadonlyMap<string, Json>): Json {
  const [name, ...fields] = reference.split('.');
  let value: Json | undefined = saved.get(name as string);
  for (const field of fields) {
    if (Array.isArray(value)) value = value[Number(field)];
    else if (isJsonObject(value)) value = value[field];
    else value = undefined;
  }
  if (value === undefined) throw new MissingReference(reference);
  return value;
}
