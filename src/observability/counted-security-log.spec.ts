import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import { CountedSecurityLog } from './counted-security-log.js';
import { createLogger } from './logger.js';
import { Metrics } from './metrics.js';

const MINUTE_MS = 60_000;

function aLog() {
  const clock = new ManualClock();
  const metrics = new Metrics();
  const lines: Array<Record<string, unknown>> = [];
  const raw: string[] = [];
  const out = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      raw.push(String(chunk));
      lines.push(JSON.parse(String(chunk)) as Record<string, unknown>);
      done();
    },
  });
  const open = new Set<string>();
  const alerts: string[] = [];
  const log = new CountedSecurityLog(
    createLogger('info', out),
    metrics,
    {
      raise: (key) => {
        if (!open.has(key)) alerts.push(key);
        open.add(key);
      },
      resolve: (key) => void open.delete(key),
    },
    clock,
  );
  return { log, clock, metrics, lines, raw, alerts };
}

describe('observability/counted-security-log', () => {
  it('writes one line for each event, its facts as fields', () => {
    const { log, lines } = aLog();

    log.record({ class: 'tenant_mismatch', org: 'acme', hook: 'acme', eventType: 'push', repositoryId: 7 });

    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      level: 'warn',
      msg: 'security.tenant_mismatch',
      org: 'acme',
      hook: 'acme',
      eventType: 'push',
      repositoryId: 7,
    });
  });

  it('counts what comes beyond ten a minute, and writes the count in one line', () => {
    const { log, clock, lines } = aLog();

    for (let n = 0; n < 5_000; n += 1) log.record({ class: 'authentication_failed', address: '192.0.2.1' });
    clock.advance(MINUTE_MS);
    log.record({ class: 'authentication_failed', address: '192.0.2.1' });
    log.close();

    expect(lines.map(({ msg }) => msg)).toEqual([
      ...Array<string>(10).fill('security.authentication_failed'),
      'security.more',
      'security.authentication_failed',
    ]);
    expect(lines[10]).toMatchObject({ class: 'authentication_failed', counted: 4_990, windowS: 60 });
  });

  it('writes the count at a stop', () => {
    const { log, lines } = aLog();

    for (let n = 0; n < 12; n += 1) log.record({ class: 'power_refused', org: 'acme' });
    log.close();

    expect(lines.at(-1)).toMatchObject({ msg: 'security.more', class: 'power_refused', counted: 2 });
  });

  it('keeps the lines of one class when another class is flooded', () => {
    const { log, lines } = aLog();

    for (let n = 0; n < 100; n += 1) log.record({ class: 'authentication_failed' });
    log.record({ class: 'unknown_operator', place: 'tcp' });
    log.close();

    expect(lines.filter(({ msg }) => msg === 'security.unknown_operator')).toHaveLength(1);
  });

  it('raises one alert for each class and organization until an hour without events', () => {
    const { log, clock, alerts } = aLog();
    const twice = (org: string): void => {
      log.record({ class: 'tenant_mismatch', org });
      log.record({ class: 'tenant_mismatch', org });
    };

    twice('acme');
    twice('other');
    for (let minute = 0; minute < 90; minute += 30) {
      clock.advance(30 * MINUTE_MS);
      twice('acme');
    }
    const before = [...alerts];
    twice('other');
    clock.advance(60 * MINUTE_MS);
    twice('acme');
    log.close();

    expect(before).toEqual(['security.tenant_mismatch/acme', 'security.tenant_mismatch/other']);
    expect(alerts.slice(2)).toEqual(['security.tenant_mismatch/other', 'security.tenant_mismatch/acme']);
  });

  it('counts every event in the metric', async () => {
    const { log, metrics } = aLog();

    for (let n = 0; n < 50; n += 1) log.record({ class: 'tenant_mismatch', org: 'acme' });
    log.close();

    expect(await metrics.text()).toContain('forgehand_security_events_total{class="tenant_mismatch",org="acme"} 50');
  });

  it.each([
    ['a line break', 'a\r\nb'],
    ['a terminal sequence', '\u001b[2Ja'],
    ['a C1 sequence', '\u009b2Ja'],
    ['a change of direction', '\u202eb'],
    ['a line separator', 'a\u2028b'],
    ['a lone surrogate', '\ud800'],
    ['a forged field', '","level":"error"'],
  ])('keeps %s inside its value', (_what, value) => {
    const { log, raw, lines } = aLog();

    log.record({ class: 'unknown_operator', name: value });

    expect(raw).toHaveLength(1);
    expect(raw[0]?.trimEnd()).not.toMatch(/[\p{C}\u2028\u2029]/u);
    expect(lines[0]).toMatchObject({ level: 'warn', msg: 'security.unknown_operator' });
  });

  it('cuts long values and leaves out keys that are not plain words', () => {
    const { log, lines } = aLog();

    log.record({
      class: 'tenant_mismatch',
      owner: 'x'.repeat(100_000),
      'a b': 'c',
      ['__proto__']: 'd',
      constructor_name: 'e',
    });

    expect(String(lines[0]?.['owner'])).toHaveLength(201);
    expect(Object.keys(lines[0] ?? {})).not.toContain('a b');
    expect(lines[0]).toMatchObject({ constructor_name: 'e' });
  });

  it('bounds what it remembers', () => {
    const { log, alerts } = aLog();

    for (let n = 0; n < 5_000; n += 1) log.record({ class: 'tenant_mismatch', org: `org-${n}` });
    log.close();

    expect(alerts).toHaveLength(2_001);
  });
});
