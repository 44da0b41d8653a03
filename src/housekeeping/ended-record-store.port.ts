/** Records of what has ended, to which nothing refers that stays. */
export abstract class EndedRecordStore {
  /**
   * Delete, of each kind, at most so many that ended before this time: findings, applied and denied plans, stages of rules that a later stage replaced, gaps,
   * outages, and states of jobs of which no event is kept. A plan stays while a run that it caused is open.
   * @returns how many were deleted, by kind; kinds of which there were none are left out
   */
  abstract prune(before: Date, limit: number): Promise<ReadonlyMap<EndedKind, number>>;
}

export type EndedKind = 'findings' | 'plans' | 'stages' | 'gaps' | 'outages' | 'job states';
