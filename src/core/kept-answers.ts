import { LRUCache } from 'lru-cache';

/** Answers to questions that many ask: the source is asked once in a while, and those who ask meanwhile share its answer. */
export class KeptAnswers<Answer> {
  private readonly answers: LRUCache<string, { readonly untilMs: number; readonly answer: Promise<Answer> }>;

  /** @param max number of questions whose answers are kept, the newest ones. Default: 1,000 */
  constructor(
    private readonly nowMs: () => number,
    max = 1_000,
  ) {
    this.answers = new LRUCache({ max });
  }

  /** @param ask called where no answer is younger than `keptMs` */
  get(question: string, keptMs: number, ask: () => Promise<Answer>): Promise<Answer> {
    const now = this.nowMs();
    const last = this.answers.get(question);
    if (last && last.untilMs > now) return last.answer;
    const next = { untilMs: now + keptMs, answer: ask() };
    this.answers.set(question, next);
    // A question that failed is no answer for the next one.
    next.answer.catch(() => {
      if (this.answers.peek(question) === next) this.answers.delete(question);
    });
    return next.answer;
  }

  /**
   * The same for several questions, whose source is asked once for all that have no answer.
   * @param ask is given those, and says what the answer to each is
   */
  getAll<Asked>(
    questions: ReadonlyArray<readonly [question: string, subject: Asked]>,
    keptMs: number,
    ask: (missing: readonly Asked[]) => Promise<(subject: Asked) => Answer>,
  ): Promise<Answer[]> {
    const now = this.nowMs();
    const missing = new Map(questions.filter(([question]) => (this.answers.get(question)?.untilMs ?? now) <= now));
    const together = missing.size === 0 ? null : ask([...missing.values()]);
    // An answer may end between the two looks: it is not among those that were asked for together.
    return Promise.all(
      questions.map(([question, subject]) =>
        this.get(question, keptMs, async () =>
          (await (together && missing.has(question) ? together : ask([subject])))(subject),
        ),
      ),
    );
  }
}
