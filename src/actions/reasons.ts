import { MOST_RECIPIENTS } from '../core/message.js';
import { defineReasons, textOf, type Reason } from '../core/reason.js';

/** What a sentence is about: `label bug`, `pull request #12`, `#12`, `the labels of #12`, `the notes of v1.4`, `the settings`. */
export interface About {
  readonly what: string;
  readonly name?: string;
  /** Of the issue or pull request. */
  readonly number?: string;
}

type Counted = About & { readonly count?: number };

interface Change {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

function it({ what, name, number }: About): string {
  if (what === 'issue' && number !== undefined) return `#${number}`;
  if (what === 'pull request' && number !== undefined) return `pull request #${number}`;
  const of = number === undefined ? name : `#${number}`;
  if (of === undefined) return `the ${what}`;
  if (what === 'mirror') return `mirror to ${of}`;
  return number !== undefined || isMany(what) ? `the ${what} of ${of}` : `${what} ${of}`;
}

function isMany(what: string): boolean {
  return what.endsWith('s');
}

function is(about: About): string {
  return `${it(about)} ${isMany(about.what) ? 'are' : 'is'}`;
}

function all({ what, count = 1 }: Counted): string {
  return count > 1 ? ` (${count} ${what}s of this name)` : '';
}

function short(sha: string): string {
  return sha.slice(0, 10);
}

interface Turn {
  readonly place: number;
  readonly behind: readonly string[];
  readonly base: string;
  readonly paused?: readonly string[];
}

function numbered(lead: string, numbers: readonly string[]): string {
  return numbers.length === 0 ? '' : `${lead} ${numbers.map((number) => `#${number}`).join(', ')}`;
}

function nth(place: number): string {
  const end = place % 100 > 10 && place % 100 < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][place % 10] ?? 'th');
  return `${place}${end}`;
}

function changes(list: readonly Change[]): string {
  return list.map(({ name, from, to }) => `${name} ${from} -> ${to}`).join(', ');
}

/** What follows from a read that cannot be made. */
export const UNREADABLE = {
  nothing: '',
  harmless: '; sending the same again does no harm',
  'harmless-draft': '; a draft may be changed once more without telling people twice',
  'refused-twice': '; making it again is refused when it is there',
  doubled: ', and a second one would be taken',
  'told-twice': ', and changing it once more would tell people twice',
  'run-twice': ', and it must not run twice',
  again: '; the rule says to send it again',
  /** It ends by a code of its own. */
  unconfirmed: '',
  'maybe-changed': ', and somebody may have changed it since our call',
} as const;

/** Why what is there otherwise stays so. */
const STAYS = {
  compared: '',
  'forge-cannot': ', and this forge cannot change it',
  'action-does-not': ', which this action does not change',
  'mirror-cannot': '; forges cannot edit a mirror, delete it to have it made anew',
  'of-organization': ': it is one of the organization',
} as const;

/** Why an address is no target of a mirror. */
const NO_MIRROR = {
  'private-repository': 'the repository is private (say private: true to allow it)',
  'unknown-visibility': 'it is not known whether the repository is private',
  'no-hosts': 'no mirror hosts are listed for this organization (orgs[].mirror_hosts)',
  scheme: 'the address must begin with https:// (or orgs[].mirror_hosts must list its host with http:// before it)',
  'too-long': 'the address is longer than 2048 characters',
  characters: 'the address holds spaces, control or non-ASCII characters',
  form: 'the address must be https://HOST/PATH, without query, fragment or backslash',
  'user-info': 'the address must not hold a user name or password (use remote_username and remote_password)',
  'no-path': 'the address names no repository path',
  dots: 'the path of the address holds dots or escapes that could lead elsewhere',
  'no-host': 'the address has no readable host',
  port: 'the port of the address is not a port',
  'raw-address': 'the host is a raw address that is not listed in this spelling (orgs[].mirror_hosts)',
  'ends-in-dot': 'the host ends in a dot',
  'no-name': 'the host is not a name',
  'private-name': 'the host is a private name that is not listed (orgs[].mirror_hosts)',
  never: 'the host leads to the machine itself or to a metadata service, and no list allows that',
  'leads-inside': 'the host resolves to a loopback, link-local or metadata address, and no list allows that',
  unlisted: 'the host is not in the list of mirror hosts (orgs[].mirror_hosts)',
  'unlisted-path': 'the path is below none that is listed for the host (orgs[].mirror_hosts)',
} as const;
export type NoMirror = keyof typeof NO_MIRROR;

/** Why an address takes no message, where the words about mirrors do not fit. */
const NO_MESSAGE: Readonly<Partial<Record<NoMirror, string>>> = {
  'no-hosts': 'no hosts that may be notified are listed for this organization (orgs[].notify_hosts)',
  'user-info': 'the address must not hold a user name or password',
  'no-path': 'the address has no path',
  unlisted: 'the host is not in the list of hosts that may be notified (orgs[].notify_hosts)',
};

/** Why no mail is sent. */
const NO_MAIL = {
  'no-server': 'this organization has no mail server (orgs[].mail)',
  nobody: 'the secret names no address',
  'too-many': `the secret names more than ${MOST_RECIPIENTS} addresses`,
  'no-address': 'what the secret names is no plain address like ann@example.org',
  unlisted: 'a recipient is not in the list of those who may get mail (orgs[].mail.recipients)',
} as const;

/** Why a branch cannot be made, after so many equal failures. */
const NO_BRANCH = {
  'turned-away': 'the forge turns it away',
  failing: 'each try fails alike; is its name protected?',
} as const;

/** Why the changes of a pull request do not come to a branch by themselves. */
const OBSTACLES = {
  conflict: 'the forge did not apply its changes twice (they conflict, or it turned the push away)',
  'not-text': 'it changes a text that is not UTF-8',
  'too-large': 'its diff is too large',
  'no-target': 'that branch is not there',
  'name-taken': 'a branch of the name of the backport is there, and not of the bot',
} as const;
export type Obstacle = keyof typeof OBSTACLES;

/** What actions and recoveries say, by code. `found`: what is there; `made`: what was changed; `cannot`: why not; `params`: of the rule. */
export const say = defineReasons(
  {
    'params.none': ({ names }: { names: readonly string[] }) =>
      names.length === 0 ? 'no setting is given' : `none of ${names.join(', ')} is given`,
    'params.no-release': () => 'neither id nor tag of the release is given',
    'params.empty': ({ param }: { param: string }) => `${param} is an empty list`,
    'params.alone': ({ param }: { param: string }) => `${param} is the whole list, and stands alone`,
    'params.needs': ({ param, needs }: { param: string; needs: string }) => `${param} means nothing without ${needs}`,
    'params.lacks': ({ param, needs }: { param: string; needs: string }) => `${param} needs ${needs}`,
    'params.off': ({ param, needs }: { param: string; needs: string }) =>
      `${param} means nothing while ${needs} is off`,
    'params.exclude': ({ names }: { names: readonly string[] }) => `${names.join(' and ')} exclude each other`,
    'params.both': ({ value, names }: { value: string; names: readonly string[] }) =>
      `${value} is both in ${names.join(' and in ')}`,
    'params.no-name': ({ value, what }: { value: string; what: string }) => `"${value}" is no ${what}`,
    'params.names-team': ({ param }: { param: string }) => `${param} takes logins, and one of them names a team`,
    'params.no-scope': ({ name }: { name: string }) =>
      `${name} has no scope, so exclusive means nothing: of labels with equal words before "/" an issue bears one`,
    'params.mixed-letters': ({ word }: { word: string }) =>
      `"${word}" has letters of two alphabets that look alike: people take it for another name`,
    'params.comma': ({ param }: { param: string }) => `${param} is one label whose name has a comma`,
    'params.unknown-host': () => 'the host is known only when it runs, and it must be one of orgs[].mirror_hosts',

    /** `create`: the action that makes one. */
    'cannot.missing': ({ what, name, number, create }: About & { create?: string }) => {
      const which = number === undefined ? name : `#${number}`;
      return `there is no ${which === undefined ? `such ${what}` : `${what} ${which}`}${create === undefined ? '' : ` (${create} makes one)`}`;
    },
    'cannot.make': (about: About) => `${is(about)} not there, and this forge offers no way to make one`,
    'cannot.make-branch': ({ name, base, why, count, words }: NoBranch) =>
      `branch ${name} cannot be made: ${why === 'no-base' ? `${base ?? 'its base'} is not there` : NO_BRANCH[why]} (${count} equal failures: ${words ?? 'the forge gives no reason'})`,
    /** `words`: the forge's own; absent or null = it gave none. */
    'cannot.name-branch': ({ name, words = null }: { name: string; words?: string | null }) =>
      `branch ${name} cannot be made: ${words ?? 'a tag of this name, or a branch that it clashes with, is there'}`,
    'cannot.mirror': ({ why, host }: { why: NoMirror; host?: string }) =>
      `not mirrored: ${NO_MIRROR[why]}${host === undefined ? '' : `: ${host}`}`,
    'cannot.notify': ({ why, host }: { why: NoMirror; host?: string }) =>
      `not sent: ${NO_MESSAGE[why] ?? NO_MIRROR[why].replaceAll('mirror_hosts', 'notify_hosts')}${host === undefined ? '' : `: ${host}`}`,
    'cannot.mail': ({ why }: { why: keyof typeof NO_MAIL }) => `not sent: ${NO_MAIL[why]}`,
    'cannot.publish': () => 'a repository is made public by a person, never from here',
    'cannot.assign': ({ login, repo }: { login: string; repo: string }) => `${login} cannot be assigned in ${repo}`,
    'cannot.react': (on: Reaction) => `${subjectOf(on)} is not there`,
    'cannot.bear-both': ({ labels }: { labels: readonly string[] }) => `${labels.join(' and ')} exclude each other`,
    /** The forge refuses the state. */
    'cannot.be': ({ number, state }: { number: string; state: string }) =>
      `the forge does not let #${number} be ${state} (open dependencies, or its branch is gone)`,
    'cannot.set': ({ what, names }: { what: string; names: readonly string[] }) =>
      `${what} of this forge have no ${names.join(', ')}`,
    'cannot.find-by-tag': () => 'this forge offers no way to find a release by its tag',
    'cannot.number-release': () => 'the forge shows no number of the release',
    'cannot.hold-topics': ({ most, count }: { most: number; count: number }) =>
      `a repository has at most ${most} topics, this would be ${count}`,
    'cannot.compare': ({ since, head }: { since: string; head: string }) => `${since} and ${head} cannot be compared`,
    'cannot.list-commits': ({ count, total, since }: { count: number; total: number; since: string }) =>
      `the forge lists ${count} of ${total} commits since ${since}: say a later since`,
    'cannot.mend-notes': ({ tag }: { tag: string }) =>
      `the markers in the notes of ${tag} do not belong together: take them out, or put one begin before one end`,
    'cannot.mend-issue': ({ number }: { number: string }) =>
      `the markers in the text of #${number} do not belong together: take them out and write a new one, or put one begin before one end`,
    'cannot.write-archived': ({ repo }: { repo: string }) => `${repo} is archived: nothing can be written in it`,
    'cannot.open-issue': ({ repo }: { repo: string }) => `${repo} has no issues: they are switched off there`,
    /** `sha`: the head of now; absent = not told. */
    'cannot.merge.head': ({ number, sha }: { number: string; sha?: string }) =>
      `the head of #${number} moved${sha === undefined ? '' : ` to ${short(sha)}`}`,
    'cannot.merge.own-approval': ({ number }: { number: string }) =>
      `the bot itself approved #${number}, and the operator did not allow it to merge what it approved (orgs[].limits.approve_and_merge)`,
    'cannot.merge.label': ({ number, label }: { number: string; label: string }) =>
      `pull request #${number} does not bear the label ${label}`,
    'cannot.merge.rejected': ({ number, people }: { number: string; people: readonly string[] }) =>
      `${people.join(', ')} asked for changes of #${number}`,
    'cannot.merge.approvals': ({ number, count, needs, sha }: Approvals) =>
      `#${number} has ${count} of ${needs} approvals of ${short(sha)}`,
    'cannot.merge.checks': ({ sha, state }: { sha: string; state: string | null }) =>
      `the statuses of ${short(sha)} are ${state ?? 'not there'}`,
    'cannot.merge.no-status': ({ sha }: { sha: string }) =>
      `the commit ${short(sha)} has no status; without CI write checks: false`,
    'cannot.merge.protected': ({ number, said }: { number: string; said: string }) =>
      `the branch protection holds #${number}: ${said}`,
    'cannot.merge.no-required-checks': ({ number, base }: { number: string; base: string }) =>
      `${base} requires no checks, so the forge would merge #${number} without waiting for any; to let it, write checks: false`,
    'cannot.merge.checking': ({ number }: { number: string }) => `the conflict check of #${number} still runs`,
    'cannot.merge.conflict': ({ number }: { number: string }) =>
      `#${number} cannot be merged: it conflicts, or its head moved`,

    /** `behind`: numbers of the pull requests before it. */
    'queue.place': ({ place, behind, base, paused = [] }: Turn) =>
      `${nth(place)} in the merge queue of ${base}${numbered(', behind', behind)}${numbered('; these are paused and let it pass:', paused)}`,
    'queue.overtaken': ({ rule, action }: { rule: string; action: string }) => `rule ${rule} did ${action} since then`,
    'queue.stayed': ({ days, because }: { days: number; because: Reason }) =>
      `after ${days} days it still waits (${textOf(because)}); mend that, then ask for the merge again, by its label or command`,
    'queue.checks': ({ sha, state }: { sha: string; state: string | null }) =>
      `1st in its merge queue, and the statuses of ${short(sha)} are ${state ?? 'not there'}`,
    'queue.updated': ({ number }: { number: string }) =>
      `1st in its merge queue: the branch of #${number} was brought up to date, and its checks come next`,
    'queue.head': ({ number }: { number: string }) => `the forge does not tell yet who moved the head of #${number}`,
    'queue.looks': ({ number }: { number: string }) => `#${number} is in a merge queue, and looked at again`,
    'queue.no-checks': ({ sha, minutes, state }: { sha: string; minutes: number; state: string | null }) =>
      `the statuses of ${short(sha)} are ${state ?? 'not there'} after ${minutes} minutes (checks_within)`,
    'queue.left': ({ base, because }: { base: string; because: Reason }) =>
      `taken out of the merge queue of ${base}: ${textOf(because)}`,
    /** `sha`: what stands between. */
    'made.merged-untested': ({ number, base, sha }: { number: string; base: string; sha: string }) =>
      `pull request #${number} merged, and ${short(sha)} came to ${base} since it was tested: look whether the two go together`,
    'cannot.queue.here': () => 'this forge cannot bring a branch up to date, so it has no merge queue (update: true)',
    'cannot.update.denied': ({ number }: { number: string }) => `the bot may not push to the branch of #${number}`,
    'cannot.update.conflict': ({ number }: { number: string }) =>
      `the branch of #${number} cannot be brought up to date: it conflicts with its base`,
    'cannot.approve.own': ({ number }: { number: string }) =>
      `the bot opened #${number} itself: forges take no approval of one's own pull request`,
    'cannot.delete.default': ({ name }: { name: string }) => `${name} is the default branch`,
    'cannot.delete.protected': ({ name }: { name: string }) => `branch ${name} is protected`,
    /** `sha`: where it is now; `wanted`: where the rule saw it. */
    'cannot.delete.moved': ({ name, sha, wanted }: { name: string; sha: string; wanted: string }) =>
      `branch ${name} moved to ${short(sha)}, it is deleted only at ${short(wanted)}`,
    'cannot.delete.in-use': ({ name, pulls }: { name: string; pulls: readonly string[] }) =>
      `branch ${name} has an open pull request: ${pulls
        .slice(0, 3)
        .map((number) => `#${number}`)
        .join(', ')}${pulls.length > 3 ? `, and ${pulls.length - 3} more` : ''}`,

    'cannot.open-backport': ({ number, to }: { number: string; to: string }) =>
      `the forge refuses a pull request that brings #${number} to ${to}`,

    'found.backported': ({ number, to }: { number: string; to: string }) => `${to} has the changes of #${number}`,
    'found.backport': ({ number, to, made }: Backported) => `#${made} brings #${number} to ${to}`,
    /** `why`: absent = `conflict`. */
    'found.backport-conflict': ({ number, to, why = 'conflict' }: { number: string; to: string; why?: Obstacle }) =>
      `#${number} does not come to ${to} by itself: ${OBSTACLES[why]}; a comment says so`,
    'found.backport-applied': ({ number, to }: { number: string; to: string }) =>
      `the changes of #${number} met no conflict in ${to}`,
    'found.backport-untried': ({ number, to }: { number: string; to: string }) =>
      `it was not tried whether the changes of #${number} apply to ${to}`,
    'found.up-to-date': ({ number, base }: { number: string; base: string }) =>
      `the branch of #${number} has all of ${base}`,
    'found.there': (about: Counted & { sha?: string }) =>
      `${is(about)} there${about.sha === undefined ? '' : `, at ${short(about.sha)}`}${all(about)}`,
    'found.as-wanted': (about: About) => `${is(about)} as wanted`,
    'found.not-yet': (about: About & { differs?: readonly string[] }) =>
      `${is(about)} not as wanted yet${about.differs === undefined ? '' : `: ${about.differs.join(', ')}`}`,
    'found.state': (about: About & { state: string }) => `${is(about)} ${about.state}`,
    'found.absent': (about: About) => `${is(about)} not there`,
    'found.gone': (about: About) => `${is(about)} not there any more`,
    'found.unreadable': (about: About & { then: keyof typeof UNREADABLE }) =>
      `${it(about)} cannot be read${UNREADABLE[about.then]}`,
    'found.since-call': (about: About) => `${is(about)} there since our call`,
    'found.before-call': (about: About) => `${it(about)} was there before the call`,
    'found.older': (about: About) => `${is(about)} older than our call: somebody else made it`,
    'found.taken': (about: About) => `${is(about)} there already, and cannot be read`,
    'found.answered-late': (about: About) => `${is(about)} there, and our own call before had no answer`,
    'found.made-before': (about: About) =>
      `${it(about)} ${isMany(about.what) ? 'were' : 'was'} made before (this forge offers no way to read it)`,
    'found.made-otherwise': (about: About) =>
      `${it(about)} was made before with other settings, and this forge can neither list nor change it`,
    'found.other': (about: Counted & { differs: string; stays: keyof typeof STAYS }) =>
      `${is(about)} there with another ${about.differs}${all(about)}${STAYS[about.stays]}`,
    'found.kept': (about: About & { keeps: readonly Change[] }) =>
      `this forge keeps ${about.keeps.map(({ name, from }) => `${name} ${from}`).join(', ')} of ${it(about)}`,
    'found.changed-meanwhile': (about: About & { differs?: readonly string[] }) =>
      `somebody else changed ${about.differs === undefined ? '' : `${about.differs.join(', ')} of `}${it(about)} meanwhile`,
    'found.deleted-meanwhile': (about: About) => `${it(about)} was deleted meanwhile`,
    'found.touched': ({ number, at }: { number: string; at: string }) =>
      `something happened to #${number} meanwhile (${at})`,
    'found.not-ours': (about: About) => `${it(about)} was not made from here: it is left to whoever made it`,
    'found.in-use': (about: Counted) =>
      `${is(about)} on ${about.count === 1 ? 'an issue' : `${about.count ?? 0} issues`}: it stays until it is on none`,
    'found.other-commit': ({ name, sha, wanted }: { name: string; sha: string; wanted: string }) =>
      `branch ${name} is there at another commit (${short(sha)}, wanted ${short(wanted)})`,
    'found.unknown-base': ({ name, base }: { name: string; base: string }) =>
      `branch ${name} is there, and where ${base} points cannot be read here`,
    'found.moved-on': ({ name, base }: { name: string; base: string }) =>
      `branch ${name} was made from ${base} before and has moved on`,
    'found.elsewhere': ({ name, asked }: { name: string; asked: string }) => `the forge answers ${name} for ${asked}`,
    'found.milestone': ({ number, name }: { number: string; name: string }) =>
      `#${number} has the milestone ${name} (replace: true moves it)`,
    'found.comment': ({ number, key }: { number: string; key: string }) => `#${number} has the comment ${key}`,
    'found.reaction': (on: Reaction) => `${subjectOf(on)} has our ${on.reaction}`,
    'found.no-reaction': (on: Reaction) => `${subjectOf(on)} has no ${on.reaction} of ours`,
    'found.approved': ({ number, sha }: { number: string; sha: string }) => `we approved #${number} at ${short(sha)}`,
    'found.planned': ({ number }: { number: string }) =>
      `the forge merges #${number} once its checks succeed: that was planned already`,
    'found.plan-taken-back': ({ number }: { number: string }) => `somebody took back the planned merge of #${number}`,
    'found.asked': ({ number }: { number: string }) => `everybody wanted is asked to review #${number}, or did`,
    'found.dropped': ({ labels }: { labels: readonly string[] }) => `the forge did not put on ${labels.join(', ')}`,
    'found.run-again': ({ name, count }: { name: string; count: number }) => `run ${name} had ${count} attempts`,
    'found.not-started': ({ workflow }: { workflow: string }) => `no run of ${workflow} began since the call`,
    'found.many-runs': ({ workflow }: { workflow: string }) =>
      `too many runs began since the call to tell whether ${workflow} was started`,
    'found.closed-by-hand': ({ number }: { number: string }) => `somebody closed #${number} while it was wanted open`,
    'found.undone': (about: About) => `somebody ${about.what === 'approval' ? 'dismissed' : 'deleted'} ${it(about)}`,
    'found.taken-off': ({ number, labels }: { number: string; labels: readonly string[] }) =>
      `somebody took ${labels.join(', ')} off #${number}`,

    'made.created': (about: About & { sha?: string }) =>
      `${it(about)} created${about.sha === undefined ? '' : ` at ${short(about.sha)}`}`,
    'made.changed': (about: Counted & { differs?: string }) =>
      `${it(about)} changed${about.differs === undefined ? '' : `: ${about.differs}`}${all(about)}`,
    'made.settings': (about: About & { changes: readonly Change[] }) => `${it(about)}: ${changes(about.changes)}`,
    'made.removed': (about: About) => `${it(about)} taken away`,
    'made.labels': ({ number, added, removed }: { number: string } & Lists) => `${lists(added, removed)} on #${number}`,
    'made.topics': ({ added, removed }: Lists) => `topics ${lists(added, removed)}`,
    'made.assignees': ({ number, people }: { number: string; people: readonly string[] }) =>
      `assignees of #${number}: ${people.join(', ') || 'nobody'}`,
    'made.milestone': ({ number, name }: { number: string; name: string | null }) =>
      `milestone of #${number}: ${name ?? 'none'}`,
    /** `counts`: whether the protection of its base counts it. */
    'made.approved': ({ number, sha, counts }: { number: string; sha: string; counts: boolean }) =>
      `#${number} approved at ${short(sha)}${counts ? '' : '; the protection of its base does not count it'}`,
    'made.asked': ({ number, people }: { number: string; people: readonly string[] }) =>
      `${people.join(', ')} asked to review #${number}`,
    'made.comment': ({ number, key, edited }: { number: string; key: string; edited: boolean }) =>
      edited ? `comment ${key} on #${number} edited` : `commented on #${number} (${key})`,
    /** `dropped`: labels that the forge did not take. */
    'made.issue': ({ number, key, dropped }: { number: string; key: string; dropped: readonly string[] }) =>
      `#${number} opened (${key})${dropped.length === 0 ? '' : `, without ${dropped.join(', ')}: the forge did not put ${dropped.length === 1 ? 'it' : 'them'} on`}`,
    'made.issue-changed': ({ number, key, differs }: { number: string; key: string; differs: readonly string[] }) =>
      `${differs.join(', ')} of #${number} changed (${key})`,
    'made.reaction': (on: Reaction) => `${on.reaction} to ${subjectOf(on)}`,
    'made.merged': ({ number, method, sha }: { number: string; method: string; sha: string }) =>
      `pull request #${number} merged (${method}) at ${short(sha)}`,
    'made.planned': ({ number, method, sha }: { number: string; method: string; sha: string }) =>
      `the forge merges pull request #${number} (${method}) once its checks succeed; its head is ${short(sha)}`,
    'made.backport-branch': ({ number, to, name }: { number: string; to: string; name: string }) =>
      `branch ${name} made of ${to}, with the changes of #${number}`,
    'made.backport': ({ number, to, made }: Backported) => `#${made} opened: it brings #${number} to ${to}`,
    'made.updated': ({ number, style }: { number: string; style: string }) =>
      `branch of #${number} brought up to date (${style})`,
    'made.notes': ({
      tag,
      count,
      since,
      draft,
    }: {
      tag: string;
      count: number;
      since: string | null;
      draft: boolean;
    }) =>
      `${draft ? 'draft ' : ''}notes of ${tag}: ${count === 1 ? 'one change' : `${count} changes`} since ${since ?? 'the beginning'}`,
    'made.rerun': ({ name }: { name: string }) => `failed jobs of run ${name} run again`,
    'made.started': ({ workflow, ref }: { workflow: string; ref: string }) => `workflow ${workflow} started on ${ref}`,

    /** `refusedRecipients`: absent = none. */
    'made.sent': ({ format, refusedRecipients = 0 }: { format: string; refusedRecipients?: number }) =>
      `message sent (${format})${refusedRecipients === 0 ? '' : `, and the mail server refused ${refusedRecipients} of its recipients`}`,
    'notify.unconfirmed': () => 'sent once; the service gave no answer, so it may or may not have taken the message',

    'doubled.removed': ({ what, name, count }: { what: string; name: string; count: number }) =>
      `${count} ${what}s ${name} appeared; the younger bears our mark and is not used`,
    'doubled.there': ({ what, name, ids }: { what: string; name: string; ids: readonly string[] }) =>
      `${ids.length} ${what}s ${name} appeared (${ids.join(', ')}): keep one, delete the others`,
  },
  // Names of what a rule works on may come from a lookup, and what a forge says may name anything.
  [
    'what',
    'number',
    'why',
    'then',
    'stays',
    'state',
    'sha',
    'count',
    'needs',
    'most',
    'total',
    'create',
    'format',
    'reaction',
    'param',
    'names',
    'place',
    'behind',
    'minutes',
  ],
);

interface Backported {
  readonly number: string;
  readonly to: string;
  /** Number of the new pull request. */
  readonly made: string;
}

interface Reaction {
  readonly number: string;
  readonly comment?: string | undefined;
  readonly reaction: string;
}

function subjectOf({ number, comment }: Reaction): string {
  return comment === undefined ? `#${number}` : `comment ${comment} on #${number}`;
}

interface NoBranch {
  readonly name: string;
  readonly base: string | null;
  readonly why: 'no-base' | keyof typeof NO_BRANCH;
  readonly count: number;
  /** The forge's own; null = it gave none. */
  readonly words: string | null;
}

interface Approvals {
  readonly number: string;
  readonly count: number;
  readonly needs: number;
  readonly sha: string;
}

interface Lists {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

function lists(added: readonly string[], removed: readonly string[]): string {
  return [...added.map((name) => `+${name}`), ...removed.map((name) => `-${name}`)].join(' ');
}
