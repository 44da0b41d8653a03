// Preloaded into every thread of a process (`node --import`): the file COUNT_FLUSHES grows by one byte with each flush of a descriptor.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { fsyncSync } = fs;
fs.fsyncSync = (descriptor) => {
  fsyncSync(descriptor);
  fs.appendFileSync(process.env['COUNT_FLUSHES'], '.');
};
syncBuiltinESMExports();
