// node --import ./test/register-swc.mjs test/deliveries/write-shapes.ts: needs the full set of recordings.
import { writeFileSync } from 'node:fs';
import {
  groupRecorded,
  hasFullSet,
  readRecordedDeliveries,
  SERVERS,
  shapesFile,
  writeShapes,
} from './recorded-shapes.js';

if (!hasFullSet) throw new Error('the full set of recordings is not beside the repository');
for (const [server] of SERVERS) {
  writeFileSync(shapesFile(server), `${JSON.stringify(writeShapes(groupRecorded(readRecordedDeliveries(server))))}\n`);
  console.log(`written: ${shapesFile(server)}`);
}
