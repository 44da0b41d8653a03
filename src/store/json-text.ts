import type { ValueTransformer } from 'typeorm';
import { parseJson, stringifyJson } from '../core/json.js';

/**
 * JSON lives in `text` columns, not `jsonb`: jsonb refuses `\u0000`, which anybody may put into a title, and `pg` would round
 * whole numbers above 2^53 on the way back.
 */
export const jsonText: ValueTransformer = {
  to: (value: unknown) => (value === undefined ? undefined : stringifyJson(value)),
  from: (text: string | null) => (text === null ? null : parseJson(text)),
};
