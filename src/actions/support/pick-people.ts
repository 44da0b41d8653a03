/**
 * Some of a list, by turns: the turn is the number of the issue or pull request, so that the same one always gets the same people, whoever
 * asks and however often.
 * @param leftOut logins that cannot be picked, such as the author
 */
export function pickByTurn(
  people: readonly string[],
  turn: string,
  count: number,
  leftOut: readonly string[] = [],
): string[] {
  const out = new Set(leftOut.map((login) => login.toLowerCase()));
  const able = people.filter((login) => !out.has(login.toLowerCase()));
  if (able.length === 0) return [];
  const start = Number(BigInt(turn) % BigInt(able.length));
  return Array.from({ length: Math.min(count, able.length) }, (_, index) => able[(start + index) % able.length] ?? '');
}

export function isSameLogin(a: string | null | undefined, b: string | null | undefined): boolean {
  return (a ?? '').toLowerCase() === (b ?? '').toLowerCase();
}
