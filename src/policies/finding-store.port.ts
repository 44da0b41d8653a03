import { z } from 'zod';
import { count, fields, maybeText, maybeTime, text, time, type Shape } from '../core/schema.js';
import type { Visibility } from '../core/visibility.js';
import { SEVERITIES, type Finding, type Severity } from '../core/finding.js';

export type { Severity };

/** What one pass of a policy found in one subject. */
export interface SubjectFindings {
  readonly forge: string;
  readonly org: string;
  readonly policy: string;
  /** Number of the repository; '' = the organization. */
  readonly subject: string;
  /** Its name of then. */
  readonly name: string;
  /** Expectations that do not hold. */
  readonly failing: readonly Finding[];
  /** Expectations that were looked at, holding or not; others stay as they were. */
  readonly looked: readonly string[];
  readonly at: Date;
}

export const finding = z.object({ ...fields('name message', text), severity: z.enum(SEVERITIES) });

export const keptFinding = finding.extend({
  ...fields('forge org policy subject subjectName', text),
  ...fields('since lastSeenAt', time),
  endedAt: maybeTime.describe('When it was first seen to hold again; null = it does not hold.'),
});
export type KeptFinding = Shape<typeof keptFinding>;

export const findingsPage = z.object({
  rows: z.array(keptFinding),
  next: maybeText.describe('Where the next page begins; null = this was the last one.'),
  total: count.describe('Findings of all pages.'),
  open: count.describe('How many of them do not hold now.'),
});
export type FindingsPage = Shape<typeof findingsPage>;

export abstract class FindingStore {
  /** Findings that are new are kept, those that hold again are ended. Safe to repeat. */
  abstract record(findings: SubjectFindings): Promise<void>;
  /** By severity, then the newest. Default visibility: everything. */
  abstract list(filter: {
    org?: string | undefined;
    policy?: string | undefined;
    /** Number of a repository; '' = the organization itself. */
    subject?: string | undefined;
    severity?: Severity | undefined;
    ended: boolean;
    visibility?: Visibility | undefined;
    limit: number;
  }): Promise<KeptFinding[]>;
  /** The same, page by page, with how many there are in all, and how many of them do not hold now. @param after `next` of the page before */
  abstract page(filter: Parameters<FindingStore['list']>[0] & { after?: string | undefined }): Promise<FindingsPage>;
  /** How many subjects an expectation does not hold in. */
  abstract countOpen(org: string, policy: string, name: string): Promise<number>;
}
