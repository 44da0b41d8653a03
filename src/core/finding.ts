export const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** An expectation of a policy that does not hold. */
export interface Finding {
  readonly name: string;
  readonly severity: Severity;
  readonly message: string;
}

export interface PolicyFindings {
  /** What does not hold. */
  readonly failing: readonly Finding[];
  /** Names of all that could be looked at. */
  readonly looked: readonly string[];
}
