// Preloaded into a process (`node --import`): its processor time by function goes to a file of FORGEHAND_BENCH_PROFILE when it ends. Node takes its
// own option for that on the command line alone.
import { mkdirSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';

const folder = process.env.FORGEHAND_BENCH_PROFILE;
if (folder !== undefined && isMainThread) {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.start');
  process.once('exit', () =>
    session.post('Profiler.stop', (_, told) => {
      mkdirSync(folder, { recursive: true });
      if (told) writeFileSync(join(folder, `${process.pid}.cpuprofile`), JSON.stringify(told.profile));
    }),
  );
}
