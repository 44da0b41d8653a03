import { spawnSync } from 'node:child_process';
import { Option } from 'commander';
import { variable } from '../config/environment-file.js';

export const noPagerOption = (): Option =>
  new Option('--no-pager', 'start no pager (PAGER, else less) where the list is longer than the terminal');

/** Where there is no less, the text is printed as it is. */
const LESS = 'if command -v less >/dev/null; then exec less; else exec cat; fi';
/** Exit codes of a shell that could not start the command. */
const NOT_STARTED = new Set([126, 127]);
/** Of a terminal that does not say how many it has. */
const USUAL_ROWS = 24;

/** @param rows lines of the terminal; 0 = it does not say */
export function isLonger(text: string, rows: number | undefined): boolean {
  return text.split('\n').length > (rows || USUAL_ROWS);
}

/**
 * Show a text in PAGER, and wait until the reader quits it. A pager that quits early has shown what the reader wanted.
 * @returns whether a pager was there; false = nothing was shown
 */
export function showInPager(text: string, pager = variable('PAGER') ?? LESS): boolean {
  // Ctrl-C at a terminal reaches this process too; it is the pager's to answer, and must not leave the pager alone with the terminal.
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  try {
    // As git does: quit on one screen, show colours, leave the text on the screen.
    const script = `LESS="\${LESS-FRX}"; export LESS\n${pager}`;
    const { status, signal } = spawnSync('/bin/sh', ['-c', script], {
      input: text,
      stdio: ['pipe', 'inherit', 'inherit'],
    });
    return status === null ? signal !== null : !NOT_STARTED.has(status);
  } finally {
    process.off('SIGINT', ignore);
  }
}
