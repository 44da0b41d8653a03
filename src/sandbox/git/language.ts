import type { Repository } from '../world.js';

/** Languages by the ending of a file. Texts, data and markup that is mostly prose do not count, as on a real server. */
const LANGUAGES: Readonly<Record<string, string>> = {
  c: 'C',
  cpp: 'C++',
  cs: 'C#',
  css: 'CSS',
  dart: 'Dart',
  ex: 'Elixir',
  go: 'Go',
  hs: 'Haskell',
  html: 'HTML',
  java: 'Java',
  js: 'JavaScript',
  kt: 'Kotlin',
  lua: 'Lua',
  mjs: 'JavaScript',
  php: 'PHP',
  pl: 'Perl',
  py: 'Python',
  rb: 'Ruby',
  rs: 'Rust',
  scala: 'Scala',
  scss: 'SCSS',
  sh: 'Shell',
  swift: 'Swift',
  ts: 'TypeScript',
  tsx: 'TypeScript',
  vue: 'Vue',
  zig: 'Zig',
};

/** The language of most bytes on the default branch; empty when no file is in one. */
export function languageOf({ git, defaultBranch }: Repository): string {
  const files = git.commits.get(git.branches.get(defaultBranch) ?? '')?.files ?? new Map<string, string>();
  const bytes = new Map<string, number>();
  for (const [path, blob] of files) {
    const language = LANGUAGES[/\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ''];
    if (language !== undefined) bytes.set(language, (bytes.get(language) ?? 0) + (git.blobs.get(blob)?.length ?? 0));
  }
  return [...bytes].sort(([, a], [, b]) => b - a)[0]?.[0] ?? '';
}
