import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';

/** `@jest/globals` throws outside of a sandbox of jest. */
const JEST_GLOBALS = new URL('./jest/globals.mjs', import.meta.url).href;

/** A file is transformed once, by whichever process asks first; its last line tells of which text. */
const CACHE = fileURLToPath(new URL('../node_modules/.cache/swc', import.meta.url));
mkdirSync(CACHE, { recursive: true });

/** `tsx`: whether `<` may begin an element. */
const settings = (tsx) => ({
  swcrc: false,
  sourceMaps: true,
  module: { type: 'es6' },
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true, tsx },
    keepClassNames: true,
    transform: {
      react: { runtime: 'automatic', importSource: 'preact' },
      legacyDecorator: true,
      decoratorMetadata: true,
      useDefineForClassFields: false,
    },
  },
});

/** A relative import that ends in `.js` means the `.ts` or `.tsx` beside it, as tsc reads it. */
export function resolve(specifier, context, next) {
  if (specifier === '@jest/globals') return { url: JEST_GLOBALS, format: 'module', shortCircuit: true };
  if (/^\.{1,2}\//.test(specifier) && specifier.endsWith('.js') && context.parentURL) {
    for (const extension of ['.ts', '.tsx']) {
      const source = new URL(specifier.replace(/\.js$/, extension), context.parentURL);
      if (source.protocol === 'file:' && existsSync(source))
        return { url: source.href, format: 'module', shortCircuit: true };
    }
  }
  return next(specifier, context);
}

/** Decorators with metadata, no type check. */
export function load(url, context, next) {
  if (!url.startsWith('file:') || !/\.tsx?$/.test(url)) return next(url, context);
  const filename = fileURLToPath(url);
  const source = readFileSync(filename, 'utf8');
  const kept = join(CACHE, hashOf(filename));
  const mark = `//${hashOf(source)}\n`;
  if (existsSync(`${kept}.js`)) {
    const text = readFileSync(`${kept}.js`, 'utf8');
    if (text.endsWith(mark)) return { format: 'module', source: text, shortCircuit: true };
  }
  const { code, map } = transformSync(source, { filename, ...settings(filename.endsWith('.tsx')) });
  const mapUrl = `data:application/json;base64,${Buffer.from(map).toString('base64')}`;
  const text = `${code}\n//# sourceMappingURL=${mapUrl}\n${mark}`;
  keep(`${kept}.map`, map);
  keep(`${kept}.js`, text);
  return { format: 'module', source: text, shortCircuit: true };
}

/** The names under which a file is kept, and its map: jest/shared-realm-runtime.cjs looks for that. */
function hashOf(text) {
  return createHash('sha1').update(text).digest('hex');
}

/** Another process may keep the same at this moment. */
function keep(path, text) {
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, text);
  renameSync(unfinished, path);
}
