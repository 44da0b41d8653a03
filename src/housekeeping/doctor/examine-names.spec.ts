import { describe, expect, it } from '@jest/globals';
import { callReason, ForgeError } from '../../core/errors.js';
import { buildForgeClient, type ForgeClient } from '../../forge/forge-client.js';
import type { LiteralName } from '../../rules/language/literal-names.js';
import { examineNames as examineKnown, lookAtNames } from './examine-names.js';
import type { AgedResult } from './with-age.js';

const NOW = new Date('2026-11-20T12:00:00Z');

const named = (kind: LiteralName['kind'], name: string, repositories: string[] | null = null): LiteralName => ({
  kind,
  name,
  repositories,
  position: { file: 'r.yaml', line: 4, col: 7 },
});

function forgeWith(answers: Readonly<Record<string, unknown>>): { client: ForgeClient; asked: string[] } {
  const asked: string[] = [];
  const client = buildForgeClient((name) => async (args) => {
    asked.push(name);
    const answer =
      answers[`${name} ${String(args['repo'])}`] ?? answers[String(args['username'] ?? args['repo'] ?? name)];
    const reason = callReason('forge.pages', { operation: name, note: '' });
    if (answer === undefined) throw new ForgeError('refused', reason, { operation: name, status: 404 });
    return answer;
  });
  return { client, asked };
}

/** What is told right after the look. */
async function examineNames(client: ForgeClient, org: string, names: readonly LiteralName[]): Promise<AgedResult[]> {
  const look = { seen: await lookAtNames(client, org, names), at: NOW };
  return examineKnown(names, { look, failure: null }, NOW, NOW);
}

describe('examineNames', () => {
  it('names what the forge does not have, its place, and what was probably meant', async () => {
    const { client } = forgeWith({
      listOrgRepos: [{ name: 'app' }, { name: 'web' }],
      listOrgTeams: [{ name: 'Backend' }],
      listOrgLabels: [],
      app: [{ name: 'kind/bug' }],
      web: [{ name: 'docs' }],
      olga: { login: 'olga' },
    });

    const looked = await examineNames(client, 'acme', [
      named('repository', 'App'),
      named('repository', 'appp'),
      named('team', 'backend'),
      named('team', 'backnd'),
      named('user', 'olga'),
      named('user', 'nobody'),
      named('label', 'docs'),
      named('label', 'docs', ['app']),
      named('label', 'kind/bgu'),
    ]);

    expect(looked.map(({ check, state, code, fix }) => [check, state, code, fix])).toEqual([
      ['rule.names', 'warning', 'rule.names.unknown', ['did you mean "app"?']],
      ['rule.names', 'warning', 'rule.names.unknown', ['did you mean "Backend"?']],
      ['rule.names', 'warning', 'rule.names.unknown', ['create the user, or name another in the rules']],
      ['rule.names', 'warning', 'rule.names.unknown', ['create the label, or name another in the rules']],
      ['rule.names', 'warning', 'rule.names.unknown', ['did you mean "kind/bug"?']],
    ]);
  });

  it('compares milestones and branches with those of the repositories, and labels where those of the organization are refused', async () => {
    const { client } = forgeWith({
      listOrgRepos: [{ name: 'app' }, { name: 'web' }],
      'listLabels app': [{ name: 'bug' }],
      'listLabels web': [],
      'listMilestones app': [{ id: '1', title: '1.4' }],
      'listMilestones web': [{ id: '2', title: '2.0' }],
      'listBranches app': [{ name: 'main' }],
      'listBranches web': [{ name: 'master' }],
    });

    const looked = await examineNames(client, 'acme', [
      named('milestone', '1.4'),
      named('milestone', '2.0', ['app']),
      named('branch', 'master'),
      named('branch', 'mian', ['app']),
      named('label', 'bug'),
      named('label', 'bgu'),
    ]);

    expect(looked.map(({ code, fix }) => [code, fix[0]])).toEqual([
      ['rule.names.unknown', 'create the milestone, or name another in the rules'],
      ['rule.names.unknown', 'did you mean "main"?'],
      ['rule.names.unknown', 'did you mean "bug"?'],
    ]);
  });

  it('suggests somebody who works in the organization for an account that is not there', async () => {
    const { client } = forgeWith({
      listOrgRepos: [{ name: 'app' }],
      'listAssignees app': [{ login: 'olga' }, { login: 'ben' }],
    });

    const looked = await examineNames(client, 'acme', [named('user', 'ogla')]);

    expect(looked.map(({ fix }) => fix)).toEqual([['did you mean "olga"?']]);
  });

  it('reads each list once, and nothing where nothing is named', async () => {
    const { client, asked } = forgeWith({ listOrgRepos: [], listOrgTeams: [] });

    await examineNames(client, 'acme', []);
    const before = [...asked];
    await examineNames(client, 'acme', [named('repository', 'a'), named('repository', 'b'), named('team', 'c')]);

    expect(before).toEqual([]);
    expect(asked).toEqual(['listOrgRepos', 'listOrgTeams']);
  });

  it('says what it could not read, and warns about none of it', async () => {
    const { client } = forgeWith({ listOrgRepos: [{ name: 'app' }] });

    const looked = await examineNames(client, 'acme', [named('team', 'a'), named('team', 'b'), named('label', 'c')]);

    expect(looked.map(({ state, code }) => [state, code])).toEqual([
      ['note', 'rule.names.unchecked'],
      ['note', 'rule.names.unchecked'],
    ]);
  });

  it('goes on after a name that it cannot compare', async () => {
    const many = Array.from({ length: 31 }, (_, n) => ({ name: `r${n}` }));
    const { client } = forgeWith({ listOrgRepos: many, listOrgLabels: [], r1: [{ name: 'bug' }] });

    const looked = await examineNames(client, 'acme', [
      named('label', 'wide'),
      named('label', 'bgu', ['misspelt']),
      named('label', 'bgu', ['r1']),
    ]);

    expect(looked.map(({ state, code, fix }) => [state, code, fix[0]])).toEqual([
      ['warning', 'rule.names.unknown', 'did you mean "bug"?'],
      ['note', 'rule.names.unchecked', undefined],
    ]);
  });
});
