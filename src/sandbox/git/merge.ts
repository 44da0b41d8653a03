type Tree = ReadonlyMap<string, string>;

/**
 * Merges two trees that grew from one, file by file; a file that both changed in different ways is a conflict.
 * (git also merges inside a file; here a file is changed by one side only.)
 */
export function mergeTrees(base: Tree, ours: Tree, theirs: Tree): { files: Map<string, string>; conflicts: string[] } {
  const files = new Map(ours);
  const conflicts: string[] = [];
  for (const path of new Set([...base.keys(), ...theirs.keys()])) {
    const [was, our, their] = [base.get(path), ours.get(path), theirs.get(path)];
    if (their === was || their === our) continue;
    if (our !== was) conflicts.push(path);
    else if (their === undefined) files.delete(path);
    else files.set(path, their);
  }
  return { files, conflicts: conflicts.sort() };
}
