import { normalizeLines } from './same.js';

const MAX_VALUE = 65_536;

/** Name as servers store it. */
export function variableName(name: string): string {
  return name.toUpperCase();
}

/** Why servers refuse this name, or null. Source: api-behaviour op 17. */
export function checkVariableName(name: string): string | null {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    return 'must be letters, digits and underscores, and not begin with a digit';
  if (/^(GITEA|GITHUB)_/i.test(name)) return 'must not begin with GITEA_ or GITHUB_';
  return /^CI$/i.test(name) ? 'must not be CI' : null;
}

/** Why servers refuse this value, or null. */
export function checkVariableValue(value: string): string | null {
  if (value === '') return 'must not be empty (the forge refuses an empty value)';
  return value.length > MAX_VALUE ? `must not be longer than ${MAX_VALUE} characters` : null;
}

/** Values as servers keep them. */
export function isSameValue(wanted: string, told: string): boolean {
  return normalizeLines(wanted) === normalizeLines(told);
}
