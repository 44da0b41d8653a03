import { describe, expect, it } from '@jest/globals';
import { saying } from '../../test/builders/reasons.js';
import { actionCatalogue } from '../actions/index.js';
import { lookupCatalogue } from '../actions/lookups/index.js';
import { CelEngine } from '../rules/language/expressions/cel-engine.js';
import { anEvent } from '../../test/builders/arrivals.js';
import { aRevision } from '../../test/builders/rule-environment.js';
import { PureRuleEngine } from './pure-rule-engine.js';

const engine = new PureRuleEngine(new CelEngine());
const NOW = new Date('2026-11-20T12:00:00Z');
const bot = { id: '5', login: 'forgehand' };
const app = { id: '7', owner: 'acme', name: 'app', full_name: 'acme/app', private: false };
const lib = { id: '8', owner: 'acme', name: 'lib', full_name: 'acme/lib', private: false };

const revision = aRevision(
  `
version: 1
org: acme
rules:
  - id: greet
    on: [push]
    where: {repo: [acme/app]}
    limits: {effects_per_run: 5, runs_per_hour: 9}
    do:
      - use: label.ensure
        with: {name: pushed, color: "#d73a4a"}
  - id: nightly
    schedule: {cron: "0 3 * * *"}
    where: {repo: ["acme/*"]}
    limits: {effects_per_run: 5}
    do:
      - use: milestone.ensure
        with: {title: backlog}
policies:
  - id: baseline
    subjects: {repos: ["acme/*"]}
    labels:
      - {name: kind/bug, color: "#d73a4a"}
`,
  { actions: actionCatalogue(), lookups: lookupCatalogue() },
);

describe('policies/pure-rule-engine', () => {
  it.each<[string, Parameters<typeof anEvent>[0], string[]]>([
    ['a push to app', { repo: app }, ['rule greet']],
    ['a push to lib', { repo: lib }, []],
    ["the bot's own push", { repo: app, actor: { id: '5', login: 'renamed-since' } }, []],
    ['a repository that appears', { kind: 'repository.created', repo: lib }, ['policy baseline']],
    [
      'a repository that the bot made',
      { kind: 'repository.created', repo: lib, actor: { id: '5', login: 'forgehand' } },
      ['policy baseline'],
    ],
    ['a test call', { kind: 'hook.tested', repo: app }, []],
  ])('%s => %j', (_, over, expected) => {
    expect(engine.candidates(revision, anEvent(over), bot).map(({ kind, id }) => `${kind} ${id}`)).toEqual(expected);
  });

  it('tells the limit per hour of a rule', () => {
    expect(engine.find(revision, 'greet')).toEqual({ id: 'greet', kind: 'rule', mode: 'live', runsPerHour: 9 });
    expect(engine.find(revision, 'baseline')).toMatchObject({ kind: 'policy', runsPerHour: null });
    expect(engine.find(revision, 'nope')).toBeNull();
  });

  it('runs schedules about the repositories they are for', () => {
    for (const id of ['nightly', 'baseline']) {
      const candidate = engine.find(revision, id);
      expect(
        candidate &&
          engine.subjects(revision, candidate, [app, lib, { ...app, owner: 'other', full_name: 'other/app' }]),
      ).toEqual([app, lib]);
    }
  });

  it('evaluates rules and policies, asking for what they need', () => {
    const [greet, baseline] = [engine.find(revision, 'greet'), engine.find(revision, 'baseline')];
    const facts = { org: 'acme', event: anEvent({ repo: app }), repo: app, bot, now: NOW };

    expect(greet && engine.evaluate(revision, greet, facts, {})).toMatchObject({
      kind: 'decided',
      report: { verdict: 'fired' },
      steps: [{ action: 'label.ensure', items: [{ itemKey: 'pushed', params: { name: 'pushed', color: '#d73a4a' } }] }],
    });
    expect(baseline && engine.evaluate(revision, baseline, facts, {})).toMatchObject({
      kind: 'needs-lookup',
      request: { use: 'labels.list' },
    });
    expect(baseline && engine.evaluate(revision, baseline, facts, { labels: { value: [] } })).toMatchObject({
      report: { verdict: 'fired' },
      steps: [{ action: 'label.ensure' }],
    });
    expect(
      baseline &&
        engine.evaluate(revision, baseline, facts, { labels: { value: [{ name: 'kind/bug', color: 'd73a4a' }] } }),
    ).toMatchObject({
      report: { verdict: 'not-fired' },
    });
  });

  it('takes a list that the forge does not offer for one that is not there, in policies alone', () => {
    const baseline = engine.find(revision, 'baseline');
    const facts = { org: 'acme', event: null, repo: app, bot, now: NOW };
    const notOffered = { failed: 'listLabels: not offered', notOffered: true as const };

    expect(baseline && engine.evaluate(revision, baseline, facts, { labels: notOffered })).toMatchObject({
      report: { verdict: 'error', reason: saying(expect.stringContaining('does not list labels')) },
    });
    expect(baseline && engine.evaluate(revision, baseline, facts, { labels: { failed: '403' } })).toMatchObject({
      report: { verdict: 'error', reason: saying(expect.stringContaining('403')) },
    });
  });
});
