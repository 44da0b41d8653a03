import { describe, expect, it } from '@jest/globals';
import { actionCatalogue } from '../actions/index.js';
import { lookupCatalogue } from '../actions/lookups/index.js';
import { ForgeError } from '../core/errors.js';
import { connectForge } from '../forge/capabilities.js';
import { buildForgeClient } from '../forge/forge-client.js';
import { operationOf } from '../forge/operations.js';
import { aRevision } from '../../test/builders/rule-environment.js';
import { OfferCheck } from './offer-check.js';

const RULES = `version: 1
org: acme
rules:
  - id: notes
    on: [release.published]
    lookup:
      line: {use: branch.get, on_missing: none, with: {branch: main}}
      before: {use: release.by_tag, on_missing: none, with: {tag: v1}}
    if: {first: lookups.before == null && lookups.line != null}
    do: {milestone.ensure: {title: a}}
  - id: requests
    on: [push]
    lookup: {asked: {use: files.read, with: {files: [a]}}}
    if: {some: lookups.asked.size() > 0}
    do: {milestone.ensure: {title: b}}
policies:
  - id: furniture
    subjects: {repos: ["*"]}
    labels: [{name: a, color: "#ff0000"}]
  - id: blind
    assume_absent: true
    subjects: {repos: ["*"]}
    milestones: [{title: a}]
`;

const revision = aRevision(RULES, { actions: actionCatalogue(), lookups: lookupCatalogue() });

/** A forge without some routes, connected; `calls` are what it was asked. */
async function aWorld(lacks: (name: string) => boolean, scopes: string[] = []) {
  const calls: string[] = [];
  const alerts: string[] = [];
  const client = buildForgeClient((name) => async () => {
    calls.push(name);
    if (name === 'getOwnToken' && scopes.length > 0) return { scopes };
    if (lacks(name)) throw new ForgeError('not-offered', `${name}: this forge does not offer the operation`, { operation: name, status: 404 });
    throw new ForgeError('refused', `${name}: refused with status 404`, { operation: name, status: 404 });
  });
  const connected = await connectForge(client, { username: 'forgehand' });
  calls.length = 0;
  const check = new OfferCheck({
    orgs: [{ forge: 'main', org: 'acme' }],
    revisions: { active: async () => ({ id: 'r', revision, loadedAt: new Date() }) },
    forges: { get: () => connected },
    lookups: lookupCatalogue(),
    alerts: { raise: (key) => void alerts.push(`raise ${key}`), resolve: (key) => void alerts.push(`resolve ${key}`) },
  });
  return { check, calls, alerts };
}

describe('housekeeping/offer-check', () => {
  it('tells which rules need what a forge of the 20 operations lacks, with the line', async () => {
    const { check, alerts } = await aWorld((name) => operationOf(name as never).n === undefined);

    await check.check();

    expect(check.lacking('acme')).toEqual([
      expect.stringMatching(/:8:7: notes needs getReleaseByTag for release\.by_tag, which this forge does not offer$/),
      expect.stringMatching(/:17:5: furniture needs listLabels for labels\.list, which this forge does not offer$/),
    ]);
    expect(alerts).toContain('raise rules.not-offered/acme');
  });

  it('takes a lookup that has another way for one that works', async () => {
    const { check } = await aWorld((name) => name === 'getFiles');

    await check.check();

    expect(check.lacking('acme')).toEqual([]);
  });

  it.each([
    ['all of them', ['all'], []],
    ['enough', ['write:repository', 'write:issue', 'read:organization', 'read:user', 'read:misc'], []],
    ['too few', ['read:repository', 'write:issue', 'read:organization'], ['the token lacks read:user, write:repository']],
    ['what the forge does not tell', [], []],
  ])('tells which scopes the token lacks, with %s', async (_what, scopes, lacking) => {
    const { check } = await aWorld(() => false, scopes);

    await check.check();

    expect(check.lacking('acme')).toEqual(lacking);
  });

  it('asks for each read once, only for those that the rules need, and never makes a write', async () => {
    const { check, calls } = await aWorld(() => false);

    await check.check();
    await check.check();

    expect(calls.filter((name) => name !== 'getOwnToken' && name !== 'listOrgHooks').sort()).toEqual([
      'getBranch',
      'getContents',
      'getReleaseByTag',
      'listLabels',
    ]);
  });
});
