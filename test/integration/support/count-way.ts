// The files of src/ that execute for one recorded push that makes one label, with the lines of code of each that do, by V8's precise coverage of this process
// and of its threads. The bot is whole, with the embedded store, and the forge is the sandbox. A delivery goes before, so that what is made once counts for nothing.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { aBot } from './a-bot.js';
import { acmeConfig } from './acme-config.js';
import { aForge, type TestForge } from './a-forge.js';

const RECORDED = 'test/recordings/gitea-1.27/acts/046-pull-request-synchronized-by-a-push.json';
/** Words, what no word of the bot names, and tables; and the forge of the test. */
const NOT_COUNTED = /^src\/(core|platform|rules\/language|sandbox|store\/entities)\//;
const SECRET = 'the secret of the hook';
const REPO = '/repos/acme/app';
/** After the label is seen: the answer is written down, and those that waited for it are looked for. */
const SETTLE_MS = 1_000;

const RULE = `version: 1
org: acme
rules:
  - id: label-of-a-push
    on: push
    if: event.ref.startsWith("refs/heads/feature/")
    do: {label.ensure: {name: "\${{ event.after }}", color: "#d73a4a"}}
`;

interface Coverage {
  readonly result: ReadonlyArray<{
    readonly scriptId: string;
    readonly url: string;
    readonly functions: ReadonlyArray<{
      readonly ranges: ReadonlyArray<{
        readonly count: number;
        readonly startOffset: number;
        readonly endOffset: number;
      }>;
    }>;
  }>;
}

/** What the files of a way must not do without being named: open a transaction of the store, claim an intent, call the forge. */
const MARKS = {
  'opens a transaction': /\bdb\.transaction\(/,
  'claims work': /\bjournal\.claim\(|\binbox\.decide\(/,
  // Clients of the store are none of a forge.
  'calls the forge': /\b(?:forge|client)\.(?!get\(|list\()[a-z]\w*\(|\bnew GuardedForge\(/,
} as const;
type Mark = keyof typeof MARKS;

type Post = (method: string, params?: object) => Promise<unknown>;

async function main(): Promise<void> {
  const silence = silenceTimers();
  const forge = await aForge({ org: 'acme' });
  await forge.act('repository.create', { repo: 'acme/app' });
  const bot = await aBot({
    config: acmeConfig(forge),
    files: { 'rules/labels.yaml': RULE },
    env: { FORGE_TOKEN: forge.botToken, HOOK: SECRET },
  });
  try {
    const session = new Session();
    session.connect();
    const isolates = [
      ((method, params) => session.post(method as never, params as never)) as Post,
      ...(await threads(session)),
    ];
    await push(forge, bot.url, '1');
    silence();
    await wait(SETTLE_MS);
    for (const post of isolates) {
      await post('Debugger.enable');
      await post('Profiler.enable');
      await post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    }
    // What was called before it began is counted once: take it away.
    for (const post of isolates) await post('Profiler.takePreciseCoverage');
    await push(forge, bot.url, '2');
    const executed = new Map<string, { marks: Set<Mark>; lines: Set<number> }>();
    for (const post of isolates)
      for (const [file, { marks, lines }] of await executedIn(post)) {
        const other = executed.get(file);
        executed.set(file, {
          marks: new Set([...(other?.marks ?? []), ...marks]),
          lines: new Set([...(other?.lines ?? []), ...lines]),
        });
      }
    const files = [...executed].sort(([one], [other]) => (one < other ? -1 : 1));
    console.log(
      JSON.stringify(files.map(([file, { marks, lines }]) => ({ file, marks: [...marks], lines: lines.size }))),
    );
  } finally {
    await bot.close();
    await forge.close();
  }
}

/** Nothing but the delivery may happen while it is counted: no sweep, no poll, no schedule. */
function silenceTimers(): () => void {
  const start = globalThis.setInterval;
  let isSilent = false;
  const silenced = (work: (...given: unknown[]) => void, ms?: number, ...given: unknown[]): NodeJS.Timeout =>
    start(() => isSilent || work(...given), ms);
  globalThis.setInterval = silenced as typeof setInterval;
  return () => void (isSilent = true);
}

/** The recorded delivery, about the repository that is there, with a commit of its own. */
async function push(forge: TestForge, url: string, nth: string): Promise<void> {
  const recorded = JSON.parse(readFileSync(RECORDED, 'utf8')) as {
    deliveries: ReadonlyArray<{ headers: ReadonlyArray<[string, string]>; body: string; event: string }>;
  };
  const delivery = recorded.deliveries.find(({ event }) => event === 'push');
  if (!delivery) throw new Error(`${RECORDED} has no push`);
  const told = JSON.parse(delivery.body) as Record<string, unknown>;
  const after = nth.repeat(40);
  const body = JSON.stringify({ ...told, after, repository: await forge.get(REPO) });
  const kept = delivery.headers.filter(([name]) => /^x-gitea-(event|delivery)|^content-type$/i.test(name));
  const signature = createHmac('sha256', SECRET).update(body).digest('hex');
  const answer = await fetch(`${url}/webhooks/acme`, {
    method: 'POST',
    headers: { ...Object.fromEntries(kept), 'x-gitea-signature': signature },
    body,
  });
  if (answer.status !== 202) throw new Error(`${answer.status} ${await answer.text()}`);
  for (let ms = 0; ; ms += 50) {
    const labels = await forge.get<ReadonlyArray<{ name: string }>>(`${REPO}/labels`);
    if (labels.some(({ name }) => name === after)) break;
    if (ms > 10_000) throw new Error('no label was made');
    await wait(50);
  }
  await wait(SETTLE_MS);
}

/** Each thread has an isolate of its own, that answers through the session of this one. */
async function threads(session: Session): Promise<Post[]> {
  const ids: string[] = [];
  const waiting = new Map<number, (result: unknown) => void>();
  session.on('NodeWorker.attachedToWorker', ({ params }) => void ids.push(params.sessionId));
  session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => {
    const { id, result } = JSON.parse(params.message) as { id: number; result: unknown };
    waiting.get(id)?.(result);
  });
  await session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
  await wait(100);
  let last = 0;
  return ids.map(
    (sessionId) => (method, params) =>
      new Promise((resolve) => {
        last += 1;
        waiting.set(last, resolve);
        const message = JSON.stringify({ id: last, method, params });
        void session.post('NodeWorker.sendMessageToWorker', { message, sessionId });
      }),
  );
}

/** What was executed, by file, with what the executed functions do themselves. */
async function executedIn(post: Post): Promise<Map<string, { marks: Set<Mark>; lines: Set<number> }>> {
  const { result } = (await post('Profiler.takePreciseCoverage')) as Coverage;
  const found = new Map<string, { marks: Set<Mark>; lines: Set<number> }>();
  for (const { scriptId, url, functions } of result) {
    const file = url.startsWith('file:') ? relative(process.cwd(), fileURLToPath(url)) : '';
    if (!file.startsWith('src/') || NOT_COUNTED.test(file)) continue;
    const ranges = functions.flatMap(({ ranges: [whole] }) => (whole ? [whole] : []));
    const ran = ranges.filter(({ count }) => count > 0);
    if (ran.length === 0) continue;
    const { scriptSource } = (await post('Debugger.getScriptSource', { scriptId })) as { scriptSource: string };
    const marks = new Set<Mark>();
    for (const { startOffset, endOffset } of ran) {
      // Without the functions inside that did not run.
      let text = scriptSource.slice(startOffset, endOffset);
      for (const inner of ranges)
        if (inner.count === 0 && inner.startOffset > startOffset && inner.endOffset < endOffset)
          text = text.replace(scriptSource.slice(inner.startOffset, inner.endOffset), '');
      for (const [mark, pattern] of Object.entries(MARKS))
        if (pattern.test(text) && !(mark === 'calls the forge' && file.startsWith('src/store/')))
          marks.add(mark as Mark);
    }
    found.set(file, { marks, lines: executedLines(scriptSource, functions) });
  }
  return found;
}

/** Numbers of lines with code that ran; comments are no code. A range inside another says more of its part than that one. */
function executedLines(source: string, functions: Coverage['result'][number]['functions']): Set<number> {
  const ranges = functions
    .flatMap((one) => one.ranges)
    .sort((one, other) => one.startOffset - other.startOffset || other.endOffset - one.endOffset);
  const ran = new Uint8Array(source.length);
  for (const { startOffset, endOffset, count } of ranges) ran.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  const lines = new Set<number>();
  const code = source.replace(/^[ \t]*(?:\/\*[^]*?\*\/|\/\/.*)/gm, (comment) => comment.replace(/[^\n]/g, ' '));
  let at = 0;
  for (const [n, line] of code.split('\n').entries()) {
    const from = at + line.search(/\S|$/);
    at += line.length + 1;
    if (ran.subarray(from, at - 1).includes(1)) lines.add(n);
  }
  return lines;
}

await main();
