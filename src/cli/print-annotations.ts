import type { Problem } from '../core/problem.js';

/**
 * Problems as workflow commands (`::error file=…,line=…::…`), which runners of Gitea, Forgejo and GitHub take from the output of a step.
 * One line each; nothing where there is no problem.
 */
export function annotationsOf(problems: readonly Problem[]): string {
  return problems
    .map(({ file, line, col, message, hint, level }) => {
      const text = hint ? `${message} (${hint})` : message;
      return `::${level ?? 'error'} file=${property(file)},line=${line},col=${col}::${data(text)}\n`;
    })
    .join('');
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
