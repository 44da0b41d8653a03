import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.js';
import { stringifyJson } from '../../core/json.js';
import type { LookupAnswer, LookupReader, LookupScope } from './lookup-reader.port.js';
import type { LookupRequest } from '../../rules/language/revision.js';

/** Answers kept, and characters of all of them together; those not asked for the longest go first. */
const MAX_ANSWERS = 1_000;
const MAX_CHARACTERS = 16 * 1024 * 1024;

interface Kept {
  readonly answer: LookupAnswer;
  readonly at: Date;
  readonly size: number;
}

/**
 * Gives an answer again where the rule says how old it may be (`cache`): the same lookup with the same parameters, of the same
 * organization and, where it is about one, the same repository. Only what the forge said is kept, never that it could not be asked.
 * Each process has its own: what a restart loses costs one read.
 */
export class CachedLookups implements LookupReader {
  private readonly answers = new LRUCache<string, Kept>({
    max: MAX_ANSWERS,
    maxSize: MAX_CHARACTERS,
    sizeCalculation: ({ size }) => Math.max(size, 1),
  });

  constructor(
    private readonly reader: LookupReader,
    private readonly clock: Clock,
  ) {}

  async read(request: LookupRequest, scope: LookupScope): Promise<LookupAnswer> {
    if (request.maxAgeS === undefined) return this.reader.read(request, scope);
    const { use, params, first = null } = request;
    const key = stringifyJson([scope.forge, scope.org, scope.repo?.id ?? null, use, sorted(params), first]);
    const earlier = this.answers.get(key);
    if (earlier && this.clock.now().getTime() - earlier.at.getTime() <= request.maxAgeS * 1000)
      return { ...earlier.answer, cachedAt: earlier.at.toISOString() };
    // The age counts from before the read: what changes while it is under way is not older than it says.
    const at = this.clock.now();
    const answer = await this.reader.read(request, scope);
    if (!('failed' in answer)) this.answers.set(key, { answer, at, size: stringifyJson({ ...answer }).length });
    return answer;
  }
}

/** The order in which parameters are written says nothing. */
function sorted(params: LookupRequest['params']): LookupRequest['params'] {
  return Object.fromEntries(Object.entries(params).sort(([a], [b]) => (a < b ? -1 : 1)));
}
