import { tableOf } from '../../../core/table.js';
import type { Text } from '../load/read-shape.js';
import type { SourceFile } from '../load/source-file.js';
import { compileGlob } from '../match/glob.js';
import type { GlobPattern } from '../match/glob.js';

interface Wrong {
  readonly message: string;
  readonly hint?: string;
}

/** Signs of a regular expression: in a name they mean nothing, or the name is none. */
const REGEX = /^\^|\\[dDwWsS.]|\/\.\*|\.\+|\(\?[:!=]|\([^)]*\|[^)]*\)|\[\^?[a-z]-[a-z]\][+*]|[^\\]\$$/;

function regexIn(text: string): Wrong | null {
  if (!REGEX.test(text)) return null;
  const glob = text
    .replace(/^\^|\$$/g, '')
    .replace(/\.\*|\.\+|\\d\+?|\[\^?[^\]]*\][+*]/g, '*')
    .replace(/\\(.)/g, '$1')
    .replace(/\(([^)]*)\)/g, (_, inner: string) => `{${inner.replaceAll('|', ',')}}`);
  return {
    message: `"${text.slice(0, 60)}" is a regular expression, and a filter is a glob pattern`,
    hint: `such as "${glob.slice(0, 60)}"; or if: ….matches("${text.slice(0, 60)}")`,
  };
}

/** What git allows in no name of a branch or tag. */
function refFault(text: string, kind: 'branch' | 'tag'): Wrong | null {
  const other = kind === 'branch' ? 'tags' : 'heads';
  const full = /^refs\/(heads|tags|remotes\/[^/]+)\/(.*)$/.exec(text);
  if (full)
    return full[1] === other
      ? {
          message: `this is a ${kind === 'branch' ? 'tag' : 'branch'}`,
          hint: `where.${kind === 'branch' ? 'tag' : 'branch'}: ${full[2] ?? ''}`,
        }
      : {
          message: `a ${kind} is named without "refs/${full[1]}/": this matches nothing`,
          hint: `${kind}: ${full[2] ?? ''}`,
        };
  if (/^origin\//.test(text))
    return { message: 'a branch is named without its remote: this matches nothing', hint: `${kind}: ${text.slice(7)}` };
  return null;
}

function nameFault(text: string, kind: 'branch' | 'tag'): Wrong | null {
  const isWrong = /[\s~^:]|\.\.|@\{|^[-/.]|\/$|\/\/|\.lock$/.test(text);
  return isWrong ? { message: `no ${kind} can be named "${text.slice(0, 60)}": this matches nothing` } : null;
}

function repositoryFault(text: string): Wrong | null {
  if (/^(?:https?|ssh|git):|^git@/.test(text))
    return {
      message: 'a repository is named, not its address',
      hint: text.replace(/^.*[/:]([^/]+?)(?:\.git)?$/, '$1'),
    };
  if (/\.git$/.test(text)) return { message: 'a repository is named without ".git"', hint: text.slice(0, -4) };
  if (text.split('/').length > 2) return { message: `"${text.slice(0, 60)}" names no repository: OWNER/NAME, or NAME` };
  return /^[\w./-]+$/.test(text)
    ? null
    : { message: `no repository can be named "${text.slice(0, 60)}"`, hint: 'letters, digits, ".", "_" and "-"' };
}

/** `repo.name` has no owner before it. */
function nameWithOwner(text: string): Wrong | null {
  return /^[^[{]*\//.test(text)
    ? { message: `a name alone has no slash: "${text.slice(0, 60)}" matches nothing`, hint: text.replace(/^.*\//, '') }
    : null;
}

/** `*` stays on one side of the slash. */
function fullNameFault(text: string): Wrong | null {
  return text.includes('/') || text.includes('**')
    ? null
    : { message: `OWNER/NAME has a slash always: "${text.slice(0, 60)}" matches nothing`, hint: `*/${text}` };
}

function actorFault(text: string): Wrong | null {
  if (text.startsWith('@'))
    return { message: 'a login has no "@" before it: this matches nobody', hint: text.slice(1) };
  if (/\[bot\]$/.test(text))
    return {
      message: `accounts of this forge have no "[bot]": in a pattern that is one of the letters b, o, t`,
      hint: `${text.replace(/\[bot\]$/, '')}; bot alone is this bot`,
    };
  if (text.includes('/'))
    return {
      message: `"${text.slice(0, 60)}" is no login: teams are no actors`,
      hint: 'lookup: {rights: {use: actor.rights, …}}',
    };
  return null;
}

function loginFault(text: string): Wrong | null {
  return /^[\w.-]+$/.test(text)
    ? null
    : { message: `no account can have the login "${text.slice(0, 60)}"`, hint: 'letters, digits, ".", "_" and "-"' };
}

function commandFault(text: string): Wrong | null {
  if (/^[/!@]/.test(text))
    return {
      message: `a command is named without "${text[0] ?? ''}": this matches nothing`,
      hint: `command: ${text.replace(/^[/!@]+/, '').split(/\s/)[0] ?? ''}`,
    };
  return null;
}

function commandNameFault(text: string): Wrong | null {
  if (/\s/.test(text))
    return {
      message: 'a command is one word; what follows it are its arguments',
      hint: `command: ${text.trim().split(/\s/)[0] ?? ''}, with if: event.command.args…`,
    };
  return /^[A-Za-z][A-Za-z0-9_-]{0,31}$/.test(text)
    ? null
    : {
        message: `no command can be named "${text.slice(0, 60)}"`,
        hint: 'a letter, then letters, digits, "_" and "-", 32 at most',
      };
}

/** Paths of a repository begin at its top, have no dots to walk by, and name files. */
function pathFault(text: string): Wrong | null {
  const at = text.slice(0, 60);
  const group = /[+*?@!]\(([^)]*)\)/.exec(text);
  if (group)
    return {
      message: `"${at}" has a group of another pattern language: this matches nothing`,
      hint: `one of several is {${(group[1] ?? '').replaceAll('|', ',')}}`,
    };
  if (/^(?:\.{0,2}\/)/.test(text))
    return {
      message: `a path begins at the top of the repository: "${at}" matches nothing`,
      hint: text.replace(/^(?:\.{0,2}\/)+/, ''),
    };
  if (/^\{(?:[^{}]*,)?\.{0,2}\//.test(text))
    return {
      message: `a path begins at the top of the repository: an alternative of "${at}" matches nothing`,
      hint: text.replace(/([{,])(?:\.{0,2}\/)+/g, '$1'),
    };
  if (text.endsWith('/'))
    return { message: `"${at}" names a folder, and paths name files: this matches nothing`, hint: `${text}**` };
  if (/\/\/|(?:^|\/)\.{1,2}\//.test(text)) return { message: `no path is written as "${at}": this matches nothing` };
  return null;
}

function topicFault(text: string): Wrong | null {
  return /^[a-z0-9][-.a-z0-9]{0,34}$/i.test(text)
    ? null
    : { message: `no topic can be named "${text.slice(0, 60)}"`, hint: 'letters, digits, "-" and ".", 35 at most' };
}

/** By filter: what holds for patterns too, and what for plain names alone. */
const FAULTS: Readonly<
  Record<
    string,
    { readonly any: ReadonlyArray<(text: string) => Wrong | null>; readonly name: (text: string) => Wrong | null }
  >
> = tableOf({
  branch: { any: [regexIn, (text) => refFault(text, 'branch')], name: (text) => nameFault(text, 'branch') },
  tag: { any: [regexIn, (text) => refFault(text, 'tag')], name: (text) => nameFault(text, 'tag') },
  repo: { any: [regexIn], name: repositoryFault },
  not_repo: { any: [regexIn], name: repositoryFault },
  repos: { any: [regexIn], name: repositoryFault },
  not_repos: { any: [regexIn], name: repositoryFault },
  actor: { any: [regexIn, actorFault], name: loginFault },
  command: { any: [commandFault, regexIn], name: commandNameFault },
  topics: { any: [regexIn], name: topicFault },
  file: { any: [pathFault, regexIn], name: () => null },
  repo_name: { any: [regexIn, nameWithOwner], name: () => null },
  full_name: { any: [regexIn, fullNameFault], name: repositoryFault },
});

/** What a pattern in an expression is compared with. */
export type Subject = 'branch' | 'tag' | 'repo_name' | 'full_name' | 'actor' | 'file';

/** Why a pattern in an expression can never match such a subject; null = it can, or it is no pattern at all. */
export function patternFault(subject: Subject, text: string): Wrong | null {
  const faults = FAULTS[subject];
  let literal: string | null;
  try {
    literal = compileGlob(text).literal;
  } catch {
    return null;
  }
  for (const fault of [...(faults?.any ?? []), ...(literal === null || !faults ? [] : [faults.name])]) {
    const wrong = fault(text);
    if (wrong) return wrong;
  }
  return null;
}

/** Names in a form that nothing has, so that the filter would turn everything away. */
export function checkPattern(file: SourceFile, filter: string, text: Text, pattern: GlobPattern): void {
  const faults = FAULTS[filter];
  if (!faults) return;
  for (const fault of [...faults.any, ...(pattern.literal === null ? [] : [faults.name])]) {
    const wrong = fault(text.value);
    if (wrong) {
      file.newProblem(text.start, wrong.message, wrong.hint);
      return;
    }
  }
  if (filter === 'actor' && /\{(?:[^}]*,)?bot(?::[^,}]*)?(?:,[^}]*)?\}/.test(text.value))
    file.warn(
      text.start,
      'inside a pattern "bot" is an account of that name, and not this bot',
      'actor: [NAME, bot], a list',
    );
}
