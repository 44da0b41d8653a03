import { setTimeout as wait } from 'node:timers/promises';
import type { Answer } from '../answer.js';
import type { CallFate } from './call-faults.js';
import type { Fault } from './fault-plan.js';

const HTML = '<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>\n';
const YEAR_S = 365 * 24 * 3600;

/** Work that goes on after its caller was let go: effects that come late. */
export type LetGo = (work: Promise<unknown>) => void;

/**
 * Carry out a call under its fate.
 * @param perform the call itself, with its effect; refusals are answers, not exceptions
 */
export async function injectFault(
  fate: CallFate,
  path: string,
  perform: () => Promise<Answer>,
  letGo: LetGo,
): Promise<Answer> {
  const { fault, beforeMs, afterMs, lateMs } = fate;
  if (beforeMs > 0) await wait(beforeMs);
  if (fault && !hasEffect(fault)) return inPlace(fault, path);
  if (fault?.kind === 'late' && fault.answer !== 'hold') {
    letGo(wait(lateMs).then(perform));
    return fault.answer === 'reset'
      ? { status: 0, wire: { kind: 'reset' } }
      : { status: 504, text: HTML, headers: { 'content-type': 'text/html' } };
  }
  if (fault?.kind === 'late') await wait(lateMs);
  const answer = await perform();
  if (afterMs > 0) await wait(afterMs);
  return fault ? faultyAnswer(fault, answer) : answer;
}

function hasEffect(fault: Fault): boolean {
  if (fault.kind === 'redirect' || fault.kind === 'rate-limit') return false;
  return !('when' in fault) || fault.when === 'after';
}

/** The answer instead of the effect. */
function inPlace(fault: Fault, path: string): Answer {
  switch (fault.kind) {
    case 'redirect':
      return { status: fault.status, headers: { location: fault.to ?? elsewhere(path) } };
    case 'rate-limit':
      return { status: 429, json: { message: 'too many requests' }, headers: retryAfter(fault.retry_after) };
    default:
      return faultyAnswer(fault, { status: 500 });
  }
}

/** What the caller is told after the effect. */
function faultyAnswer(fault: Fault, answer: Answer): Answer {
  switch (fault.kind) {
    case 'reset':
      return { ...answer, wire: { kind: 'reset' } };
    case 'status':
      return { status: fault.status, ...bodyOf(fault.body) };
    case 'cut':
      return { ...answer, wire: { kind: 'cut', framed: fault.framed } };
    case 'slow':
      return { ...answer, wire: { kind: 'drip', ms: fault.ms } };
    case 'wrong-type':
      return { status: answer.status === 204 ? 200 : answer.status, ...wrongBody(fault.as) };
    default:
      return answer;
  }
}

function bodyOf(kind: 'json' | 'html' | 'empty'): Partial<Answer> {
  if (kind === 'json') return { json: { message: '' } };
  return kind === 'html' ? { text: HTML, headers: { 'content-type': 'text/html' } } : {};
}

function wrongBody(kind: Extract<Fault, { kind: 'wrong-type' }>['as']): Partial<Answer> {
  switch (kind) {
    case 'html':
      return { text: HTML, headers: { 'content-type': 'text/html' } };
    case 'list':
      return { json: [] };
    case 'texts':
      return { json: { id: 'many', name: 7, title: [], commit: 'none', remote_name: {}, full_name: 0 } };
    case 'null':
      return { json: null };
    case 'empty':
      return { text: '', headers: { 'content-type': 'application/json;charset=utf-8' } };
  }
}

/** As after a rename: the same call under another name. */
function elsewhere(path: string): string {
  const [, api = '', version = '', kind = '', name = '', ...rest] = path.split('/');
  return `/${[api, version, kind, `${name}-elsewhere`, ...rest].join('/')}`;
}

function retryAfter(value: number | 'date' | 'absurd' | undefined): Record<string, string> {
  if (value === undefined) return {};
  if (value === 'date') return { 'retry-after': new Date(Date.now() + 2_000).toUTCString() };
  return { 'retry-after': String(value === 'absurd' ? YEAR_S : value) };
}
