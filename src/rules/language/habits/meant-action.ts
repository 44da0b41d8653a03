import { distance } from 'fastest-levenshtein';
import { word } from './word.js';

/** Words for one meaning; the actions' own verbs are among them. */
const MEANINGS = [
  'ensure create add open new make define upsert post put write file',
  'set ensure update edit change modify patch configure',
  'remove delete destroy drop unset clear prune',
  'merge land ship',
  'comment say reply note',
  'dispatch start run trigger launch',
  'rerun_failed rerun retry restart',
  'request_review ask_review assign_reviewer request_reviewers',
  'update_branch sync rebase refresh',
  'unqueue dequeue',
  'state close reopen status',
].map((words) => word(words, '').words);

/** Words for one object. */
const OBJECTS = [
  'issue issues ticket bug',
  'pull_request pull_requests pr prs pull pulls merge_request mr',
  'repo repository repositories repos',
  'label labels',
  'milestone milestones',
  'branch branches ref',
  'release releases',
  'workflow workflows action',
  'run runs',
  'topics topic',
  'org_variable variable variables',
  'push_mirror mirror mirrors push_mirrors',
  'protection branch_protection protections',
].map((words) => word(words, '').words);

/** Wrong letters in one word of a name, beyond which another word is meant. */
const FEW = 2;

/**
 * The action that somebody means by a name that is none: of the same object, with a verb of the same meaning, or misspelt by a few letters. Never one
 * that is only spelt alike: `issue.create` is not `issue.state`.
 */
export function meantAction(name: string, actions: readonly string[]): string | null {
  const ranked = readings(name).flatMap(([object, verb]) =>
    actions.flatMap((action) => {
      const [own = '', ownVerb = ''] = action.split('.');
      const rank = Math.max(rankOf(object, own, OBJECTS), rankOf(verb, ownVerb, MEANINGS));
      return rank === Infinity ? [] : [{ action, rank }];
    }),
  );
  return ranked.sort((a, b) => a.rank - b.rank)[0]?.action ?? null;
}

/** Actions about the same object, for who means something that none of them does. */
export function actionsAbout(name: string, actions: readonly string[]): string[] {
  return actions.filter((action) =>
    readings(name).some(([object]) => rankOf(object, action.split('.', 1)[0] ?? '', OBJECTS) < Infinity),
  );
}

/** `issue.create`, `createIssue`, `create_issue` and `issue_create` are one. */
function readings(name: string): ReadonlyArray<readonly [object: string, verb: string]> {
  const snake = name.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();
  const dot = snake.indexOf('.');
  if (dot !== -1) return [[snake.slice(0, dot), snake.slice(dot + 1).replaceAll('.', '_')]];
  const words = snake.split('_');
  return words.slice(1).flatMap((_, n): Array<readonly [string, string]> => {
    const [first, rest] = [words.slice(0, n + 1).join('_'), words.slice(n + 1).join('_')];
    return [
      [rest, first],
      [first, rest],
    ];
  });
}

/** 0 = the same, 1 = of one meaning, 2 = misspelt; Infinity = another word. */
function rankOf(wanted: string, own: string, groups: ReadonlyArray<readonly string[]>): number {
  if (wanted === own) return 0;
  if (groups.some((words) => words.includes(wanted) && words.includes(own))) return 1;
  return distance(wanted, own) <= Math.min(FEW, Math.floor((own.length + 1) / 3)) ? 2 : Infinity;
}
