// npm run docs:evidence: writes the tables of docs/evidence.md from evidence/*.json.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../services/with-services.mjs';
import { readEvidence, renderPage } from './evidence.js';

const page = join(ROOT, 'docs/evidence.md');
writeFileSync(page, renderPage(readFileSync(page, 'utf8'), readEvidence()));
console.log(`written: ${page}`);
