/** For a `git` that this program starts: no more of its own environment than git needs to be found and to find its settings. */
export function gitEnvironment(): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME, LC_ALL: 'C' };
}
