// npm run docs -- feed: writes the derived tables of docs/feed.md from the acts in test/recordings.
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { readActFolders } from './act-file.js';
import { renderFeedPage } from './feed-doc.js';
import { playFeed, type FeedResult } from './play-feed.js';

const page = resolve('docs/feed.md');
const results: FeedResult[] = [];
for (const folder of readActFolders(resolve('test/recordings')))
  results.push(await playFeed(folder, { inMemory: true }));
writeFileSync(page, renderFeedPage(readFileSync(page, 'utf8'), results));
console.log(`written: ${page}`);
