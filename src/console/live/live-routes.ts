import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Visit } from '../http/answers.js';
import { personOf, type Sessions } from '../sessions/sessions.js';
import type { LiveHub, Viewer } from './hub.js';

/** Windows of one person in all browsers, and of all people: beyond it somebody opens streams for their own sake. */
const MOST_OF_ONE = 20;
const MOST = 600;
/** What a browser has not read; with more than that the stream is ended, and the browser opens another. */
const MOST_UNREAD = 256 * 1024;

interface LiveDeps<Row> {
  readonly hub: LiveHub<Row>;
  readonly sessions: Sessions;
  readonly visitOf: (request: FastifyRequest) => Visit;
}

/** `GET /live`: server-sent events. The query has the filters of the list. */
export function addLiveRoute<Row>(server: FastifyInstance, { hub, sessions, visitOf }: LiveDeps<Row>): void {
  server.get('/live', async (request, reply) => {
    const { token, query } = visitOf(request);
    const who = await sessions.find(token, { fresh: false });
    // 204 ends an event stream for good; a browser opens it again after any other end.
    if (!who || token === null) return reply.code(204).send();
    const person = personOf(who.session);
    if (!hub.hasRoomFor(person, MOST, MOST_OF_ONE))
      return reply.code(429).type('text/plain; charset=utf-8').send('Too many timelines are open.\n');
    reply.hijack();
    const { raw } = reply;
    raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      // For proxies that would hold it back.
      'x-accel-buffering': 'no',
    });
    raw.write('retry: 5000\n\n');
    const viewer: Viewer = {
      token,
      person,
      query,
      send: (event, data) => {
        raw.write(`event: ${event}\ndata: ${data.replaceAll('\n', '\ndata: ')}\n\n`);
        return raw.writableLength <= MOST_UNREAD;
      },
      end: () => void raw.end(),
    };
    raw.once('close', () => hub.close(viewer));
    hub.open(viewer);
    return reply;
  });
}
