// node deploy/release/verify.mjs FOLDER [--key PUBLIC.pem]: whether the files of a release are those that were built, and with --key that its statement is signed.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ENVELOPE, STATEMENT, SUMS, digestsOf, openEnvelope, sumsOf } from './attestation.mjs';

/** @param publicPem null = the statement is taken as it stands. @returns names of the files. @throws Error that says what does not hold */
export function verifyRelease(folder, publicPem) {
  const read = (name) => readFileSync(join(folder, name), 'utf8');
  const digests = digestsOf(folder);
  if (read(SUMS) !== sumsOf(digests))
    throw new Error(`${SUMS} is not that of these files: ${differing(read(SUMS), digests)}`);
  const statement = publicPem ? openEnvelope(JSON.parse(read(ENVELOPE)), publicPem) : JSON.parse(read(STATEMENT));
  const subjects = statement.subject.map(({ name, digest }) => [name, digest.sha256]);
  if (sumsOf(subjects) !== sumsOf(digests))
    throw new Error(`the statement is not about these files: ${differing(sumsOf(subjects), digests)}`);
  return digests.map(([name]) => name);
}

function differing(text, digests) {
  const expected = new Map(text.split('\n').flatMap((line) => (line ? [line.split('  ').reverse()] : [])));
  const actual = new Map(digests);
  return [...new Set([...expected.keys(), ...actual.keys()])]
    .filter((name) => expected.get(name) !== actual.get(name))
    .join(', ');
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [folder, option, file] = process.argv.slice(2);
  if (!folder || (option !== undefined && (option !== '--key' || !file))) {
    console.error('node deploy/release/verify.mjs FOLDER [--key PUBLIC.pem]');
    process.exit(2);
  }
  try {
    const names = verifyRelease(folder, file ? readFileSync(file, 'utf8') : null);
    console.log(
      `${names.join('\n')}\n${file ? 'signed by this key' : 'no key given: the signature was not looked at'}`,
    );
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
