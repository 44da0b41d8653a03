import { describe, expect, it } from '@jest/globals';
import { traceOf } from './trace.js';

describe('core/trace', () => {
  it('has the form of OpenTelemetry, and no id of all zeros', () => {
    const { trace_id, span_id, parent_span_id } = traceOf('event', 'intent', 'run');

    expect(trace_id).toMatch(/^(?!0+$)[0-9a-f]{32}$/);
    for (const id of [span_id, parent_span_id]) expect(id).toMatch(/^(?!0+$)[0-9a-f]{16}$/);
  });

  it('joins what one event led to, wherever it is told', () => {
    const [event, run, intent] = [traceOf('e', 'e'), traceOf('e', 'r', 'e'), traceOf('e', 'i', 'r')];

    expect(new Set([event, run, intent].map(({ trace_id }) => trace_id)).size).toBe(1);
    expect([run.parent_span_id, intent.parent_span_id]).toEqual([event.span_id, run.span_id]);
    expect(event).not.toHaveProperty('parent_span_id');
    expect(traceOf('other', 'e').trace_id).not.toBe(event.trace_id);
  });
});
