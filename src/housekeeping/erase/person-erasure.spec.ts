import { describe, expect, it } from '@jest/globals';
import { Encryptor } from '../../core/encryptor.js';
import { Secret } from '../../core/secret.js';
import type { ErasableRun, ErasedRows } from './erasure-store.port.js';
import { PersonErasure } from './person-erasure.js';

describe('housekeeping/person-erasure', () => {
  it('takes the person out of effects that are remembered without their runs, too', async () => {
    const params = JSON.stringify({ name: 'bug', text: 'asked for by ann@example.org' });
    const run: ErasableRun = {
      id: 'run',
      eventId: null,
      columns: { trace: null, lookups: null, reason_params: null },
      intents: [{ id: 'intent', columns: { params, result: null, reason_params: null } }],
      attempts: [],
    };
    const none = async () => ({ rows: [], last: null });
    const written: ErasedRows[] = [];
    const store = {
      arrivals: none,
      events: none,
      runs: none,
      acts: none,
      remembered: async (_forge: string, after: string | null) =>
        after === null ? { rows: [run], last: 'intent' } : { rows: [], last: null },
      runsOf: async () => [],
      echoesOf: async () => [],
      write: async (rows: ErasedRows) => void written.push(rows),
    };
    const encryptor = new Encryptor(new Secret('0123456789abcdef'.repeat(4)));

    const report = await new PersonErasure(store, encryptor).run('main', 'ann', ['ann@example.org'], false);

    expect(report.runs).toBe(1);
    expect(written.map(({ runs }) => runs?.[0]?.intents[0]?.columns.params)).toEqual([
      '{"name":"bug","text":"asked for by [erased]"}',
    ]);
  });
});
