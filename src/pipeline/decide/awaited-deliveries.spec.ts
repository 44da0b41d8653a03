import { describe, expect, it } from '@jest/globals';
import { aConfig } from '../../../test/builders/a-config.js';
import type { ConnectedForges } from '../../forge/connected-forges.js';
import { AwaitedDeliveries } from './awaited-deliveries.js';

describe('decide/awaited-deliveries', () => {
  const config = aConfig({
    orgs: [
      { forge: 'main', name: 'acme', feed: { everyS: 60, graceS: 120 }, hooks: [{}] },
      { forge: 'main', name: 'hookless', feed: { everyS: 60, graceS: 120 }, hooks: [] },
    ],
  });
  const forges = { get: () => ({ capabilities: { product: 'gitea', version: '1.27.0' } }) };
  const waitMs = (org: string, source: 'feed' | 'webhook', stretch: number): number =>
    new AwaitedDeliveries(config, forges as unknown as ConnectedForges, { stretchOf: () => stretch }).waitMs({
      org,
      forge: 'main',
      kind: 'push',
      source,
    });

  it.each([
    ['two polls', 'acme', 'feed', 1, 120_000],
    ['two polls as rare as they are', 'acme', 'feed', 3.5, 420_000],
    ['nothing where no webhook is ours', 'hookless', 'feed', 3.5, 0],
    ['nothing when the delivery is here', 'acme', 'webhook', 1, 0],
  ] as const)('%s', (_, org, source, stretch, ms) => {
    expect(waitMs(org, source, stretch)).toBe(ms);
  });
});
