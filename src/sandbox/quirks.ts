/** What a server does in its world by itself, before anybody asks: data of a profile. Source: recordings of each server. */
export interface ServerQuirks {
  /** Theme of a new user. */
  readonly theme: string;
  /** Maintainers may change the branch of a new pull request unless its author says otherwise. */
  readonly maintainersMayEdit: boolean;
  /** Of a new issue with assignees this comes first. */
  readonly newIssue: 'opened' | 'assigned';
  /** Order in which the people named in one edit are assigned. Real servers keep none; these are the recorded turns. */
  readonly assigneesOfOneEdit: 'as named' | 'by user';
  /** A forced push to a pull request: the rows of earlier pushes go and all its commits get one, or only the row of the force is added. */
  readonly forcedPush: 'told anew' | 'added';
  /** Running failed jobs again makes new jobs under a new attempt, or starts the same jobs over. */
  readonly rerun: 'new attempt' | 'same jobs';
  /** Reviewers of a pull request are listed once they reviewed it, or once they gave a verdict. */
  readonly reviewersListed: 'all' | 'verdicts';
  /** For a protected branch, a review asked of a team counts when the team may write by its units. */
  readonly unitTeamsOfficial: boolean;
  /** What runs and their jobs are called in addresses: `runs/7/jobs/14`, or by number and place `runs/2/jobs/0`. */
  readonly runLinks: 'by id' | 'by number';
  readonly steps: StepQuirks;
  readonly jobStatus: JobStatusQuirks;
  /** Order in which rules for branches are looked at; of plain names and of globs the oldest first. */
  readonly protections: 'by priority' | 'plain names first';
  /** A push mirror that fails does not keep the others from being tried. */
  readonly mirrorsSync: 'all' | 'until one fails';
}

interface StepQuirks {
  /** Name of a step that has none: this in front of what it does. */
  readonly namePrefix: string;
  /** A runner tells only how jobs go: their steps stay as they were, or go along. */
  readonly follow: boolean;
}

/** The commit status that shows a job. */
interface JobStatusQuirks {
  /** Its words while the job runs. */
  readonly running: string;
  /** A change of words alone (waiting, blocked, running are all pending) adds a status or does not. */
  readonly sameState: 'added' | 'left out';
}

export const GITEA_QUIRKS: ServerQuirks = {
  theme: 'gitea-auto',
  maintainersMayEdit: true,
  newIssue: 'opened',
  assigneesOfOneEdit: 'as named',
  forcedPush: 'told anew',
  rerun: 'new attempt',
  reviewersListed: 'all',
  unitTeamsOfficial: false,
  runLinks: 'by id',
  steps: { namePrefix: 'Run ', follow: false },
  jobStatus: { running: 'In progress', sameState: 'added' },
  protections: 'by priority',
  mirrorsSync: 'all',
};

export const GITEA_1_26_QUIRKS: ServerQuirks = {
  ...GITEA_QUIRKS,
  newIssue: 'assigned',
  assigneesOfOneEdit: 'by user',
  rerun: 'same jobs',
  jobStatus: { running: 'Has started running', sameState: 'added' },
  mirrorsSync: 'until one fails',
};

export const GITEA_1_24_QUIRKS: ServerQuirks = {
  ...GITEA_1_26_QUIRKS,
  maintainersMayEdit: false,
  runLinks: 'by number',
  steps: { namePrefix: '', follow: true },
  jobStatus: { running: 'Has started running', sameState: 'left out' },
};

export const FORGEJO_QUIRKS: ServerQuirks = {
  ...GITEA_1_24_QUIRKS,
  theme: 'forgejo-auto',
  assigneesOfOneEdit: 'as named',
  forcedPush: 'added',
  reviewersListed: 'verdicts',
  unitTeamsOfficial: true,
  protections: 'plain names first',
};
