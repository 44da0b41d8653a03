// npm run docs -- forges: writes the derived sections of docs/forges.md; needs the full set of recordings.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { renderPage } from './forges-doc.js';
import { recordingsDir, storiesAtHand } from './recordings.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = `${root}/docs/forges.md`;
try {
  writeFileSync(page, renderPage(readFileSync(page, 'utf8'), root, storiesAtHand()));
  console.log(`written: ${page}`);
} catch (error) {
  console.error(`not written, with the recordings of ${recordingsDir()}: ${(error as Error).message}`);
  process.exitCode = 1;
}
