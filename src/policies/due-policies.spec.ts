import { describe, expect, it } from '@jest/globals';
import { anEvent } from '../../test/builders/arrivals.js';
import { aPolicy } from '../../test/builders/rule-environment.js';
import type { EventKind } from '../core/event-kinds.js';
import type { EventRepository } from '../core/event.js';
import type { CompiledPolicy } from '../rules/language/revision.js';
import { policiesForEvent, policySubjects } from './pure-rule-engine.js';

function policy(id: string, subjects: string): CompiledPolicy {
  return aPolicy(`id: ${id}\nsubjects: ${subjects}\nmilestones: [{title: backlog}]`);
}

function repo(name: string, over: Partial<EventRepository> = {}): EventRepository {
  return { id: name, owner: 'acme', name, full_name: `acme/${name}`, private: false, archived: false, ...over };
}

describe('policies/due-policies', () => {
  const policies = [
    policy('all', '{repos: ["*"]}'),
    policy('web', '{repos: [acme/web]}'),
    policy('closed', '{repos: ["*"], private: true}'),
  ];

  it.each<[EventKind, string[]]>([
    ['repository.created', ['all', 'web']],
    ['repository.transferred', ['all', 'web']],
    ['repository.renamed', ['all', 'web']],
    ['repository.deleted', []],
    ['push', []],
  ])('%s is a cause for %j', (kind, ids) => {
    expect(policiesForEvent({ policies }, anEvent({ kind, repo: repo('web') })).map(({ id }) => id)).toEqual(ids);
  });

  it('looks at repositories that the bot made, too', () => {
    expect(
      policiesForEvent(
        { policies },
        anEvent({ kind: 'repository.created', actor: { id: '99', login: 'forgehand' }, repo: repo('web') }),
      ),
    ).toHaveLength(2);
  });

  it('is about no event without a repository', () => {
    expect(policiesForEvent({ policies }, anEvent({ kind: 'repository.created', repo: null }))).toEqual([]);
  });

  it('leaves archived repositories out, unless asked for', () => {
    const inventory = [
      repo('web'),
      repo('old', { archived: true }),
      repo('api', { archived: undefined as never }),
      repo('sandbox-1'),
    ];

    expect(
      policySubjects(policy('a', '{repos: ["*"], not_repos: ["sandbox-*"]}'), inventory).map((repo) => repo?.name),
    ).toEqual(['web', 'api']);
    expect(policySubjects(policy('b', '{repos: ["*"], archived: true}'), inventory).map((repo) => repo?.name)).toEqual([
      'old',
    ]);
  });
});
