import { describe, expect, it } from '@jest/globals';
import { protectionOf } from './branch-protection.js';
import { makeRepository } from './repository.js';
import { makeUser } from './user.js';
import type { ProtectionRule } from '../world.js';
import { World } from '../world.js';

function effective(branch: string, ...ruleNames: string[]): string | undefined {
  const world = new World();
  const owner = makeUser(world, { login: 'uma' });
  const repo = makeRepository(world, owner, { owner, name: 'app' });
  for (const [i, ruleName] of ruleNames.entries()) {
    world.protections.push({
      repoId: repo.id,
      ruleName,
      rule: { priority: i + 1 } as ProtectionRule,
      createdAt: 0,
      updatedAt: 0,
    });
  }
  return protectionOf(world, repo, branch)?.ruleName;
}

describe('sandbox/protection', () => {
  it.each([
    ['main', ['main'], 'main'],
    ['Main', ['main'], 'main'],
    ['release/1.0', ['release/*'], 'release/*'],
    ['release/1/x', ['release/*'], undefined],
    ['release/1/x', ['release/**'], 'release/**'],
    ['main', ['release/*', 'ma*', 'main'], 'ma*'],
    ['dev', ['main'], undefined],
  ])('%s under %j => %s', (branch, rules, expected) => {
    expect(effective(branch, ...rules)).toBe(expected);
  });
});
