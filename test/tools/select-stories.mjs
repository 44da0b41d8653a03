// Writes the committed selection of recorded stories: node test/tools/select-stories.mjs DIR
// DIR holds SERVER/exchanges/*.json. The newest Gitea's stories are kept whole; of the other servers those with a text of 64 kB are left
// out, since that text says the same on each. One line per step, so that a change shows as one.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NEWEST = 'gitea-1.27';
const LONG_TEXT = 60_000;
const target = fileURLToPath(new URL('../recordings', import.meta.url));
const [source] = process.argv.slice(2);
if (!source) {
  console.error('usage: node test/tools/select-stories.mjs DIR');
  process.exit(2);
}

const hasLongText = (value) =>
  typeof value === 'string'
    ? value.length > LONG_TEXT
    : typeof value === 'object' && value !== null && Object.values(value).some(hasLongText);
const lines = (list) => list.map((one) => `  ${JSON.stringify(one)}`).join(',\n');

for (const server of readdirSync(source, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name)) {
  const folder = join(target, server, 'exchanges');
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(join(source, server, 'exchanges'))) {
    const {
      story,
      server: recorded,
      given,
      steps,
    } = JSON.parse(readFileSync(join(source, server, 'exchanges', file), 'utf8'));
    const text = `{\n"story": ${JSON.stringify(story)},\n"server": ${JSON.stringify(recorded)},\n"given": [\n${lines(given)}\n],\n"steps": [\n${lines(steps)}\n]\n}\n`;
    if (server === NEWEST || !hasLongText(steps)) writeFileSync(join(folder, file), text);
  }
}
