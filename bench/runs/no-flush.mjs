// Preloaded into every thread of a bot (`node --import`): a flush does nothing, so that a run beside one that flushes tells what flushes cost.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

fs.fsyncSync = () => undefined;
syncBuiltinESMExports();
