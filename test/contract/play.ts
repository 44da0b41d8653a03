import { setTimeout as wait } from 'node:timers/promises';
import type { Json, JsonObject } from '../../src/core/json.js';
import { isJsonObject, parseJson, stringifyJson } from '../../src/core/json.js';
import type { Answer } from './answer.js';
import { recordedAnswer } from './answer.js';
import { CookieJars } from './cookie-jars.js';
import { Credentials } from './credentials.js';
import type { RawAnswer } from './send.js';
import { send } from './send.js';
import type { ContractServer } from './server.js';
import type { ExchangeStep, RunnerStep, Step, Story } from './story.js';
import { isExchange } from './story.js';
import { MissingReference, namesIn, resolveBody, resolveText } from './templates.js';
import { readPage, webBody } from './web-answer.js';

export type PlayedStep =
  | { readonly kind: 'answered'; readonly step: ExchangeStep; readonly recorded: Answer; readonly answer: Answer }
  /** The server has no such route, or the step needs an answer of one that it has not. */
  | { readonly kind: 'not-offered'; readonly step: ExchangeStep; readonly why: string }
  | { readonly kind: 'failed'; readonly step: Step; readonly why: string }
  | { readonly kind: 'ran'; readonly step: RunnerStep; readonly expected: boolean; readonly offered: boolean };

export interface PlayOptions {
  /** Stops before the next step. */
  readonly signal?: AbortSignal;
  /** Whether an answer is as recorded: decides, on a server that needs patience, whether a read is asked again. */
  readonly isEqual?: (played: PlayedStep & { kind: 'answered' }) => boolean;
  /** Told of every step as it was played; what it throws ends the story. */
  readonly watch?: (played: PlayedStep) => void;
}

/** Play a story on a fresh server: what is given just before each step, then the step. */
export async function playStory(
  story: Story,
  server: ContractServer,
  options: PlayOptions = {},
): Promise<PlayedStep[]> {
  const player = new Player(story, server, options);
  const played: PlayedStep[] = [];
  const given = [...story.given];
  for (const step of story.steps) {
    while (given[0] && Number(given[0].before_step) <= step.n) {
      const entry = given.shift() as Story['given'][number];
      options.signal?.throwIfAborted();
      await server.give(completed(entry, story));
    }
    options.signal?.throwIfAborted();
    const outcome = await player.play(step);
    if (isExchange(step) && step.wait_ms !== undefined) await server.pass(step.wait_ms);
    options.watch?.(outcome);
    if (!isExchange(step) || !step.isSilent) played.push(outcome);
  }
  return played;
}

/** Packages are uploaded by the writer; the stories leave that to their README. */
function completed(entry: Story['given'][number], story: Story): JsonObject {
  return entry.package_upload === undefined ? entry : { by: story.people[2] ?? '', ...entry };
}

const ASK_AGAIN_MS = 250;

class Player {
  readonly #saved = new Map<string, Json>();
  /** Names under which nothing was kept because the route is not offered. */
  readonly #notOffered = new Set<string>();
  /** Names under which the recorded server kept nothing either: it refused, and so did this one. */
  readonly #refused = new Set<string>();
  readonly #credentials: Credentials;
  readonly #jars = new CookieJars();
  readonly #recordedOrigin: string;

  constructor(
    story: Story,
    private readonly server: ContractServer,
    private readonly options: PlayOptions,
  ) {
    this.#credentials = new Credentials(server);
    this.#recordedOrigin = originOf(story);
  }

  async play(step: Step): Promise<PlayedStep> {
    try {
      return isExchange(step) ? await this.#exchange(step) : await this.#run(step);
    } catch (error) {
      if (!(error instanceof MissingReference)) throw error;
      const name = error.reference.split('.')[0] as string;
      if (this.#notOffered.has(name) && isExchange(step)) {
        if (step.save) this.#notOffered.add(step.save);
        return { kind: 'not-offered', step, why: `needs ${name}, which is not offered` };
      }
      return { kind: 'failed', step, why: error.message };
    }
  }

  async #run(step: RunnerStep): Promise<PlayedStep> {
    const expected = step.runner.result !== undefined || step.runner.task !== undefined;
    return { kind: 'ran', step, expected, offered: await this.server.run(step.runner) };
  }

  async #exchange(step: ExchangeStep): Promise<PlayedStep> {
    const { request } = step;
    const path = await this.#credentials.fillTokens(resolveText(this.#here(this.#templateOf(step)), this.#saved));
    const written = resolveText(request.headers.authorization ?? '', this.#saved);
    const headers = { ...request.headers, ...(await this.#credentials.headersFor(step, written)) };
    if (step.web) return this.#webExchange(step, path, headers);
    const sendTo = (origin: string): Promise<RawAnswer> =>
      send(origin, request.method, `/api/v1${path}`, headers, this.#bodyOf(step));
    const compared = (raw: RawAnswer): PlayedStep & { kind: 'answered' } => {
      const answer = recordedAnswer(
        { status: raw.status, headers: raw.headers, body: bodyOf(raw) },
        this.server.origin,
      );
      return { kind: 'answered', step, recorded: recordedAnswer(step.response, this.#recordedOrigin), answer };
    };
    const raw = await this.#patiently(step, () => sendTo(this.server.origin), compared);
    if (isUnknownRoute(raw) && !(step.response.status === raw.status && step.response.body === raw.text)) {
      if (this.server.sideDoor) this.#keep(step, await sendTo(this.server.sideDoor));
      else if (step.save) this.#notOffered.add(step.save);
      return { kind: 'not-offered', step, why: `${request.method} ${path} is no route here` };
    }
    this.#keep(step, raw);
    if (step.save && raw.status >= 400 && step.response.status >= 400) this.#refused.add(step.save);
    return compared(raw);
  }

  /** Codes and addresses vary: what this run got stands in the recorded answer too. */
  async #webExchange(step: ExchangeStep, path: string, headers: Record<string, string>): Promise<PlayedStep> {
    const { jar = null, request, response, save_code, save_location } = step;
    const [type, body] = this.#formOf(step);
    const raw = await send(
      this.server.origin,
      request.method,
      path,
      { ...headers, ...(type === null ? {} : { 'content-type': type }), ...this.#jars.headersFor(jar) },
      body,
    );
    const cookies = this.#jars.keep(jar, raw.cookies);
    const { location } = raw.headers;
    const code = location === undefined ? null : new URL(location, this.server.origin).searchParams.get('code');
    if (save_code !== undefined && code !== null) this.#saved.set(save_code, code);
    if (save_location !== undefined && location !== undefined) this.#saved.set(save_location, location);
    this.#keep(step, raw);
    const recorded = resolveBody(webBody(response.headers, response.set_cookies ?? [], response.body), this.#saved);
    const isPage = isJsonObject(response.body) && response.body.html !== undefined;
    const answer = webBody(raw.headers, cookies, isPage ? readPage(raw.text) : bodyOf(raw));
    const counted = { totalCount: null, hasLink: false, isWeb: true };
    return {
      kind: 'answered',
      step,
      recorded: { ...counted, status: response.status, body: recorded, origin: this.#recordedOrigin },
      answer: { ...counted, status: raw.status, body: answer, origin: this.server.origin },
    };
  }

  #formOf({ request: { form, json } }: ExchangeStep): [type: string | null, body: string | undefined] {
    const resolved = resolveBody((form ?? json ?? null) as Json, this.#saved);
    if (json !== undefined) return ['application/json', stringifyJson(resolved)];
    if (form === undefined) return [null, undefined];
    return ['application/x-www-form-urlencoded', new URLSearchParams(resolved as Record<string, string>).toString()];
  }

  /** Reads, and merges that are told to come again later, may be early: a server goes on working behind its answers. */
  async #patiently(
    step: ExchangeStep,
    ask: () => Promise<RawAnswer>,
    compared: (raw: RawAnswer) => PlayedStep & { kind: 'answered' },
  ): Promise<RawAnswer> {
    const { isEqual, signal } = this.options;
    const { patienceMs = 0 } = this.server;
    const end = Date.now() + patienceMs;
    for (;;) {
      const raw = await ask();
      const isEarly = step.request.method === 'GET' || (raw.status === 405 && raw.text.includes('try again later'));
      if (patienceMs === 0 || !isEarly || step.isSilent || !isEqual || isEqual(compared(raw)) || Date.now() > end)
        return raw;
      await wait(ASK_AGAIN_MS, undefined, { signal });
    }
  }

  #keep(step: ExchangeStep, raw: RawAnswer): void {
    if (step.save && raw.status < 400) this.#saved.set(step.save, bodyOf(raw));
  }

  /** A reference to an answer that was a refusal is filled in as it was when recorded: nothing can be kept of a refusal. */
  #templateOf({ request }: ExchangeStep): string {
    const { template, path } = request;
    return template === undefined || namesIn(template).some((name) => this.#refused.has(name)) ? path : template;
  }

  #bodyOf(step: ExchangeStep): string | undefined {
    const { request } = step;
    if (request.raw !== undefined) return this.#here(request.raw);
    const body = request.body_template ?? request.body;
    return body === undefined ? undefined : this.#here(stringifyJson(resolveBody(body, this.#saved)));
  }

  /** Requests that name the recorded server mean the one under test. */
  #here(text: string): string {
    const host = this.#recordedOrigin.replace('http://', '');
    return host === '' ? text : text.replaceAll(host, this.server.origin.replace('http://', ''));
  }
}

const origins = new WeakMap<Story, string>();

/** How the recorded server called itself: the address in front of its API's own paths. Looked for once: a story is long. */
export function originOf(story: Story): string {
  const known = origins.get(story);
  if (known !== undefined) return known;
  const origin =
    /(https?:\/\/[^/"\s]+)\/api\/(?:v1|swagger)/.exec(stringifyJson(story.steps as unknown as Json))?.[1] ?? '';
  origins.set(story, origin);
  return origin;
}

function isUnknownRoute(raw: RawAnswer): boolean {
  return (raw.status === 404 && raw.text.startsWith('404 page not found')) || (raw.status === 405 && raw.text === '');
}

function bodyOf(raw: RawAnswer): Json {
  if (raw.text === '' || !/json/.test(raw.headers['content-type'] ?? '')) return raw.text;
  try {
    return parseJson(raw.text);
  } catch {
    return raw.text;
  }
}
