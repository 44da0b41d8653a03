import { describe, expect, it } from '@jest/globals';
import type { Json } from '../../core/json.js';
import {
  differingSettings,
  dueTime,
  goDurationMs,
  isSameDay,
  isSameSetting,
  normalizeColor,
  normalizeLines,
  normalizeMirrorAddress,
} from './compare.js';

describe('actions/support/same', () => {
  it.each([
    ['#EE0701', 'ee0701'],
    ['ee0701', 'ee0701'],
    [' #ee0701 ', 'ee0701'],
    ['#0af', '00aaff'],
    ['0AF', '00aaff'],
    ['red', null],
    ['#12', null],
    ['', null],
    ['#1234567', null],
    ['##0af', null],
  ])('colour %j => %j', (color, expected) => {
    expect(normalizeColor(color)).toBe(expected);
  });

  it.each([
    ['8h', 28_800_000],
    ['8h0m0s', 28_800_000],
    ['10m', 600_000],
    ['10m0s', 600_000],
    ['1h30m', 5_400_000],
    ['0', 0],
    ['0s', 0],
    ['1.5h', 5_400_000],
    ['500ms', 500],
    ['', null],
    ['daily', null],
    ['8', null],
    ['8 h', null],
    ['-8h', null],
  ])('Go duration %j => %j ms', (text, expected) => {
    expect(goDurationMs(text)).toBe(expected);
  });

  it.each([
    ['https://Mirror.example.org/acme/app.git', 'https://mirror.example.org/acme/app'],
    ['HTTPS://mirror.example.org:443/acme/app', 'https://mirror.example.org/acme/app/'],
    ['https://bot:pw@mirror.example.org/acme/app', 'https://mirror.example.org/acme/app.git/'],
    ['http://127.0.0.1:80/a', 'http://127.0.0.1/a.git'],
  ])('%s and %s are one mirror', (one, two) => {
    expect(normalizeMirrorAddress(one)).toBe(normalizeMirrorAddress(two));
  });

  it.each([
    ['https://mirror.example.org/acme/app', 'https://mirror.example.org/acme/App'],
    ['https://mirror.example.org/acme/app', 'https://mirror.example.org:8443/acme/app'],
    ['https://mirror.example.org/acme/app', 'http://mirror.example.org/acme/app'],
  ])('%s and %s are two mirrors', (one, two) => {
    expect(normalizeMirrorAddress(one)).not.toBe(normalizeMirrorAddress(two));
  });

  it.each([
    ['2027-01-31T12:00:00Z', '2027-01-31T13:00:00+01:00', true],
    ['2027-01-31T12:00:00Z', '2027-01-31T23:59:59+01:00', true],
    ['2027-01-31T23:30:00-05:00', '2027-02-01T05:30:00+01:00', true],
    ['2027-01-31T23:30:00-05:00', '2027-01-31T23:59:59+01:00', true],
    ['2027-01-31T23:59:59Z', '2027-01-31T23:59:59+01:00', true],
    ['2027-01-31T00:00:00Z', '2027-01-31T23:59:59-05:00', true],
    ['2027-01-31T00:00:00Z', '2027-01-30T23:59:59-05:00', false],
    ['2027-01-31', '2027-01-31T12:00:00+13:00', true],
    ['2027-01-31', '2027-01-31T23:59:59+01:00', true],
    ['2027-01-31', '2027-02-01T00:00:00Z', false],
    ['2027-01-31', null, false],
    ['2027-01-31', undefined, false],
  ])('due %s, told %s => same day: %s', (wanted, told, expected) => {
    expect(isSameDay(wanted, told)).toBe(expected);
  });

  it.each<[string, Json, Json, boolean]>([
    ['push_whitelist_usernames', ['Ann', 'ben'], ['ben', 'ann'], true],
    ['approvals_whitelist_username', ['Ann'], ['ann'], true],
    ['merge_whitelist_teams', ['Dev'], ['dev'], true],
    ['status_check_contexts', ['ci/build', 'lint'], ['lint', 'ci/build'], true],
    ['status_check_contexts', ['ci/build', 'lint'], ['CI/Build', 'Lint'], false],
    ['protected_file_patterns', '.CI/**', '.ci/**', false],
    ['status_check_contexts', [], null, true],
    ['required_approvals', 0, null, true],
    ['enable_push', false, null, true],
  ])('setting %s %j, told %j => same: %s', (name, wanted, told, expected) => {
    expect(isSameSetting(name, wanted, told)).toBe(expected);
    expect(differingSettings({ [name]: wanted }, { [name]: told ?? undefined })).toEqual(expected ? [] : [name]);
  });

  it.each([
    ['2027-01-31', '2026-11-20T10:00:00+13:00', '2027-01-31T12:00:00+13:00'],
    ['2027-01-31', '2026-11-20T10:00:00-11:00', '2027-01-31T12:00:00-11:00'],
    ['2027-01-31', '2026-11-20T10:00:00Z', '2027-01-31T12:00:00Z'],
    ['2027-01-31T23:59:59Z', '2026-11-20T10:00:00+01:00', '2027-01-31T12:00:00+01:00'],
    ['2027-01-31T00:00:00Z', '2026-11-20T10:00:00-05:00', '2027-01-31T12:00:00-05:00'],
    ['2027-01-31T09:00:00Z', '2026-11-20T10:00:00-05:00', '2027-01-31T09:00:00Z'],
  ])('sends %s to a server that shows %s as %s: it shows the day as it is written', (wanted, shown, sent) => {
    expect(dueTime(wanted, shown)).toBe(sent);
  });

  it('sends noon for a day, and a time as it is, where the zone of the server is unknown', () => {
    expect(dueTime('2027-01-31')).toBe('2027-01-31T12:00:00Z');
    expect(dueTime('2027-01-31T23:30:00-05:00')).toBe('2027-01-31T23:30:00-05:00');
    expect(normalizeLines('a\r\nb\rc\n')).toBe('a\nb\nc\n');
  });
});
