import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { Json, JsonObject } from '../../src/core/json.js';
import { isJsonObject, parseJson } from '../../src/core/json.js';

/** The format of `exchanges/STORY.json`; keys that are not listed here are ignored. */
export interface Story {
  /** `gitea-1.27/labels`: folder of the server and the file's name. */
  readonly name: string;
  readonly story: string;
  /** As recorded: `gitea 1.27.0-rc0`. */
  readonly server: string;
  /** Users that are there before anything is given; the first is the site admin. */
  readonly people: readonly string[];
  readonly given: readonly Given[];
  readonly steps: readonly Step[];
}

/** One entry of the world, made just before step `before_step`. */
export type Given = JsonObject & { before_step: number };

export type Step = ExchangeStep | RunnerStep;

export interface ExchangeStep {
  readonly n: number;
  readonly title: string;
  /** 1 to 20; absent = extended operation. */
  readonly op?: number;
  readonly auth: StepAuth;
  readonly request: StepRequest;
  readonly response: RecordedAnswer;
  /** The answer is kept under this name for later templates. */
  readonly save?: string;
  /** The same of the `code` in its Location, and of the Location itself. */
  readonly save_code?: string;
  readonly save_location?: string;
  /** A step of the pages: the path is the whole one, and headers, cookies and refusals count too. */
  readonly web?: boolean;
  /** Whose cookies are sent and kept; null = nobody's. */
  readonly jar?: string | null;
  /** The recorder waited so long after it: the server worked on. */
  readonly wait_ms?: number;
  /** Played for what it does to the world, and not judged: what it answered was not recorded. */
  readonly isSilent?: boolean;
}

export interface RunnerStep {
  readonly n: number;
  readonly title: string;
  readonly runner: JsonObject;
}

export interface StepAuth {
  readonly kind: 'none' | 'basic' | 'token' | 'header' | 'cookies';
  readonly user?: string;
  readonly scopes?: readonly string[];
}

export interface StepRequest {
  readonly method: string;
  /** Below /api/v1. */
  readonly path: string;
  readonly template?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Json;
  readonly raw?: string;
  readonly body_template?: Json;
  /** Fields of a form, and a JSON body, of the web side. */
  readonly form?: Readonly<Record<string, string>>;
  readonly json?: Json;
}

export interface RecordedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON value or text; '' when there was none. */
  readonly body: Json;
  /** Of the web side: names of cookies, `-name` for one taken away. */
  readonly set_cookies?: readonly string[];
}

/** They exist on every recorded server. */
export const PEOPLE = ['root1', 'olga', 'wes', 'rita', 'otto'] as const;

export function isExchange(step: Step): step is ExchangeStep {
  return 'request' in step;
}

/**
 * Every story below `dir` (or in it), in order of path. Acts and other JSON files are passed over.
 * @throws Error when there is none
 */
export function loadStories(dir: string): Story[] {
  if (!existsSync(dir)) throw new Error(`no folder ${dir}`);
  const stories = jsonFiles(dir).flatMap((file) => readStory(dir, file));
  if (stories.length === 0) throw new Error(`no story (exchanges/*.json) below ${dir}`);
  return stories;
}

function jsonFiles(dir: string): string[] {
  return readdirSync(dir)
    .sort()
    .flatMap((entry) => {
      const path = join(dir, entry);
      if (statSync(path).isDirectory()) return entry === 'acts' ? [] : jsonFiles(path);
      return entry.endsWith('.json') ? [path] : [];
    });
}

function readStory(root: string, file: string): Story[] {
  const read = parseJson(readFileSync(file, 'utf8'));
  if (!isJsonObject(read) || !Array.isArray(read.steps) || typeof read.story !== 'string') return [];
  const folder = dirname(file).replace(/\/exchanges$/, '');
  const server = relative(dirname(root), folder) === '' ? basename(root) : basename(folder);
  const story = read as unknown as Story;
  return [{ ...story, name: `${server}/${read.story}`, people: PEOPLE, given: withPasswords(story) }];
}

/** People who log in on a page type the password that they had when it was recorded. */
function withPasswords({ given, steps }: Story): readonly Given[] {
  if (!steps.some((step) => isExchange(step) && step.web)) return given;
  return given.map((entry) =>
    typeof entry.user === 'string' ? { ...entry, password: `Pass-${entry.user}-1!` } : entry,
  );
}
