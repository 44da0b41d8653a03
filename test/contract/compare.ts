import { createHash } from 'node:crypto';
import type { Json } from '../../src/core/json.js';
import { isJsonObject, stringifyJson } from '../../src/core/json.js';
import type { Answer } from './answer.js';
import { isClosed } from './closed-keys.js';
import type { Leaf, Path } from './leaves.js';
import { isSetTime, isTime, leavesOf, showPath } from './leaves.js';
import { isAnyAssignee, isUnordered, partsOf } from './unordered.js';

export interface Difference {
  readonly what: string;
  readonly expected: string;
  readonly got: string;
}

export interface Comparison {
  readonly differences: readonly Difference[];
  /** Leaves of the recorded body (0 for a refusal, whose body counts by its kind only). */
  readonly leaves: number;
  /** Those whose value was held against the answer's. */
  readonly compared: number;
}

/** What decides which arrays are sets. */
export interface CompareContext {
  readonly server: string;
  /** Below /api/v1, with its query. */
  readonly path: string;
  /** Items of the same token list as other steps of the story saw it: its pages may show any of them. */
  readonly listed?: readonly Json[];
}

/** Hold an answer against the recorded one by the rules of `recordings/README.md`. */
export function compareAnswers(recorded: Answer, answer: Answer, context: CompareContext): Comparison {
  const differences: Difference[] = [];
  const differ = (what: string, expected: unknown, got: unknown): void =>
    void differences.push({ what, expected: show(expected), got: show(got) });
  if (recorded.status !== answer.status) differ('status', recorded.status, answer.status);
  if (recorded.totalCount !== answer.totalCount) differ('X-Total-Count', recorded.totalCount, answer.totalCount);
  if (recorded.hasLink !== answer.hasLink)
    differ('Link', recorded.hasLink ? 'present' : 'absent', answer.hasLink ? 'present' : 'absent');
  if (recorded.status >= 400 && !recorded.isWeb) {
    if (kindOf(recorded.body) !== kindOf(answer.body))
      differ('kind of body', kindOf(recorded.body), kindOf(answer.body));
    return { differences, leaves: 0, compared: 0 };
  }
  const comparer = new BodyComparer(context);
  comparer.compare(alike(recorded.body, recorded.origin), alike(answer.body, answer.origin));
  return {
    differences: [...differences, ...comparer.differences],
    leaves: recorded.body === '' ? 0 : leavesOf(recorded.body).length,
    compared: comparer.compared,
  };
}

/** Of a refusal only this counts. */
function kindOf(body: Json): string {
  if (body === '') return 'empty';
  if (body === null) return 'null';
  if (Array.isArray(body)) return 'array';
  return isJsonObject(body) ? 'object' : 'text';
}

/** Recorded texts above this may stand as `(70000 characters, sha256 …)`. */
const LONG_TEXT = 20_000;

/** Put one word in place of the server's own address, wherever a text holds it, and its digest in place of a long text. */
function alike(body: Json, origin: string): Json {
  const host = origin.replace(/^https?:\/\//, '');
  const visit = (value: Json): Json => {
    if (typeof value === 'string') {
      const text = host === '' ? value : value.replaceAll(host, '{server}');
      if (text.length <= LONG_TEXT) return text;
      return `(${text.length} characters, sha256 ${createHash('sha256').update(text).digest('hex')})`;
    }
    if (Array.isArray(value)) return value.map(visit);
    return isJsonObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, visit(inner)]))
      : value;
  };
  return visit(body);
}

class BodyComparer {
  readonly differences: Difference[] = [];
  compared = 0;

  constructor(private readonly context: CompareContext) {}

  compare(expected: Json, got: Json, path: Path = [], closed = false): void {
    if (Array.isArray(expected) && Array.isArray(got)) this.#compareArrays(expected, got, path, closed);
    else if (isJsonObject(expected) && isJsonObject(got)) this.#compareObjects(expected, got, path, closed);
    else if (isLeaf(expected) && isLeaf(got)) this.#compareLeaves(expected, got, path, closed);
    else this.#differ(path, expected, got);
  }

  #compareObjects(expected: Record<string, Json>, got: Record<string, Json>, path: Path, closed: boolean): void {
    for (const [key, value] of Object.entries(expected)) {
      if (!Object.hasOwn(got, key))
        this.differences.push({ what: showPath([...path, key]), expected: show(value), got: 'no such key' });
      else if (isAnyAssignee(key, expected) && isAnyAssignee(key, got))
        this.#compareMembers([expected, got], [...path, key], closed);
      else this.compare(value, got[key] as Json, [...path, key], closed || isClosed(key, expected));
    }
    for (const key of Object.keys(got)) {
      if (!Object.hasOwn(expected, key))
        this.differences.push({ what: showPath([...path, key]), expected: 'no such key', got: show(got[key]) });
    }
  }

  /** Each is one of the assignees beside it, whose sets are compared by themselves. */
  #compareMembers(holders: readonly Record<string, Json>[], path: Path, closed: boolean): void {
    for (const { assignee, assignees } of holders)
      if (!(assignees as Json[]).some((one) => this.#isSame(one, assignee as Json, path, closed)))
        this.#differ(path, assignees, assignee);
  }

  #compareArrays(expected: Json[], got: Json[], path: Path, closed: boolean): void {
    if (expected.length !== got.length) {
      this.differences.push({
        what: `length of ${showPath(path)}`,
        expected: String(expected.length),
        got: `${got.length}: ${show(got)}`,
      });
    } else if (isUnordered(path, this.context)) {
      this.#compareSets(expected, got, path, closed);
    } else {
      for (const [from, to] of partsOf(expected, path, this.context)) {
        if (to - from > 1) this.#compareSets(expected.slice(from, to), got.slice(from, to), path, closed);
        else this.compare(expected[from] as Json, got[from] as Json, [...path, from], closed);
      }
    }
  }

  /** Sameness but for closed leaves is an equivalence, so taking the first fitting item is enough. */
  #compareSets(expected: Json[], got: Json[], path: Path, closed: boolean): void {
    const left = [...got];
    const missing: Json[] = [];
    for (const item of expected) {
      const found = left.findIndex((other) => this.#isSame(item, other, path, closed));
      if (found < 0) missing.push(item);
      else left.splice(found, 1);
      this.compared += leavesOf(item, path, closed).filter((leaf) => !leaf.closed).length;
    }
    if (missing.length > 0 && !this.#isOtherPage(expected, got, path))
      this.#differ([...path, '(as a set)'], missing, left);
  }

  #isOtherPage(expected: Json[], got: Json[], path: Path): boolean {
    const listed = path.length === 0 ? this.context.listed : undefined;
    return (
      listed !== undefined &&
      [...expected, ...got].every((item) => listed.some((one) => this.#isSame(one, item, path, false)))
    );
  }

  #isSame(a: Json, b: Json, path: Path, closed: boolean): boolean {
    const inner = new BodyComparer(this.context);
    inner.compare(a, b, [...path, 0], closed);
    return inner.differences.length === 0;
  }

  /** A closed leaf still has to be of the same type, and a time set or unset as the recorded one. */
  #compareLeaves(expected: Leaf, got: Leaf, path: Path, closed: boolean): void {
    if (!closed) this.compared += 1;
    if (isTime(expected) && isTime(got)) {
      if (isSetTime(String(expected)) !== isSetTime(String(got))) this.#differ(path, expected, got);
    } else if (isTextOfServer(path) && typeof expected === 'string' && typeof got === 'string') {
      if (withoutCommitsAndDates(expected) !== withoutCommitsAndDates(got)) this.#differ(path, expected, got);
    } else if (
      closed ? typeOf(expected) !== typeOf(got) : String(expected) !== String(got) || typeOf(expected) !== typeOf(got)
    ) {
      this.#differ(path, expected, got);
    }
  }

  #differ(path: Path, expected: unknown, got: unknown): void {
    this.differences.push({ what: showPath(path), expected: show(expected), got: show(got) });
  }
}

/** The row of a push in a timeline names commits inside its text; a patch has commits and dates. */
function isTextOfServer(path: Path): boolean {
  return path.length === 0 || path.at(-1) === 'body';
}

/** RFC 3339 and RFC 5322, each in its own form: a date of another form is another text. */
function withoutCommitsAndDates(text: string): string {
  return text
    .replace(/\b[0-9a-f]{40}\b/g, 'commit')
    .replace(/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d/g, 'time')
    .replace(/\b\d{4}-\d\d-\d\d\b/g, 'day')
    .replace(/\b[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d/g, 'mail time');
}

function isLeaf(value: Json): value is Leaf {
  return typeof value !== 'object' || value === null;
}

function typeOf(value: Leaf): string {
  if (value === null) return 'null';
  if (isTime(value)) return 'time';
  return typeof value === 'bigint' ? 'number' : typeof value;
}

function show(value: unknown): string {
  const text = stringifyJson(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
