// Where the specs' imports lead while mutants are tried: '@jest/globals' to the harness, and the project's own modules to those of one loading.
import { load as loadSource, resolve as resolveSource } from '../swc-hooks.mjs';

const HARNESS = new URL('./spec-harness.mjs', import.meta.url).href;
const LOADING = /[?&]loading=(\d+)/;
/** A module is transformed once, however often it is loaded. */
const sources = new Map();

export async function resolve(specifier, context, next) {
  if (specifier === '@jest/globals') return { url: HARNESS, format: 'module', shortCircuit: true };
  const found = await resolveSource(specifier, context, next);
  const loading = LOADING.exec(context.parentURL ?? '')?.[1];
  return loading === undefined || !found.url.endsWith('.ts')
    ? found
    : { ...found, url: `${found.url}?loading=${loading}` };
}

export async function load(url, context, next) {
  const source = url.split('?')[0];
  if (!source.endsWith('.ts')) return next(url, context);
  if (!sources.has(source)) sources.set(source, await loadSource(source, context, next));
  return sources.get(source);
}
