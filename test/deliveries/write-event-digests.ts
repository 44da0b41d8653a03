// node --import ./test/register-swc.mjs test/deliveries/write-event-digests.ts: needs the full set of recordings.
import { writeFileSync } from 'node:fs';
import { EVENT_DIGESTS_FILE, eventDigests } from './event-digests.js';
import { hasFullSet } from './recorded-shapes.js';

if (!hasFullSet) throw new Error('the full set of recordings is not beside the repository');
const lines = Object.entries(eventDigests()).map(([arrival, told]) => `  "${arrival}": "${told}"`);
writeFileSync(EVENT_DIGESTS_FILE, `{\n${lines.join(',\n')}\n}\n`);
console.log(`${lines.length} digests written: ${EVENT_DIGESTS_FILE}`);
