import { describe, expect, it } from '@jest/globals';
import { anEvent } from '../../../../test/builders/arrivals.js';
import { aRule } from '../../../../test/builders/rule-environment.js';
import type { Rests } from '../revision.js';
import { restsOn } from './rests-on.js';

const STEPS = [{ stepId: 'label.ensure', stepNo: 1, action: 'label.ensure', items: [] }];

/** What of its event a rule with this condition depends on; null = on nobody's word. */
function restsOf(condition: string, where = '{}'): Rests | null {
  const rule = aRule(
    `id: x\non: [issue.opened, pull_request.opened]\nwhere: ${where}\nif: '${condition}'\ndo: {label.ensure: {name: "by-\${{ event.actor.login }}", color: "#ffffff"}}\n`,
    'vars: {field: actor}\n',
  );
  return restsOn(rule.program, anEvent({ kind: 'issue.opened' }), STEPS);
}

describe('rules/language/propose/rests-on', () => {
  it.each<[string, readonly string[] | null]>([
    ['event.number > 3', null],
    ['event.actor.login == "olga"', ['event.actor.login']],
    ['event["issue"]["user"].login == "olga"', ['event.issue.user.login']],
    [
      '(has(event.issue) ? event.issue : event.pull_request).user.login == "olga"',
      ['event.issue', 'event.pull_request'],
    ],
    ['[event.issue].exists(one, one.user.login == "olga")', ['event.issue']],
  ])('of %s: %j', (condition, reads) => {
    const rests = restsOf(condition);

    expect(rests?.on ?? null).toBe(reads && 'actor');
    if (reads) expect(rests?.reads.map((path) => `event.${path}`)).toEqual(expect.arrayContaining([...reads]));
  });

  it('is everything that the rule reads, in filters, conditions and parameters', () => {
    const rests = restsOf(
      'event.title != "" && repo.default_branch == "main"',
      '{actor: [olga], repo: [app], archived: false}',
    );

    expect(rests?.reads).toEqual([
      'repo.full_name',
      'repo.name',
      'repo.archived',
      'title',
      'repo.default_branch',
      'actor.login',
    ]);
  });

  it('is everything where an event is read by a key that only the run tells', () => {
    expect(restsOf('event[vars.field] == "olga"')).toMatchObject({ on: 'actor', reads: expect.arrayContaining(['']) });
  });

  it.each(['has(event.pull_request)', '"pull_request" in event', 'event.pull_request != null'])(
    'is nobody where %s only asks whether it is there',
    (condition) => {
      expect(restsOf(condition)).toBeNull();
    },
  );

  it('is the same for what polling read, and nothing where nothing is done', () => {
    const rule = aRule(
      'id: x\non: issue.opened\nwhere: {actor: [olga]}\ndo: {label.ensure: {name: a, color: "#ffffff"}}\n',
    );
    const event = anEvent({ kind: 'issue.opened' });

    expect(restsOn(rule.program, event, STEPS)).toEqual({ on: 'actor', reads: [] });
    expect(restsOn(rule.program, { ...event, source: 'feed' }, STEPS)).toEqual({ on: 'actor', reads: [] });
    expect(restsOn(rule.program, event, [])).toBeNull();
  });
});
