import { describe, expect, it } from '@jest/globals';
import { refuseMirrorTarget } from './mirror-target.js';

const HOSTS = ['mirror.example.org', 'git.example.net:8443', 'http://127.0.0.1:4100', 'localhost', '10.0.0.7', 'svc.internal', '[::1]'];

describe('actions/support/mirror-target', () => {
  it.each([
    'https://mirror.example.org/acme/app.git',
    'https://MIRROR.example.ORG/acme/app.git',
    'https://mirror.example.org:443/acme/app',
    'https://git.example.net:8443/a/b.git',
    'http://127.0.0.1:4100/mirrors/app.git',
    'HTTPS://mirror.example.org/a%20b.git',
  ])('lets %s through', (address) => {
    expect(refuseMirrorTarget(address, HOSTS)).toBeNull();
  });

  const hostile = [
    // schemes
    'http://mirror.example.org/a.git',
    'git://mirror.example.org/a.git',
    'ssh://mirror.example.org/a.git',
    'file:///etc/passwd',
    'ftp://mirror.example.org/a',
    'ext::sh -c id',
    'javascript:alert(1)',
    'mirror.example.org/a.git',
    '//mirror.example.org/a.git',
    'https:mirror.example.org/a.git',
    'https:/mirror.example.org/a.git',
    'https:///mirror.example.org/a.git',
    'https//mirror.example.org/a.git',
    'git@mirror.example.org:a.git',
    // user info
    'https://me@mirror.example.org/a.git',
    'https://me:pw@mirror.example.org/a.git',
    'https://@mirror.example.org/a.git',
    'https://:@mirror.example.org/a.git',
    'https://mirror.example.org@evil.example/a.git',
    'https://evil.example%40mirror.example.org/a.git',
    'http://x@127.0.0.1:4100/a.git',
    // not on the list
    'https://evil.example/a.git',
    'https://mirror.example.org.evil.example/a.git',
    'https://evilmirror.example.org/a.git',
    'https://sub.mirror.example.org/a.git',
    'https://mirror.example.org:8443/a.git',
    'https://git.example.net/a.git',
    'https://git.example.net:84430/a.git',
    'https://mirror.example.org:0443/a.git',
    'https://mirror.example.org:99999/a.git',
    // raw addresses in every spelling
    'https://10.0.0.7/a.git',
    'https://127.0.0.1/a.git',
    'https://127.1/a.git',
    'https://127.0.0.1:4100/a.git',
    'https://2130706433/a.git',
    'https://0x7f000001/a.git',
    'https://0x7f.0.0.1/a.git',
    'https://0177.0.0.1/a.git',
    'https://017700000001/a.git',
    'https://0/a.git',
    'https://0.0.0.0/a.git',
    'https://169.254.169.254/latest',
    'https://192.168.1.1/a.git',
    'https://172.16.0.1/a.git',
    'https://100.64.0.1/a.git',
    'https://8.8.8.8/a.git',
    'https://1.1.1.1./a.git',
    'https://[::1]/a.git',
    'https://[::]/a.git',
    'https://[::ffff:127.0.0.1]/a.git',
    'https://[::ffff:7f00:1]/a.git',
    'https://[64:ff9b::7f00:1]/a.git',
    'https://[2002:7f00:1::]/a.git',
    'https://[fe80::1%25eth0]/a.git',
    'https://[fd00::1]/a.git',
    'https://[::1/a.git',
    // plain http on loopback that is not written out
    'http://127.0.0.1/a.git',
    'http://127.0.0.1:4101/a.git',
    'http://127.0.0.1:04100/a.git',
    'http://127.1:4100/a.git',
    'http://localhost:4100/a.git',
    'http://0x7f.0.0.1:4100/a.git',
    'http://[::1]:4100/a.git',
    // private names
    'https://localhost/a.git',
    'https://LOCALHOST/a.git',
    'https://x.localhost/a.git',
    'https://svc.internal/a.git',
    'https://nas.local/a.git',
    'https://intranet/a.git',
    'https://metadata.google.internal/a.git',
    // dots, unicode, escapes
    'https://mirror.example.org./a.git',
    'https://mirror。example。org/a.git',
    'https://mirror．example．org/a.git',
    'https://ⓜirror.example.org/a.git',
    'https://mirror.example.org\u200b/a.git',
    'https://mirror%2eexample%2eorg/a.git',
    'https://mirror..example.org/a.git',
    'https://.mirror.example.org/a.git',
    'https://-mirror.example.org/a.git',
    'https://127。0。0。1/a.git',
    // white space, control characters, backslash
    ' https://mirror.example.org/a.git',
    'https://mirror.example.org/a.git ',
    'https://mirror.example.org/a\tb',
    'https://mirror.example.org/a\r\nHost: evil.example',
    'https://mirror.example.org\\@evil.example/a.git',
    'https://mirror.example.org\\.evil.example/a.git',
    'ht\ntps://mirror.example.org/a.git',
    'https://mirror.example.org/a\u0000.git',
    // query, fragment, path
    'https://mirror.example.org/a.git?token=x',
    'https://mirror.example.org/a.git#x',
    'https://mirror.example.org?@evil.example/',
    'https://mirror.example.org',
    'https://mirror.example.org/',
    'https://mirror.example.org//evil.example/a',
    'https://mirror.example.org/a/../../b',
    'https://mirror.example.org/%2e%2e/b',
    'https://mirror.example.org/a%2fb',
    'https://mirror.example.org/a%5cb',
    'https://mirror.example.org/a%0d%0ab',
    'https://mirror.example.org/a%252e',
    '',
    'https://',
    `https://mirror.example.org/${'a'.repeat(2048)}`,
  ];

  it.each(hostile)('refuses %j', (address) => {
    expect(refuseMirrorTarget(address, HOSTS)).toEqual(expect.any(String));
  });

  it('keeps a table of at least eighty hostile forms', () => {
    expect(new Set(hostile).size).toBeGreaterThanOrEqual(80);
  });

  it('allows nothing where no host is listed', () => {
    expect(refuseMirrorTarget('https://mirror.example.org/a.git', [])).toContain('mirror_hosts');
  });

  it('does not repeat user info in the reason', () => {
    for (const address of ['https://me:canary@mirror.example.org/a.git', 'https://canary@evil.example/a.git', 'ftp://me:canary@x/y']) {
      expect(refuseMirrorTarget(address, HOSTS)).not.toContain('canary');
    }
  });
});
