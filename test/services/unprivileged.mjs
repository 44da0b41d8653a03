import { readFileSync } from 'node:fs';

/**
 * The account under which servers run. initdb refuses root, and needs a user that has a name, so as root one of the usual service
 * accounts is taken; otherwise we stay who we are.
 * @returns {{ uid: number, gid: number } | null} null = no change of user
 */
export function serverAccount() {
  if (process.getuid?.() !== 0) return null;
  const rows = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((row) => row.split(':'));
  for (const wanted of ['postgres', 'nobody', 'daemon']) {
    const row = rows.find(([name]) => name === wanted);
    if (row) return { uid: Number(row[2]), gid: Number(row[3]) };
  }
  throw new Error('running as root, and neither postgres, nobody nor daemon is a user here to run servers as');
}
