import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Handover } from '../../../src/verifier/handover.js';
import type { JsonObject } from '../../../src/core/json.js';
import { ROOT } from '../../services/with-services.mjs';
import { Child } from '../support/child.js';

const VERIFIER = join(ROOT, 'dist/verifier/verify-forge.js');
const LEDGER = '/_sandbox/ledger';

/** What the verifier prints with `--json`. */
export interface Verdict {
  readonly equal: boolean;
  readonly wrong: ReadonlyArray<{
    readonly what: string;
    readonly by: string;
    readonly verdict: string;
    readonly item: string;
  }>;
}

/** One request of the ledger, with the fields that matter here. */
export interface LedgerRow {
  readonly method: string;
  /** Below the API's base. */
  readonly path: string;
  /** What was sent. */
  readonly body: JsonObject;
}

interface Answer {
  readonly path: string;
  status: number;
  body: string;
}

/**
 * A demo that has ended: what its verifier was handed over, and each answer that it read. Altered, it is the hand-over of a bot that did
 * something else; the verifier judges it again without a bot and without a forge.
 */
export class RecordedDemo {
  readonly handover: Handover;
  private readonly answers: readonly Answer[];
  private readonly base: string;

  /** @param file written by `keep-readings.mjs` */
  constructor(private readonly file: string) {
    const { handover, answers } = JSON.parse(readFileSync(file, 'utf8')) as { handover: Handover; answers: Answer[] };
    this.handover = handover;
    this.answers = answers;
    this.base = new URL(handover.api).pathname;
  }

  /** The recording again, to be altered once more. */
  copy(): RecordedDemo {
    return new RecordedDemo(this.file);
  }

  /** Changes of the bot that the forge took, in order. */
  writes(): LedgerRow[] {
    return this.entries()
      .filter((entry) => this.isWrite(entry))
      .map((entry) => this.rowOf(entry));
  }

  /** Takes writes of the bot out of the ledger, or puts some in twice. Requests of others stay. */
  keepWrites(times: (write: LedgerRow, index: number) => number): void {
    let index = 0;
    const entries = this.entries().flatMap((entry) =>
      this.isWrite(entry) ? Array<JsonObject>(times(this.rowOf(entry), index++)).fill(entry) : [entry],
    );
    this.answer(LEDGER).body = JSON.stringify({ entries });
  }

  /** Changes what was read at a path below the API's base, on whichever page. */
  change<Body>(path: string, alter: (body: Body) => Body): void {
    for (const answer of this.answersAt(this.base + path))
      answer.body = JSON.stringify(alter(JSON.parse(answer.body) as Body));
  }

  /** Nothing is there: 404. */
  remove(path: string): void {
    for (const answer of this.answersAt(this.base + path)) answer.status = 404;
  }

  /** Runs the verifier over the recording as it is now. */
  async verify(
    changed: Partial<Handover> = {},
  ): Promise<{ code: number | null; stderr: string; verdict: Verdict | null }> {
    const byPath = new Map(this.answers.map((answer) => [answer.path, answer]));
    const server = createServer((request, response) => {
      const { status, body } = byPath.get(request.url ?? '') ?? { status: 500, body: 'not recorded' };
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { sandbox } = this.handover;
    const file = `${this.file}.${(server.address() as AddressInfo).port}`;
    writeFileSync(
      file,
      JSON.stringify({ ...this.handover, ...changed, api: url + this.base, sandbox: sandbox && { ...sandbox, url } }),
    );
    try {
      const child = new Child([VERIFIER, file, '--json'], {});
      const { code } = await child.ended;
      return {
        code,
        stderr: child.stderr,
        verdict: code === 0 || code === 1 ? (JSON.parse(child.stdout) as Verdict) : null,
      };
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  }

  private isWrite({ caller, applied, method }: JsonObject): boolean {
    return caller === this.handover.bot.login && (applied as unknown[]).length > 0 && method !== 'GET';
  }

  private rowOf({ method, path, body }: JsonObject): LedgerRow {
    const [below = ''] = decodeURIComponent(String(path)).slice(this.base.length).split('?', 1);
    return { method: String(method), path: below, body: JSON.parse(String(body ?? '{}')) as JsonObject };
  }

  private entries(): JsonObject[] {
    return (JSON.parse(this.answer(LEDGER).body) as { entries: JsonObject[] }).entries;
  }

  private answer(path: string): Answer {
    const [answer] = this.answersAt(path);
    if (!answer) throw new Error(`the verifier did not read ${path}`);
    return answer;
  }

  /** Whatever the query. */
  private answersAt(path: string): Answer[] {
    return this.answers.filter((answer) => answer.path.split('?', 1)[0] === path);
  }
}
