import type { JsonObject } from '../../core/json.js';
import { Refusal } from '../answer.js';

/** A text field; '' when absent. */
export function text(entry: JsonObject, key: string): string {
  const value = entry[key] ?? '';
  if (typeof value !== 'string') throw new Refusal(422, `${key}: a text is needed`);
  return value;
}

/** @throws Refusal 422 when absent or empty */
export function required(entry: JsonObject, key: string): string {
  const value = text(entry, key);
  if (value === '') throw new Refusal(422, `${key} is needed`);
  return value;
}

/** A list of texts; empty when absent. */
export function list(entry: JsonObject, key: string): string[] {
  const value = entry[key] ?? [];
  if (!Array.isArray(value) || !value.every((one): one is string => typeof one === 'string')) throw new Refusal(422, `${key}: a list of texts is needed`);
  return value;
}
