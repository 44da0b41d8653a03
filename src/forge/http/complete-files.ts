import { posix } from 'node:path';
import { ForgeError } from '../../core/errors.js';
import type { AnyForgeCall, CallOptions } from '../forge-client.js';
import type { OperationName } from '../operations.js';
import type { Contents } from '../../core/objects/git.js';
import { failedCall } from '../failed-call.js';

type Args = Readonly<Record<string, unknown>>;

/**
 * Op 5 until every file asked for is answered: servers cut the answer at 30 results and at a total size without saying so,
 * and an answer beyond our own cap is asked for again in halves. Order is kept; null = cannot be had.
 */
export function completeFiles(name: OperationName, once: AnyForgeCall): AnyForgeCall {
  return async (args, options) => {
    const files = filesOf(args);
    if (files === null) return once(args, options);
    const contents: (Contents | null)[] = [];
    const todo: (readonly string[])[] = [files];
    for (let part = todo.shift(); part !== undefined; part = todo.shift()) {
      const answer = await askOrHalve(once, withFiles(args, part), part, options);
      if (answer === 'too-large') {
        const middle = Math.ceil(part.length / 2);
        todo.unshift(part.slice(0, middle), part.slice(middle));
        continue;
      }
      checkOrder(name, part, answer);
      contents.push(...answer);
      if (answer.length < part.length) todo.unshift(part.slice(answer.length));
    }
    return contents;
  };
}

async function askOrHalve(
  once: AnyForgeCall,
  args: Args,
  part: readonly string[],
  options?: CallOptions,
): Promise<(Contents | null)[] | 'too-large'> {
  try {
    return (await once(args, options)) as (Contents | null)[];
  } catch (error) {
    if (error instanceof ForgeError && error.facts.detail === 'too-large' && part.length > 1) return 'too-large';
    throw error;
  }
}

/** Results carry no key but their place and path: an answer in another order would hand out the wrong file. */
function checkOrder(operation: OperationName, paths: readonly string[], answer: readonly (Contents | null)[]): void {
  const wrong =
    answer.length > paths.length ||
    (answer.length === 0 && paths.length > 0) ||
    answer.some((entry, place) => typeof entry?.path === 'string' && normal(entry.path) !== normal(paths[place] ?? ''));
  if (wrong) throw failedCall('unknown', 'other-files', { operation, detail: 'shape' });
}

function normal(path: string): string {
  return posix.normalize(`/${path}`).replace(/\/$/, '');
}

function filesOf(args: Args): readonly string[] | null {
  const body = typeof args['body'] === 'string' ? tryJson(args['body']) : args['body'];
  const files = (body as { files?: unknown } | null | undefined)?.files;
  return Array.isArray(files) && files.every((file) => typeof file === 'string') ? files : null;
}

function withFiles(args: Args, files: readonly string[]): Args {
  return { ...args, body: typeof args['body'] === 'string' ? JSON.stringify({ files }) : { files } };
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
