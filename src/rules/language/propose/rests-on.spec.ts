import { describe, expect, it } from '@jest/globals';
import { anEvent } from '../../../../test/builders/arrivals.js';
import { aRule } from '../../../../test/builders/rule-environment.js';
import { restsOn } from './rests-on.js';

const STEPS = [{ stepId: 'label.ensure', stepNo: 1, action: 'label.ensure', items: [] }];

/** The people that a rule with this condition looks at; null = nobody. */
function peopleOf(condition: string): readonly string[] | null {
  const rule = aRule(
    `id: x\non: [issue.opened, pull_request.opened]\nif: '${condition}'\ndo: {label.ensure: {name: "by-\${{ event.actor.login }}", color: "#ffffff"}}\n`,
    'vars: {field: actor}\n',
  );
  return restsOn(rule.program, anEvent({ kind: 'issue.opened' }), STEPS)?.people ?? null;
}

describe('rules/language/propose/rests-on', () => {
  it.each<[string, readonly string[] | null]>([
    ['event.number > 3', null],
    ['event.actor.login == "olga"', ['actor']],
    ['event["issue"]["user"].login == "olga"', ['issue.user']],
    [
      '(has(event.issue) ? event.issue : event.pull_request).user.login == "olga"',
      ['issue.user', 'pull_request.merged_by', 'pull_request.user'],
    ],
    ['[event.issue].exists(one, one.user.login == "olga")', ['issue.user']],
  ])('of %s: %j', (condition, people) => {
    expect(peopleOf(condition)).toEqual(people);
  });

  it('is everybody where an event is read by a key that only the run tells', () => {
    expect(peopleOf('event[vars.field] == "olga"')).toContain('actor');
  });

  it.each(['has(event.pull_request)', '"pull_request" in event', 'event.pull_request != null'])(
    'is nobody where %s only asks whether it is there',
    (condition) => {
      expect(peopleOf(condition)).toBeNull();
    },
  );

  it('is nothing for what polling read', () => {
    const rule = aRule(
      'id: x\non: issue.opened\nwhere: {actor: [olga]}\ndo: {label.ensure: {name: a, color: "#ffffff"}}\n',
    );
    const event = anEvent({ kind: 'issue.opened' });

    expect(restsOn(rule.program, event, STEPS)).toEqual({ on: 'actor', people: [] });
    expect(restsOn(rule.program, { ...event, source: 'feed' }, STEPS)).toBeNull();
    expect(restsOn(rule.program, event, [])).toBeNull();
  });
});
