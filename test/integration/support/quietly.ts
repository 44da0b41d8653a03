/** Run a command of this process, and give what it printed. */
export async function quietly(work: () => Promise<number>): Promise<{ code: number; text: string }> {
  const written: string[] = [];
  const [out, err] = [process.stdout.write, process.stderr.write];
  const keep = ((chunk: string | Uint8Array) => (written.push(String(chunk)), true)) as typeof out;
  Object.assign(process.stdout, { write: keep });
  Object.assign(process.stderr, { write: keep });
  try {
    return { code: await work(), text: written.join('') };
  } finally {
    Object.assign(process.stdout, { write: out });
    Object.assign(process.stderr, { write: err });
  }
}
