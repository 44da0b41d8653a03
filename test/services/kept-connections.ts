import { Agent, request, type OutgoingHttpHeaders } from 'node:http';

export interface Reply {
  readonly status: number;
  readonly text: string;
}

/**
 * Posts to servers over kept connections. A server may end one in the very moment that it is used again, which its age alone decides: such a post
 * goes out once more, on another connection, as those of forges do.
 */
export class KeptConnections {
  private readonly agent: Agent;

  /** @param atOnce most connections */
  constructor(atOnce: number) {
    this.agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  }

  /**
   * @param headers a flat list keeps its order and its doubles
   * @throws the connection's own error, where it was a new one or ended within the answer
   */
  post(url: string, headers: OutgoingHttpHeaders | readonly string[], body: string | Buffer): Promise<Reply> {
    return new Promise((resolve, reject) => {
      let isAnswered = false;
      const outgoing = request(url, { agent: this.agent, method: 'POST', headers }, (incoming) => {
        isAnswered = true;
        let text = '';
        incoming.setEncoding('utf8');
        incoming.on('data', (chunk: string) => (text += chunk));
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text }));
        incoming.on('error', reject);
      });
      outgoing.on('error', (error) => {
        // A server may answer and end the connection before it has read a body that is too large. Such an answer is whole, or fails by itself.
        if (isAnswered) return;
        if (outgoing.reusedSocket) this.post(url, headers, body).then(resolve, reject);
        else reject(error);
      });
      outgoing.end(body);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}
