import { seededRandom } from '../../../src/core/seeded-random.js';
import { startScriptedServer, type ScriptedServer } from '../../fakes/scripted-server.js';
import type { Call } from '../judge/read-ledger.js';

/** What it does with a message: it takes it; it takes it and loses the answer; it loses the message. */
const ANSWERS = ['ok', 'ok', 'ok', 'taken, cut', 'cut'] as const;

/** A service that is told something, and keeps what it took as the forge's ledger keeps calls: no key keeps it from taking a message twice. */
export class ChatService {
  private constructor(
    private readonly server: ScriptedServer,
    /** What was taken. */
    readonly calls: readonly Call[],
  ) {}

  /** @param loses some answers and messages */
  static async start(seed: number, loses: boolean): Promise<ChatService> {
    const random = seededRandom(seed);
    const calls: Call[] = [];
    const server = await startScriptedServer(({ method, url, body }, reply, socket) => {
      const answer = loses ? random.pick(ANSWERS) : 'ok';
      if (answer !== 'cut') calls.push(callOf(calls.length + 1, method, url, body));
      if (answer === 'ok') reply.writeHead(200).end('ok');
      else socket.destroy();
    });
    return new ChatService(server, calls);
  }

  get url(): string {
    return this.server.url;
  }

  close(): Promise<void> {
    return this.server.close();
  }
}

function callOf(n: number, method: string, path: string, body: string): Call {
  const at = new Date().toISOString();
  return {
    n,
    receivedAt: at,
    host: null,
    method,
    path,
    operation: 'notify',
    caller: 'bot',
    body,
    applied: [{ kind: 'message', id: String(n), what: 'created' }],
    appliedAt: at,
    fault: null,
    status: 200,
    handedAt: at,
    answeredAt: at,
    goneAt: null,
  };
}
