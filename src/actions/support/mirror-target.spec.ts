import { describe, expect, it } from '@jest/globals';
import { HOSTILE_TARGETS, MIRROR_HOSTS } from '../../../test/builders/hostile-mirror-targets.js';
import { refuseMirrorTarget } from './mirror-target.js';

describe('actions/support/mirror-target', () => {
  it.each([
    'https://mirror.example.org/acme/app.git',
    'https://MIRROR.example.ORG/acme/app.git',
    'https://mirror.example.org:443/acme/app',
    'https://git.example.net:8443/a/b.git',
    'http://127.0.0.1:4100/mirrors/app.git',
    'HTTPS://mirror.example.org/a%20b.git',
  ])('lets %s through', (address) => {
    expect(refuseMirrorTarget(address, MIRROR_HOSTS)).toBeNull();
  });

  it.each(HOSTILE_TARGETS)('refuses %j', (address) => {
    expect(refuseMirrorTarget(address, MIRROR_HOSTS)).toEqual(expect.any(String));
  });

  it('keeps a table of at least eighty hostile forms', () => {
    expect(new Set(HOSTILE_TARGETS).size).toBeGreaterThanOrEqual(80);
  });

  it('allows nothing where no host is listed', () => {
    expect(refuseMirrorTarget('https://mirror.example.org/a.git', [])).toContain('mirror_hosts');
  });

  it('does not repeat user info in the reason', () => {
    for (const address of ['https://me:canary@mirror.example.org/a.git', 'https://canary@evil.example/a.git', 'ftp://me:canary@x/y']) {
      expect(refuseMirrorTarget(address, MIRROR_HOSTS)).not.toContain('canary');
    }
  });
});
