import { describe, expect, it } from '@jest/globals';
import { MessageCutter } from './pglite-stream.js';

function message(type: string, body = ''): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(4 + body.length);
  return Buffer.concat([Buffer.from(type), length, Buffer.from(body)]);
}

const STARTUP = message('', '\0\x03\0\0user\0me\0\0');

function started(): MessageCutter {
  const cutter = new MessageCutter();
  cutter.add([STARTUP]);
  return cutter;
}

describe('store/embedded/message-cutter', () => {
  it('hands out the first message, which has no type', () => {
    expect(new MessageCutter().add([STARTUP])).toEqual({ ready: STARTUP, terminated: false });
  });

  it('keeps parse and bind until a sync asks for the answer', () => {
    const cutter = started();
    const parse = message('P', 'select 1');
    const sync = message('S');

    expect(cutter.add([parse])).toEqual({ ready: null, terminated: false });
    expect(cutter.add([sync])).toEqual({ ready: Buffer.concat([parse, sync]), terminated: false });
  });

  it('goes on when what it handed out was taken away', () => {
    const cutter = started();
    const [first, second] = [message('Q', 'x'.repeat(100_000)), message('Q', 'select 2')];

    const { ready } = cutter.add([first]);
    structuredClone(ready?.buffer, { transfer: [ready?.buffer as ArrayBuffer] });

    expect(ready).toHaveLength(0);
    expect(cutter.add([second])).toEqual({ ready: second, terminated: false });
  });

  it('puts messages together that come in pieces, whatever the cut', () => {
    const all = Buffer.concat([message('P', 'select 1'), message('S'), message('Q', 'select 2'), message('P', 'left')]);
    const wanted = all.subarray(0, all.length - message('P', 'left').length);
    for (let cut = 0; cut <= all.length; cut++) {
      const cutter = started();

      const pieces = [cutter.add([all.subarray(0, cut)]), cutter.add([all.subarray(cut)])];

      expect(Buffer.concat(pieces.flatMap(({ ready }) => (ready ? [ready] : [])))).toEqual(wanted);
    }
  });

  it('tells a goodbye and does not hand it out', () => {
    const query = message('Q', 'select 1');

    expect(started().add([query, message('X')])).toEqual({ ready: query, terminated: true });
    expect(started().add([message('X')])).toEqual({ ready: null, terminated: true });
  });
});
