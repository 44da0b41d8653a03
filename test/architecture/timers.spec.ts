import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

/**
 * The only files of the bot that may set a timer of Node themselves, and what ends it. What is to be done again and again belongs to
 * `@Interval`, `@Cron` or the `SchedulerRegistry`, which the framework stops.
 */
const ENDED_BY: Record<string, string> = {
  'console/console-server.tsx': 'close()',
  'console/live/hub.ts': 'the last viewer, who goes with the server',
  'platform/shared-deadlines.ts': 'the end of what waits, and a fortieth of its time',
  'core/within.ts': 'the work that it bounds',
  'forge/budget.ts': 'the last call that waits for its turn',
  'forge/connected-forges.ts': 'stop()',
  'forge/http/agents.ts': 'the connection, which is made or fails',
  'forge/http/transport.ts': 'the end of the call',
  'housekeeping/interval-jobs.cron.ts': 'the SchedulerRegistry, which holds it',
  'notify/post.ts': 'the end of the call',
  'observability/counted-security-log.ts': 'close()',
  'pipeline/answer/rule-checks.ts': 'the end of the check',
  'pipeline/decide/crash-loop-guard.ts': 'the end of the lease',
  'pipeline/execute/executor.ts': 'stop()',
  'pipeline/line-turns.ts': 'stop()',
  'pipeline/execute/keep-claim.ts': 'the end of the lease, and a short wait before the store is asked again',
  'pipeline/store-poll.ts': 'stop()',
  'policies/thread/rule-thread.ts': 'the answer of the thread, and stop()',
  'queue/bull-bell.ts': 'close()',
  'queue/redis-options.ts': 'the end of the connection',
  'rules/revisions/revision-keeper.ts': 'stop()',
  'rules/sources/folder-source.ts': 'close()',
  'rules/sources/repository-source.ts': 'close()',
  'store/embedded/copy-files.ts': 'the end of the copy',
  'store/store-gate.ts': 'the next turn, and a few milliseconds',
  'webhooks/event-loop-turns.ts': 'the end of the connection',
  'webhooks/webhook-listener.ts': 'onApplicationShutdown()',
};
/** They are no part of the bot: a forge for tests and demos, commands, which end with their process, and what runs in a browser. */
const ELSEWHERE = /^(sandbox|cli|console\/islands)\//;
const SETS = /(?<![.\w])set(?:Interval|Timeout)\(/;

const timers = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => /(?<!\.spec|\.d)\.tsx?$/.test(name) && !ELSEWHERE.test(name))
  .map((name) => ({ name, text: readFileSync(join('src', name), 'utf8') }))
  .filter(({ text }) => SETS.test(text));

describe('architecture/timers', () => {
  it('are set by the framework, or by an object that ends them', () => {
    expect(timers.map(({ name }) => name).sort()).toEqual(Object.keys(ENDED_BY).sort());
  });

  it('are cleared where they are set', () => {
    const kept = timers.filter(
      ({ name, text }) =>
        (/(?<![.\w])setInterval\(/.test(text) && !/clearInterval\(|\.addInterval\(/.test(text)) ||
        (/(?<![.\w])setTimeout\(/.test(text) &&
          !/clearTimeout\(/.test(text) &&
          name !== 'pipeline/execute/keep-claim.ts'),
    );

    expect(kept.map(({ name }) => name)).toEqual([]);
  });
});
