/** What a decision has to know and has not at hand, as a value: whoever drives the decision answers it, or leaves off. */
interface Question<Answer = unknown> {
  readonly about: 'lookups' | 'proof' | 'fields' | 'ownership' | 'limit';
  /** The answer in memory; null = it is to be read. Absent = it always is. */
  readonly peek?: () => Answer | null;
  /** @throws ForgeError while the forge cannot be asked */
  readonly read: () => Promise<Answer>;
}

/** A decision that stops at each question for its answer. */
export type Deciding<Result> = AsyncGenerator<Question, Result, unknown>;

/** What the facts at hand come to. */
export type Said<Result> =
  | { readonly is: 'decided'; readonly plan: Result }
  | { readonly is: 'needs'; readonly about: Question['about'] };

export async function* ask<Answer>(question: Question<Answer>): Deciding<Answer> {
  return (yield question) as Answer;
}

/** Reads whatever is asked. @throws ForgeError while the forge cannot be asked */
export async function withReads<Result>(deciding: Deciding<Result>): Promise<Result> {
  let step = await deciding.next();
  while (!step.done) step = await deciding.next(await step.value.read());
  return step.value;
}

/** Answers from memory alone, and leaves off at the first question that needs a read. */
export async function byWhatIsAtHand<Result>(deciding: Deciding<Result>): Promise<Said<Result>> {
  let step = await deciding.next();
  while (!step.done) {
    const answer = step.value.peek?.() ?? null;
    if (answer === null) return { is: 'needs', about: step.value.about };
    step = await deciding.next(answer);
  }
  return { is: 'decided', plan: step.value };
}
