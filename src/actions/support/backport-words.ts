import { escapeMarkdown } from '../../core/escape-markdown.js';
import { isSameName, objectName } from '../../core/object-name.js';
import type { Commit } from '../../core/objects/git.js';
import type { Pull } from '../../core/objects/tracker.js';
import type { Obstacle } from '../reasons.js';

/** Names, marks and texts of backports. Pure. */

export interface Way {
  /** Of the pull request whose changes are wanted. */
  readonly number: string;
  /** The branch that gets them. */
  readonly to: string;
}

export function branchOfBackport({ number, to }: Way): string {
  return `backport/${number}-to-${to}`;
}

/** Number of the first pull request of a chain, by the name of the branch of a backport. */
export function rootNumber(branch: string): string {
  return /^backport\/(\d+)-/.exec(branch)?.[1] ?? '';
}

export function markOfOrigin(number: string): string {
  return `<!-- forgehand:backport-of:${number} -->`;
}

/** The number in the mark of `markOfOrigin`; null = the text bears none. */
export function originIn(text: string): string | null {
  return /<!-- forgehand:backport-of:(\d+) -->/.exec(text)?.[1] ?? null;
}

/** Each obstacle has a comment of its own: who made the missing branch and asks again may meet another. */
export function markOfObstacle(to: string, why: Obstacle): string {
  const name = encodeURIComponent(to).replaceAll('--', '%2D%2D');
  return `<!-- forgehand:backport-to:${name}${why === 'conflict' ? '' : `:${why}`} -->`;
}

export function messageOf(pull: Pull, { number, to }: Way): string {
  const title = (pull.title ?? '').trim();
  return `${title}\n\nBackport of #${number} to ${to}\n\n${trailerOf(pull.merge_commit_sha ?? '')}`;
}

/** Whether the message of a commit is one of ours for this merge. */
export function namesMerge(message: string, merge: string): boolean {
  return message.split('\n').includes(trailerOf(merge));
}

/** As `git cherry-pick -x` writes it. */
function trailerOf(merge: string): string {
  return `(cherry picked from commit ${merge})`;
}

/** Labels that ask for backports would ask for those of the backport too. */
export function isCopied(label: string | null | undefined, failed: string | undefined): boolean {
  const isAsking = objectName(label ?? '').startsWith('backport/');
  return !isAsking && !(failed !== undefined && isSameName(label, failed));
}

/** @param branch of the backport */
export function textOfBackport(pull: Pull, { number, to }: Way, branch: string): string {
  const { allow_manual_merge: byHand, autodetect_manual_merge: detected } = pull.base?.repo ?? {};
  // Servers do not tell how one was merged; some tell what the repository allows.
  const isByForge = byHand === false && detected === false;
  const note = `It has what the diff of #${number} shows. If somebody merged #${number} by hand ("manually merged"), compare it with ${pull.merge_commit_sha ?? 'the merge'}.`;
  return [
    `Backport of #${number} to ${code(to)}.`,
    ...(isByForge ? [] : [note]),
    markOfOrigin(rootNumber(branch)),
  ].join('\n\n');
}

/** The merge of a pull request, and its commits, newest first; null = they are not needed. */
export interface Picked {
  readonly merge: Commit;
  readonly commits: readonly Commit[];
}

/** Whether the text names commits to pick. */
export function hasCommands(why: Obstacle): boolean {
  return why !== 'no-target' && why !== 'name-taken';
}

/** What a person reads, and types, where the bot could not make a backport. @param branch of the backport */
export function textOfObstacle({ number, to }: Way, why: Obstacle, branch: string, picked: Picked | null): string {
  switch (why) {
    case 'no-target':
      return `The changes of #${number} were to come to the branch ${escapeMarkdown(to)}, which is not there. Make it and ask again, or take off the label that names it.`;
    case 'name-taken':
      return `The changes of #${number} were to come to ${code(to)} by the branch ${code(branch)}, which is there already and is not of the bot. Delete or rename it and ask again, or open a pull request from it.`;
    case 'conflict':
      return `The forge did not apply the changes of #${number} to ${code(to)}, and does not say why. Most likely they conflict; it may also have turned the push away (a protected branch, a hook). ${byHand()}`;
    case 'not-text':
      return `#${number} changes a text that is not UTF-8, and such a diff cannot be sent to the forge. ${byHand()}`;
    case 'too-large':
      return `The diff of #${number} is too large to be sent to the forge. ${byHand()}`;
  }

  function byHand(): string {
    return [
      'By hand:',
      '',
      '    git fetch origin',
      `    git switch -c ${inShell(branch)} ${inShell(`origin/${to}`)}`,
      `    git cherry-pick -x ${picked === null ? '' : whatToPick(picked)}`,
      '    # mend the conflicts, git add, git cherry-pick --continue',
      `    git push -u origin ${inShell(branch)}`,
      '',
      `Then open a pull request from ${code(branch)} to ${code(to)}.`,
    ].join('\n');
  }
}

/** A rebase made several commits, of which the last is the merge. */
function whatToPick({ merge, commits }: Picked): string {
  const sha = merge.sha ?? '';
  if ((merge.parents ?? []).length > 1) return `-m 1 ${sha}`;
  const isRebase = commits.length > 1 && commits[0]?.commit?.message === merge.commit?.message;
  return isRebase ? `${sha}~${commits.length}..${sha}` : sha;
}

/** A name of a branch as one word of a shell. */
function inShell(name: string): string {
  return /^[\w./-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`;
}

/** A name of a branch in Markdown; it may hold a backtick. */
function code(name: string): string {
  return name.includes('`') ? escapeMarkdown(name) : `\`${name}\``;
}
