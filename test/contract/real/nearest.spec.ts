import { describe, expect, it } from '@jest/globals';
import { nearestServer } from './nearest.js';

const SERVERS = ['gitea 1.24.7', 'gitea 1.26.3', 'gitea 1.27.0-rc0', 'forgejo 15.0.3+gitea-1.22.0'];

describe('contract/real/nearest', () => {
  it.each<['gitea' | 'forgejo', string, string]>([
    ['gitea', '1.27.0', 'gitea 1.27.0-rc0'],
    ['gitea', '1.28.0+dev-12-gabcdef', 'gitea 1.27.0-rc0'],
    ['gitea', '1.26.0', 'gitea 1.26.3'],
    ['gitea', '1.25.4', 'gitea 1.24.7'],
    ['gitea', '1.22.6', 'gitea 1.24.7'],
    ['gitea', 'development', 'gitea 1.27.0-rc0'],
    ['forgejo', '11.0.1+gitea-1.22.0', 'forgejo 15.0.3+gitea-1.22.0'],
  ])('holds %s %s to %s', (family, version, expected) => {
    expect(nearestServer(SERVERS, family, version)).toBe(expected);
  });

  it('says so when a product was never recorded', () => {
    expect(() => nearestServer(['gitea 1.27.0'], 'forgejo', '15.0.3')).toThrow('no recordings of forgejo');
  });
});
