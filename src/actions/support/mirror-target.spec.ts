import { describe, expect, it } from '@jest/globals';
import { HOSTILE_TARGETS, MIRROR_HOSTS } from '../../../test/builders/hostile-mirror-targets.js';
import { saying, sentenceOf } from '../../../test/builders/reasons.js';
import { refuseMirrorTarget } from './mirror-target.js';

describe('actions/support/mirror-target', () => {
  it.each([
    'https://mirror.example.org/acme/app.git',
    'https://MIRROR.example.ORG/acme/app.git',
    'https://mirror.example.org:443/acme/app',
    'https://git.example.net:8443/a/b.git',
    'http://127.0.0.1:4100/mirrors/app.git',
    'HTTPS://mirror.example.org/a%20b.git',
    'https://10.0.0.7/a.git',
    'https://[::1]/a.git',
    'https://svc.internal/a.git',
    'https://SVC.internal:443/a.git',
    'http://nas.lan/a.git',
    'http://nas.lan:80/a.git',
  ])('lets %s through', (address) => {
    expect(refuseMirrorTarget(address, MIRROR_HOSTS)).toBeNull();
  });

  it.each(HOSTILE_TARGETS)('refuses %j', (address) => {
    expect(refuseMirrorTarget(address, MIRROR_HOSTS)).toEqual(saying(expect.any(String)));
  });

  it('keeps a table of at least eighty hostile forms', () => {
    expect(new Set(HOSTILE_TARGETS).size).toBeGreaterThanOrEqual(80);
  });

  it('allows nothing where no host is listed', () => {
    expect(refuseMirrorTarget('https://mirror.example.org/a.git', [])).toEqual(
      saying(expect.stringContaining('mirror_hosts')),
    );
  });

  const LISTED = ['github.com/acme/', 'git.example.net:8443/a/b', 'http://127.0.0.1:4100/mirrors'];

  it.each([
    'https://github.com/acme/app.git',
    'https://GITHUB.com:443/acme/app.git',
    'https://github.com/acme/deep/app.git',
    'https://git.example.net:8443/a/b/c.git',
    'http://127.0.0.1:4100/mirrors/app.git',
  ])('lets %s through, below a listed path', (address) => {
    expect(refuseMirrorTarget(address, LISTED)).toBeNull();
  });

  it.each([
    'https://github.com/evil/app.git',
    'https://github.com/acme-evil/app.git',
    'https://github.com/acme',
    'https://github.com/acme/',
    'https://github.com/ACME/app.git',
    'https://github.com/%61cme/app.git',
    'https://github.com/acme/../evil/app.git',
    'https://github.com/acme/..;/evil/app.git',
    'https://github.com/acme/..;x=1/evil/app.git',
    'https://github.com/acme/%2e%2e/evil/app.git',
    'https://github.com/acme/.%2E/evil/app.git',
    'https://github.com/acme%2f..%2fevil/app.git',
    'https://github.com/acme%2Fapp.git',
    'https://github.com/acme//evil/app.git',
    'https://github.com/acme\\..\\evil/app.git',
    'https://github.com/evil/acme/app.git',
    'https://github.com./acme/app.git',
    'https://github.com:8443/acme/app.git',
    'https://me@github.com/acme/app.git',
    'https://github.com/acme@evil.example/app.git/../x',
    'https://github.com.evil.example/acme/app.git',
    'http://github.com/acme/app.git',
    'https://git.example.net:8443/a/bc/d.git',
    'https://git.example.net/a/b/c.git',
    'http://127.0.0.1:4100/other/app.git',
    'http://127.0.0.1:41000/mirrors/app.git',
  ])('refuses %s, which is below no listed path', (address) => {
    expect(refuseMirrorTarget(address, LISTED)).toEqual(saying(expect.any(String)));
  });

  it('does not repeat user info in the reason', () => {
    for (const address of [
      'https://me:canary@mirror.example.org/a.git',
      'https://canary@evil.example/a.git',
      'ftp://me:canary@x/y',
    ]) {
      const reason = refuseMirrorTarget(address, MIRROR_HOSTS);
      expect(JSON.stringify(reason) + sentenceOf(reason)).not.toContain('canary');
    }
  });
});
