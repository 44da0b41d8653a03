import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkOrg } from '../../src/cli/check-rules.js';
import type { OrgConfig } from '../../src/config/app-config.js';
import { POWERS } from '../../src/config/app-config.js';
import type { Problem } from '../../src/core/problem.js';

/** A text, bytes that are no UTF-8, or a text that repeats itself. */
type Content =
  | string
  | { readonly base64: string }
  | {
      readonly text: string;
      readonly then: string;
      readonly times: number;
      readonly and?: string;
      readonly end?: string;
    };

/** One rule set, and what the check should say of it. */
export interface CorpusCase {
  readonly name: string;
  /** A definite mistake; what a good linter would say; rules that feed each other; rules that only look so; odd and correct. */
  readonly kind: 'broken' | 'wish' | 'loop' | 'nonloop' | 'good';
  /** `better: problems`: a warning is enough. */
  readonly expected: 'problems' | 'ok' | 'better: problems';
  /** The operator granted all powers. */
  readonly powers: boolean;
  /** `file:line:col`; empty where only the file can be named. */
  readonly places: readonly string[];
  /** A word of the message, as a regular expression. */
  readonly says: string | null;
  readonly files: Readonly<Record<string, Content>>;
}

/** What is wrong with an answer; empty = nothing. */
export interface Verdict {
  readonly name: string;
  readonly kind: CorpusCase['kind'];
  readonly faults: ReadonlyArray<'silent' | 'misplaced' | 'unhelpful' | 'extra' | 'false alarm'>;
  readonly told: readonly string[];
}

const FILE = fileURLToPath(new URL('../fixtures/rule-corpus/cases.json', import.meta.url));

export function corpusCases(): readonly CorpusCase[] {
  return JSON.parse(readFileSync(FILE, 'utf8')) as CorpusCase[];
}

/** Checks every case in this process, one after the other. */
export async function judgeCorpus(cases: readonly CorpusCase[]): Promise<readonly Verdict[]> {
  const root = await mkdtemp(join(tmpdir(), 'rule-corpus-'));
  try {
    const verdicts: Verdict[] = [];
    for (const one of cases) {
      const folder = join(root, one.name);
      await mkdir(folder);
      for (const [name, content] of Object.entries(one.files)) await writeFile(join(folder, name), bytesOf(content));
      const { problems, warnings } = await checkOrg(operator(one.powers), folder);
      verdicts.push(judge(one, problems, warnings));
    }
    return verdicts;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

function bytesOf(content: Content): string | Buffer {
  if (typeof content === 'string') return content;
  if ('base64' in content) return Buffer.from(content.base64, 'base64');
  const { text, then, times, and = '', end = '' } = content;
  return text + then.repeat(times) + and.repeat(times) + end;
}

/** What the operator's config says of the organization. */
function operator(hasPowers: boolean): OrgConfig {
  const org: Partial<OrgConfig> = {
    key: 'acme',
    name: 'acme',
    label: 'acme',
    rules: { path: null, repository: null, extendsFrom: [], builtInSets: true } as unknown as OrgConfig['rules'],
    powers: hasPowers ? POWERS : [],
    secrets: { mirror_token: {} } as unknown as OrgConfig['secrets'],
    limits: { merges: true, approveAndMerge: true, privateMirrors: false, privateReads: true },
    mirrorHosts: ['mirror.example.org'],
  };
  return org as OrgConfig;
}

function judge(one: CorpusCase, errors: readonly Problem[], warnings: readonly Problem[]): Verdict {
  const shown = (level: string, { file, line, col, message, hint }: Problem): string =>
    `${level} ${file.replace(/^.*\//, '')}:${line}:${col}: ${message}${hint ? ` (${hint})` : ''}`;
  const told = [
    ...errors.map((problem) => shown('error', problem)),
    ...warnings.map((problem) => shown('warning', problem)),
  ];
  return { name: one.name, kind: one.kind, faults: [...faultsOf(one, errors, warnings)], told };
}

function* faultsOf(
  { kind, expected, places, says, files }: CorpusCase,
  errors: readonly Problem[],
  warnings: readonly Problem[],
): Generator<Verdict['faults'][number]> {
  if (expected === 'ok') {
    if (errors.length > 0) yield 'false alarm';
    return;
  }
  // A definite mistake is an error; what a linter would say may be a warning.
  const counted = expected === 'problems' ? errors : [...errors, ...warnings];
  if (counted.length === 0) return yield 'silent';
  const place = ({ file, line }: Problem): string => `${file.replace(/^.*\//, '')}:${line}`;
  const lines = places.map((text) => text.replace(/:\d+$/, ''));
  const isPlaced =
    lines.length > 0
      ? lines.every((line) => counted.some((problem) => place(problem) === line))
      : kind === 'loop'
        ? idsOf(files).some((id) => counted.some(({ message }) => message.includes(id)))
        : true;
  if (!isPlaced) yield 'misplaced';
  const here = lines.length > 0 ? counted.filter((problem) => lines.includes(place(problem))) : counted;
  const words = says === null ? null : new RegExp(says, 'i');
  if (words && !(here.length > 0 ? here : counted).some(({ message, hint }) => words.test(`${message} ${hint ?? ''}`)))
    yield 'unhelpful';
  if (lines.length > 0 && errors.some((problem) => !lines.includes(place(problem)))) yield 'extra';
}

function idsOf(files: CorpusCase['files']): string[] {
  const texts = Object.values(files).filter((content) => typeof content === 'string');
  return texts.flatMap((text) => [...text.matchAll(/\bid: *([\w-]+)/g)].map(([, id]) => id ?? ''));
}

/** By kind: how many cases there are, and how many have each fault. */
export function countFaults(verdicts: readonly Verdict[]): Readonly<Record<string, Readonly<Record<string, number>>>> {
  const counts: Record<string, Record<string, number>> = {};
  for (const { kind, faults } of verdicts) {
    const of = (counts[kind] ??= { cases: 0, silent: 0, misplaced: 0, unhelpful: 0, extra: 0, 'false alarm': 0 });
    of['cases'] = (of['cases'] ?? 0) + 1;
    for (const fault of faults) of[fault] = (of[fault] ?? 0) + 1;
  }
  return counts;
}
