import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Agent } from 'undici';
import { answers, socketPath } from '../platform/hold-socket.js';
import type { AnswerOf, OperationName, SentTo } from '../api/operations/index.js';
import type { AppConfig } from '../config/app-config.js';
import { UserError } from '../core/errors.js';
import { parseJson } from '../core/json.js';
import type { Json } from '../core/json.js';
import type { Secret } from '../core/secret.js';

/** The control API, wherever it is. */
export interface Reach {
  config: AppConfig;
  /** Whether a running bot answers, or this command opened the store itself. */
  running: boolean;
  /** Answers as plain JSON: a time is its ISO text. @throws UserError with what the bot said */
  call<Name extends OperationName>(name: Name, ...input: Sent<Name>): Promise<AnswerOf<Name>>;
  /** Like `call`, for answers that hold what the forge said: no digit is lost. */
  read<Name extends OperationName>(name: Name, ...input: Sent<Name>): Promise<Json>;
  /** One request, whatever the path. */
  send: Send;
  close(): Promise<void>;
}

/** May be left out where nothing has to be sent. */
type Sent<Name extends OperationName> =
  Record<never, never> extends SentTo<Name> ? [input?: SentTo<Name>] : [input: SentTo<Name>];

export type Send = (method: 'GET' | 'POST', path: string, body?: object) => Promise<{ status: number; text: string }>;

/**
 * Talk to the running bot over its socket or control address; when none runs, open the store here and serve the same API
 * to this command alone (the embedded store is then locked for as long as the command takes).
 */
export async function reachBot(configFile: string): Promise<Reach> {
  const { readConfig } = await import('../config/read-config.js');
  // A command that reaches a running bot needs none of the bot's secrets but the token of the control API, or one of its own.
  const config = readConfig(configFile, { reader: 'command' });
  const running = await reachRunning(config);
  if (running) return running;
  // The whole bot with all its libraries: only for a command that must do its work itself.
  const { openControl } = await import('../main.js');
  const { server, close } = await openControl(readConfig(configFile));
  const headers = bearer(await ownToken());
  return over(
    config,
    false,
    async (method, path, body) => {
      const answer = await server.inject({ method, url: path, headers, ...(body ? { payload: body } : {}) });
      return { status: answer.statusCode, text: answer.payload };
    },
    close,
  );
}

/** The bot that runs on this config; null = none answers. */
export async function reachRunning(config: AppConfig): Promise<Reach | null> {
  const own = await ownToken();
  const headers = bearer(own);
  const socket = config.control.socket ? socketPath(config.control.socket) : null;
  if (socket && (await answers(socket))) return over(config, true, bySocket(socket, headers), async () => {});
  const { listen } = config.control;
  const token = own ?? config.control.token;
  if (listen && token && (await listening(listen))) {
    return over(config, true, byAddress(await originOf(config.control, listen), bearer(token)), async () => {});
  }
  return null;
}

async function over(config: AppConfig, running: boolean, send: Send, close: () => Promise<void>): Promise<Reach> {
  const [{ OPERATIONS }, { requestOf }] = await Promise.all([
    import('../api/operations/index.js'),
    import('../api/operations/operation.js'),
  ]);
  const ask = async (name: OperationName, input: object = {}, parse: (text: string) => unknown): Promise<unknown> => {
    const { method, path, body } = requestOf(OPERATIONS[name], input);
    const first = await send(method, path, body);
    const { status, text } = first.status === 202 ? await untilEnded(send, first.text) : first;
    const value = parse(text);
    const { error, message, answer, state } = value as { error?: string; message?: string } & Partial<CallState>;
    if (status >= 400 || (first.status === 202 && state !== 'done'))
      throw new UserError(error ?? 'FAILED', message ?? `the control API answered ${status}`);
    return first.status === 202 ? answer : value;
  };
  return {
    config,
    running,
    call: (name, input?: object) => ask(name, input, JSON.parse) as never,
    read: (name, input?: object) => ask(name, input, parseJson) as never,
    send,
    close,
  };
}

/** What is told of a call that goes on. */
interface CallState {
  readonly id: string;
  readonly state: 'running' | 'done' | 'failed';
  readonly progress: { readonly done: number; readonly of: number } | null;
  readonly answer?: unknown;
}

/** One request waits for so long at most. */
const LOOK_MS = 1_000;

/** Waits for a call that goes on in the bot, whatever becomes of this command. @param accepted the answer with its id */
export async function untilEnded(send: Send, accepted: string): Promise<{ status: number; text: string }> {
  const [{ Progress }, { OPERATIONS }, { requestOf }] = await Promise.all([
    import('./progress.js'),
    import('../api/operations/index.js'),
    import('../api/operations/operation.js'),
  ]);
  const progress = new Progress('done');
  try {
    for (let text = accepted; ;) {
      const { id, progress: far } = JSON.parse(text) as CallState;
      if (far) progress.reached(far.done, far.of);
      const { method, path } = requestOf(OPERATIONS.longCall, { id, waitMs: LOOK_MS });
      const look = await send(method, path);
      if (look.status >= 400 || (JSON.parse(look.text) as CallState).state !== 'running') return look;
      text = look.text;
    }
  } finally {
    progress.end();
  }
}

function bySocket(path: string, headers: Record<string, string>): Send {
  return send('http://localhost', headers, path);
}

function bearer(token: Secret | null): Record<string, string> {
  return token ? { authorization: `Bearer ${token.reveal()}` } : {};
}

/** Loaded when it is asked for: every command comes by this file, and what reads secrets takes zod along. */
async function ownToken(): Promise<Secret | null> {
  const { operatorToken } = await import('../config/operator-token.js');
  return operatorToken();
}

/** Where the control API answers on TCP, and the connections to it. */
interface Origin {
  readonly url: string;
  readonly dispatcher: Agent | undefined;
}

/** The certificate of the config is trusted as it is, beside the usual authorities. */
async function originOf({ tls }: AppConfig['control'], address: string): Promise<Origin> {
  if (!tls) return { url: `http://${address}`, dispatcher: undefined };
  const [{ Agent }, { rootCertificates }] = await Promise.all([import('undici'), import('node:tls')]);
  const ca = [...rootCertificates, readFileSync(tls.certFile, 'utf8')];
  return { url: `https://${address}`, dispatcher: new Agent({ connect: { ca } }) };
}

function byAddress({ url, dispatcher }: Origin, headers: Record<string, string>): Send {
  return send(url, headers, undefined, dispatcher);
}

function send(origin: string, headers: Record<string, string>, socket?: string, connections?: Agent): Send {
  let dispatcher = connections;
  return async (method, path, body) => {
    const { Agent, request } = await import('undici');
    if (socket) dispatcher ??= new Agent({ connect: { socketPath: socket } });
    const answer = await request(`${origin}${path}`, {
      method,
      headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
      ...(dispatcher ? { dispatcher } : {}),
    });
    return { status: answer.statusCode, text: await answer.body.text() };
  };
}

/** Whether something takes connections there. Nothing is asked of it: a request without a token would be a failed authentication. */
function listening(address: string): Promise<boolean> {
  const { hostname: host, port } = new URL(`http://${address}`);
  return new Promise((resolve) => {
    const socket = connect({ host: host.replace(/^\[|\]$/g, ''), port: Number(port) || 80 });
    socket.once('connect', () => (socket.destroy(), resolve(true)));
    socket.once('error', () => resolve(false));
  });
}

/** Reach the bot for the time of `work`. */
export async function withBot<T>(configFile: string, work: (bot: Reach) => Promise<T>): Promise<T> {
  const bot = await reachBot(configFile);
  try {
    return await work(bot);
  } finally {
    await bot.close();
  }
}
