// Preloaded into a demo (NODE_OPTIONS): keeps what its verifying process was handed over and everything that it read, in the file named by
// FORGEHAND_TEST_READINGS. Does nothing in any other process.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { isMainThread } from 'node:worker_threads';

const [, program = '', handover = ''] = process.argv;
const file = process.env.FORGEHAND_TEST_READINGS;

if (file && isMainThread && basename(program) === 'verify-forge.js') {
  const answers = [];
  const ask = globalThis.fetch;
  globalThis.fetch = async (url, init) => {
    const answer = await ask(url, init);
    const { pathname, search } = new URL(url);
    answers.push({ path: pathname + search, status: answer.status, body: await answer.clone().text() });
    return answer;
  };
  process.once('exit', () =>
    writeFileSync(file, JSON.stringify({ handover: JSON.parse(readFileSync(handover, 'utf8')), answers })),
  );
}
