// Preloaded into every thread of the bot (`node --import`): from the moment at which FAIL_FLUSHES is a file, the disk confirms no flush any more.
// It keeps count in that file's neighbour, one line for each flush that was asked for after the first failure.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const trigger = process.env['FAIL_FLUSHES'];
const { fsyncSync } = fs;

fs.fsyncSync = (descriptor) => {
  if (!fs.existsSync(trigger)) return fsyncSync(descriptor);
  fs.appendFileSync(`${trigger}.asked`, 'flush\n');
  throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO', syscall: 'fsync' });
};
syncBuiltinESMExports();
