import { say } from './reasons.js';
import { changed, conflict, defineAction, refused, textOf, there, toWrite, undone } from './define-action.js';
import type { Decision } from './define-action.js';
import { normalizeLines } from './support/compare.js';
import { labelsByName, rivalsIn } from './support/labels-by-name.js';
import { holdsMark, markedPart, marksOf, partIn, withPart, type Marks } from './support/marked-part.js';
import { each, label } from './support/objects.js';
import { flag, markdown, optional, referring, text, texts, title, type ParamsOf } from './support/params.js';
import { placeOf } from './support/recovery.js';
import { chosenFirst } from './support/same-name.js';
import { emptyOf, valueOf } from './support/unfit.js';
import { isRefused, orMissing, readAll } from '../forge/forge-client.js';
import { hashOf } from '../core/ids.js';
import { objectName } from '../core/object-name.js';
import type { Repository } from '../core/objects/repositories.js';
import type { Issue, Label } from '../core/objects/tracker.js';
import { RIGHTS } from '../core/rights.js';

const MAX_TITLE = 255;

const params = {
  key: text('identifies the issue, such as red-main; one issue per key in a repository', {
    max: 100,
    check: (key) => (key.trim() === '' ? 'must not be empty' : null),
  }),
  open: flag('true: it is to be open, and is made where there is none; false: it is to be closed, where there is one'),
  title: title(`title, of at most ${MAX_TITLE} characters`, {
    max: MAX_TITLE,
    check: (words) => (words.trim() === '' ? 'must not be empty' : null),
  }),
  body: optional(
    markdown('text between the bot’s marks; what people write outside of them stays', {
      check: (words) => (holdsMark(words) ? 'must not hold marks of the bot' : null),
    }),
  ),
  labels: referring(
    'label',
    optional(texts('names of labels for a new one; later ones are left to people', { max: 20 })),
  ),
};

type WantedIssue = ParamsOf<typeof params>;

interface SeenIssues {
  /** Ours of this key, the one that counts first. */
  readonly ours: readonly Issue[];
  /** Somebody closed it since it was wanted open last. */
  readonly isLeft: boolean;
  /** Asked for where something is to be written. */
  readonly repo: Repository | null;
  readonly labels: ReadonlyMap<string, Label>;
}

type IssueChange =
  | { readonly makes: true; readonly labels: ReadonlyArray<readonly [name: string, id: bigint]> }
  | { readonly makes: false; readonly number: string; readonly differs: readonly string[]; readonly body: IssueFields };

interface IssueFields {
  readonly state?: 'open' | 'closed';
  readonly title?: string;
  readonly body?: string;
}

/**
 * A forge takes the same issue any number of times, so there is one per key: found again by a mark in its text, and by our own account, whatever people
 * copied. It is closed when it is not wanted any more, and opened again when it is; not while it is only a person who closed it.
 */
export const ensureIssue = defineAction({
  name: 'issue.ensure',
  summary: 'Keep one issue of a key: opened, with this title and text, and closed when it is not wanted any more',
  target: 'repository',
  params,
  operations: ['createIssue', 'updateIssue', 'listIssues', 'listLabels', 'getRepo', 'getSelf'],
  whereOffered: ['listOrgLabels'],
  right: RIGHTS.tracker,
  naturalKey: 'key',
  keyOf: ({ key }) => textOf(key),
  object: () => null,
  names: ({ labels }) => each(labels, label),
  overwrites: true,
  unclear: (inputs) => {
    const empty = emptyOf(inputs, ['labels']);
    return empty && { ...empty, hint: 'leave it out, or name a label' };
  },
  raises: ['issue.opened', 'issue.closed', 'issue.reopened', 'issue.edited', 'issue.labeled'],
  effect: {
    mayRaise: (kind, inputs) => {
      const open = valueOf(inputs, 'open');
      if (kind === 'issue.labeled') return open !== false && inputs['labels'] !== undefined;
      return kind === 'issue.closed' ? open !== true : open !== false;
    },
    // Who welcomes or sorts what is opened or edited means what people write.
    isExpected: (kind) => kind !== 'issue.opened' && kind !== 'issue.edited',
  },
  example: { key: 'red-main', open: true, title: 'main is red', body: 'The last run failed.', labels: ['ci'] },
  about: ({ key }) => ({ what: 'issue', name: key }),

  async look({ forge, place, call, lastMade, recall }, wanted): Promise<SeenIssues> {
    const { id, login } = await forge.getSelf({});
    const own = { ...place, state: 'all', type: 'issues', created_by: login ?? '' };
    // Where a repository has neither issues nor pull requests, there is no list.
    const all = (await orMissing(readAll(forge, 'listIssues', own))) ?? [];
    const marks = marksOfKey(wanted.key);
    const ours = chosenFirst(all.filter((one) => id && one.user?.id === id && (one.body ?? '').includes(marks.begin)));
    const seen = { ours, isLeft: false, repo: null, labels: new Map<string, Label>() };
    const [one] = ours;
    if (call || (one ? differencesOf(one, wanted).length === 0 : !wanted.open)) return seen;
    // It was kept open, and nobody but a person can have closed it or taken it away.
    if (one?.state !== 'open' && (await lastMade()) && (await recall())?.params['open'] === true)
      return { ...seen, isLeft: true };
    const needsLabels = !one && wanted.labels !== undefined;
    return {
      ...seen,
      repo: await forge.getRepo(place),
      labels: needsLabels ? await labelsByName(forge, place) : seen.labels,
    };
  },

  compare({ wanted, seen, target, call }): Decision<IssueChange> {
    const { key, open } = wanted;
    const [one] = seen.ours;
    const repo = `${target.owner}/${target.name}`;
    if (!one && !open) return there(say('found.absent', { what: 'issue', name: key }));
    if (seen.repo?.archived === true) return refused(say('cannot.write-archived', { repo }));
    if (!one) {
      if (seen.isLeft) return undone(say('found.undone', { what: 'issue', name: key }));
      if (seen.repo?.has_issues === false || seen.repo?.external_tracker)
        return refused(say('cannot.open-issue', { repo }));
      return call ? toWrite({ makes: true, labels: [] }, { makes: true }) : toMake(wanted, seen.labels);
    }
    const number = String(one.number);
    const about = { what: 'issue', number };
    const differs = differencesOf(one, wanted);
    if (differs.length === 0)
      return there(open ? say('found.as-wanted', about) : say('found.state', { ...about, state: 'closed' }), {
        ids: [number],
      });
    if (seen.isLeft) return undone(say('found.closed-by-hand', { number }));
    const marks = marksOfKey(key);
    const part = partIn(one.body, marks);
    if (differs.includes('text') && part === 'broken') return conflict(say('cannot.mend-issue', { number }));
    const before = { state: one.state ?? '', title: hashOf(one.title ?? ''), text: hashOf(part ?? '') };
    const body: IssueFields = {
      ...(differs.includes('state') ? { state: open ? ('open' as const) : ('closed' as const) } : {}),
      ...(differs.includes('title') ? { title: wanted.title } : {}),
      ...(differs.includes('text') ? { body: withPart(one.body, marks, partOf(wanted, marks)) } : {}),
    };
    const remember = {
      ids: seen.ours.map((issue) => String(issue.number)),
      edits: number,
      before: Object.fromEntries(differs.map((name) => [name, before[name]])),
    };
    return toWrite({ makes: false, number, differs, body }, { edits: number, differs: differs.join(', '), remember });
  },

  async write({ forge, place }, wanted, change) {
    const { key } = wanted;
    if (change.makes) {
      const labels = change.labels.map(([, id]) => id);
      const body = { title: wanted.title, body: partOf(wanted, marksOfKey(key)), labels };
      const made = await forge.createIssue({ ...place, body });
      const number = String(made.number);
      // Who may not write to the repository may open an issue, and its labels are left out without a word.
      const there = new Set((made.labels ?? []).map(({ id }) => String(id)));
      const dropped = change.labels.filter(([, id]) => !there.has(String(id))).map(([name]) => name);
      return changed(say('made.issue', { number, key, dropped }), { objectId: number });
    }
    const { number, body, differs } = change;
    try {
      await forge.updateIssue({ ...place, index: number, body });
    } catch (error) {
      if (!isRefused(error, 412)) throw error;
      return refused(say('cannot.be', { number, state: body.state ?? 'as wanted' }));
    }
    const isState = differs.length === 1 && body.state !== undefined;
    return changed(
      isState
        ? say('found.state', { what: 'issue', number, state: body.state ?? '' })
        : say('made.issue-changed', { number, key, differs }),
      { objectId: number, detail: { edited: number } },
    );
  },

  recover: {
    unread: 'doubled',
    matcher: {
      echoes: ['issue.opened', 'issue.closed', 'issue.reopened', 'issue.edited', 'issue.labeled'],
      isEcho: ({ kind, data }, { params: wanted, snapshot, objectId }) => {
        if (kind === 'issue.closed' ? wanted['open'] !== false : wanted['open'] !== true) return false;
        // What a commit closed was not closed by this call.
        if (textOf(data['commit_id']) !== '') return false;
        const isKnown = [objectId, snapshot?.['edits']].some(
          (id) => textOf(id) !== '' && textOf(id) === textOf(data['number']),
        );
        const { body } = (data['issue'] ?? {}) as Issue;
        return isKnown || (body ?? '').includes(marksOfKey(textOf(wanted['key'])).begin);
      },
    },
    duplicates: {
      // The younger one is closed: only an administrator may delete issues, and somebody may have read it.
      removal: 'updateIssue',
      list: ({ ours }) =>
        ours
          .filter(({ state }) => state === 'open')
          .map(({ number, comments }) => ({ id: String(number), isRemovable: Number(comments ?? 0) === 0 })),
      remove: async ({ forge, target }, id) =>
        forge.updateIssue?.({ ...placeOf(target), index: id, body: { state: 'closed' } }),
    },
  },
});

/** The comments that stand around our part. A key may hold anything, so its hash stands in them. */
function marksOfKey(key: string): Marks {
  return marksOf(`issue:${hashOf('issue', key).slice(0, 16)}`);
}

function partOf({ body = '' }: WantedIssue, marks: Marks): string {
  return markedPart(marks, [normalizeLines(body).trim()]);
}

/** Which of state, title and text differ; of one that is not wanted open, only the state counts. */
function differencesOf(issue: Issue, wanted: WantedIssue): Array<'state' | 'title' | 'text'> {
  const isOpen = issue.state === 'open';
  if (!wanted.open) return isOpen ? ['state'] : [];
  const marks = marksOfKey(wanted.key);
  const isSameText = wanted.body === undefined || partIn(issue.body, marks) === partOf(wanted, marks);
  return [
    ...(isOpen ? [] : ['state' as const]),
    ...(isSameTitle(issue.title ?? '', wanted.title) ? [] : ['title' as const]),
    ...(isSameText ? [] : ['text' as const]),
  ];
}

/** Servers trim titles, and cut one that is too wide for them. */
function isSameTitle(seen: string, wanted: string): boolean {
  const [one, other] = [objectName(seen), objectName(wanted)];
  return one === other || (one.length > 100 && one.endsWith('…') && other.startsWith(one.slice(0, -1)));
}

/** A new one, with labels by their numbers: servers refuse names, and drop what they do not know. */
function toMake({ labels = [] }: WantedIssue, byName: ReadonlyMap<string, Label>): Decision<IssueChange> {
  const labelOf = (name: string): Label | undefined => byName.get(objectName(name));
  const missing = labels.filter((name) => !labelOf(name));
  if (missing.length > 0)
    return refused(say('cannot.missing', { what: 'label', name: missing.join(', '), create: 'label.ensure' }));
  const rivals = rivalsIn(labels, labelOf);
  if (rivals) return refused(say('cannot.bear-both', { labels: rivals }));
  const withIds = labels.map((name) => [name, BigInt(labelOf(name)?.id ?? 0)] as const);
  return toWrite({ makes: true, labels: withIds }, { remember: { ids: [] } });
}
