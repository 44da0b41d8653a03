import type { Clock } from '../../core/clock.js';
import { stringifyJson } from '../../core/json.js';
import type { LookupAnswer, LookupReader, LookupScope } from './lookup-reader.port.js';
import type { LookupRequest } from '../../rules/language/revision.js';
import type { LookupFacts } from '../../rules/language/catalogue.js';

/** What was read so long ago is read again. */
const FRESH_MS = 10_000;
/** Passes whose answers are kept; the oldest go first. */
const MAX_PASSES = 8;

interface Kept {
  readonly readAtMs: number;
  readonly answer: Promise<LookupAnswer>;
}

/**
 * Identical reads of the decisions of one pass (`LookupScope.pass`), made once: what a policy asks about the organization is not asked again for
 * each of a thousand repositories. That the forge could not be asked, or refused, is its asker's alone.
 */
export class CoalescedLookups implements LookupReader {
  private readonly passes = new Map<string, Map<string, Kept>>();

  constructor(
    private readonly reader: LookupReader,
    private readonly lookups: ReadonlyMap<string, Pick<LookupFacts, 'target'>>,
    private readonly clock: Clock,
  ) {}

  read(request: LookupRequest, scope: LookupScope): Promise<LookupAnswer> {
    if (scope.pass === undefined) return this.reader.read(request, scope);
    const answers = this.keptOf(scope.pass);
    const { use, params, first = null, maxAgeS } = request;
    const isAboutRepository = (this.lookups.get(use)?.target ?? 'repository') === 'repository';
    const key = stringifyJson([
      scope.forge,
      scope.org,
      isAboutRepository ? (scope.repo?.id ?? null) : null,
      use,
      params,
      first,
      maxAgeS ?? null,
    ]);
    const nowMs = this.clock.monotonicMs();
    const earlier = answers.get(key);
    if (earlier && nowMs - earlier.readAtMs < FRESH_MS) return earlier.answer;
    const answer = this.reader.read(request, scope);
    answers.set(key, { readAtMs: nowMs, answer });
    const forget = (): void => void (answers.get(key)?.answer === answer && answers.delete(key));
    answer.then((result) => ('failed' in result ? forget() : undefined), forget);
    return answer;
  }

  private keptOf(pass: string): Map<string, Kept> {
    const ofPass = this.passes.get(pass);
    if (ofPass) return ofPass;
    const fresh = new Map<string, Kept>();
    this.passes.set(pass, fresh);
    for (const oldest of this.passes.keys()) {
      if (this.passes.size <= MAX_PASSES) break;
      this.passes.delete(oldest);
    }
    return fresh;
  }
}
