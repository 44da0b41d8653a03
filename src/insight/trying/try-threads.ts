import { Injectable } from '@nestjs/common';
import { makeTryThread, type TryThread } from './try-thread.js';

/** Without a draft to try for so long, a thread is ended. */
const REST_MS = 30_000;

/** Threads of their own: whoever checks a draft does not wait for somebody's back-test. */
@Injectable()
export class TryThreads {
  make(): TryThread {
    return makeTryThread(REST_MS);
  }
}
