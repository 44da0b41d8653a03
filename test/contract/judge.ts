import type { Json } from '../../src/core/json.js';
import type { Answer } from './answer.js';
import type { Comparison, Difference } from './compare.js';
import { compareAnswers } from './compare.js';
import { leavesOf } from './leaves.js';
import type { PlayedStep } from './play.js';
import type { Step, Story } from './story.js';
import { isExchange } from './story.js';
import { isTokenList } from './unordered.js';

export interface Verdict {
  readonly story: Story;
  readonly step: Step;
  readonly outcome: 'equal' | 'different' | 'not-offered';
  readonly differences: readonly Difference[];
  /** Why a step is not offered. */
  readonly why?: string;
  readonly leaves: number;
  readonly compared: number;
  readonly played: PlayedStep;
}

/** Hold every played step of a story against its recording. */
export function judgeStory(story: Story, played: readonly PlayedStep[]): Verdict[] {
  return played.map((one) => ({ story, step: one.step, played: one, ...judgeStep(story, one) }));
}

type Judged = Pick<Verdict, 'outcome' | 'differences' | 'leaves' | 'compared' | 'why'>;

function judgeStep(story: Story, played: PlayedStep): Judged {
  switch (played.kind) {
    case 'answered': {
      const comparison = compareStep(story, played);
      return { outcome: comparison.differences.length === 0 ? 'equal' : 'different', ...comparison };
    }
    case 'not-offered':
      return {
        outcome: 'not-offered',
        differences: [],
        why: played.why,
        leaves: recordedLeaves(played.step),
        compared: 0,
      };
    case 'failed':
      return {
        outcome: 'different',
        differences: [{ what: 'step', expected: 'played', got: played.why }],
        leaves: recordedLeaves(played.step),
        compared: 0,
      };
    case 'ran': {
      const same = played.expected === played.offered;
      const word = (offered: boolean): string => (offered ? 'a job' : 'no job');
      const differences = same
        ? []
        : [{ what: 'runner was offered', expected: word(played.expected), got: word(played.offered) }];
      return { outcome: same ? 'equal' : 'different', differences, leaves: 0, compared: 0 };
    }
  }
}

/** Compare an answered step; `recorded` stands in for its recorded answer (the self-test changes that one). */
export function compareStep(
  story: Story,
  played: PlayedStep & { kind: 'answered' },
  recorded: Answer = played.recorded,
): Comparison {
  const { step } = played;
  const listed = listedElsewhere(story, step.request.path, step.n);
  return compareAnswers(recorded, played.answer, {
    server: story.server,
    path: step.request.path,
    ...(listed ? { listed } : {}),
  });
}

/** For a page of a token list: the items that the story's other lists of the same user showed. */
function listedElsewhere(story: Story, path: string, n: number): Json[] | undefined {
  if (!isTokenList(path) || !/[?&](page|limit)=/.test(path)) return undefined;
  const list = path.split('?')[0];
  return story.steps.flatMap((step) => {
    if (!isExchange(step) || step.n === n || step.request.path.split('?')[0] !== list) return [];
    return Array.isArray(step.response.body) ? step.response.body : [];
  });
}

function recordedLeaves(step: Step): number {
  if (!isExchange(step) || step.response.status >= 400 || step.response.body === '') return 0;
  return leavesOf(step.response.body).length;
}
