import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { BodyTooLarge, ReceivedBody, readBody, Slabs, encodingOf } from './read-body.js';

function reading(
  maxBytes = 100,
  announced: number | null = null,
  slabs = new Slabs(),
): { request: PassThrough; taken: number[]; body: Promise<Buffer | Error> } {
  const request = new PassThrough();
  const taken: number[] = [];
  const received = new ReceivedBody(slabs, announced);
  const body = new Promise<Buffer | Error>((resolve) => {
    readBody(
      request as unknown as IncomingMessage,
      received,
      maxBytes,
      (_bytes, memory) => void taken.push(memory),
      (fault) => resolve(fault ?? received.take()),
    );
  });
  return { request, taken, body };
}

/** Bytes that have their memory to themselves, as a server gets them; Buffer.from takes small ones from a shared pool. */
function own(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(text.length);
  bytes.write(text);
  return bytes;
}

describe('webhooks/read-body', () => {
  it.each([
    ['nothing', [], ''],
    ['one part', ['{}'], '{}'],
    ['several parts', ['{"a"', ':', '1}'], '{"a":1}'],
    ['as much as allowed', ['x'.repeat(60), 'x'.repeat(40)], 'x'.repeat(100)],
  ])('%s => the bytes', async (_title, parts, expected) => {
    const { request, body } = reading();

    for (const part of parts) request.write(part);
    request.end();

    expect((await body).toString()).toBe(expected);
  });

  it('takes one part as it is where nobody else can write to its memory', async () => {
    const part = own('{"a":1}');
    const { request, body, taken } = reading(100, part.length);

    request.end(part);

    expect(await body).toBe(part);
    expect(taken).toEqual([part.length]);
  });

  it('copies a part that shares its memory', async () => {
    const shared = own('..{"a":1}..');
    const { request, body } = reading(100, 7);

    request.end(shared.subarray(2, 9));
    const taken = (await body) as Buffer;
    shared.fill('.');

    expect(taken.toString()).toBe('{"a":1}');
  });

  it('takes parts of any size into memory of one size, tells how much that is, and uses it again', async () => {
    const slabs = new Slabs();
    const text = Array.from({ length: 5_000 }, (_, n) => `part ${n},`).join('');
    const { request, taken, body } = reading(1_000_000, null, slabs);

    for (let at = 0; at < text.length; at += 7) request.write(text.slice(at, at + 7));
    request.end();

    expect((await body).toString()).toBe(text);
    expect(taken.filter((memory) => memory > 0)).toEqual(
      Array.from({ length: Math.ceil(text.length / 16_384) }, () => 16_384),
    );
    const again = reading(1_000_000, null, slabs);
    again.request.end('x'.repeat(20_000));
    expect((await again.body).toString()).toBe('x'.repeat(20_000));
  });

  it('gives up at the first byte too many, and lets the rest run off', async () => {
    const { request, body } = reading();

    request.write('x'.repeat(101));
    expect(await body).toBeInstanceOf(BodyTooLarge);
    request.end('more');
    await once(request, 'end');

    expect(request.listenerCount('data')).toBe(0);
  });

  it('tells why a body did not come in full', async () => {
    const { request, body } = reading();
    const cut = new Error('aborted');

    request.write('{');
    request.destroy(cut);

    expect(await body).toBe(cut);
  });
});

describe('webhooks/read-text', () => {
  it.each([
    ['application/json', 'json'],
    ['application/json; charset=utf-8', 'json'],
    ['Application/JSON;charset="UTF-8"', 'json'],
    ['application/x-www-form-urlencoded', 'form'],
    ['application/json; charset=utf-16', null],
    ['text/json', null],
    ['text/plain', null],
    ['multipart/form-data; boundary=x', null],
    ['application/json, text/plain', null],
    ['', null],
    [undefined, null],
  ])('%s => %s', (contentType, encoding) => {
    expect(encodingOf(contentType)).toBe(encoding);
  });
});
