import { describe, expect, it } from '@jest/globals';
import { ALife, BOT, aRepository } from '../../../test/builders/a-life.js';
import { anEvent } from '../../../test/builders/arrivals.js';
import type { HistoryAnswer } from '../history-store.port.js';
import { makeTrial } from '../trial.js';
import { TryDesk } from './try-desk.js';
import type { Draft } from './try-orders.js';

const RULES = `version: 1
org: acme
rules:
  - id: greet
    on: tag.created
    if: { is_release: event.tag.startsWith("v") }
    do: { milestone.ensure: { title: "\${{ event.tag }}" } }
  - id: asks
    on: tag.created
    lookup: { main: { use: branch.get, with: { branch: main } } }
    if: { there: lookups.main.name == "main" }
    do: { milestone.ensure: { title: backlog } }
  - id: pushed
    on: push
    do: { milestone.ensure: { title: pushed } }
`;

const draft = (text: string): Draft => ({
  org: 'acme',
  name: 'acme',
  files: [{ path: 'rules/a.yaml', text }],
  powers: [],
  secrets: [],
  mirrorHosts: [],
  notifyHosts: [],
  limits: { merges: false, approveAndMerge: false, privateMirrors: false, privateReads: false },
});

async function aHistory(): Promise<HistoryAnswer> {
  const life = new ALife(RULES, async () => ({ value: { name: 'main' } }));
  const repo = aRepository(1);
  await life.happens(anEvent({ id: 'e1', kind: 'tag.created', repo, data: { tag: 'x1' }, storedAt: life.clock.now() }));
  return { ...(await life.history()), bot: BOT };
}

const desk = (): TryDesk => new TryDesk(makeTrial());

async function triedOn(text: string, rule: string | null = null) {
  const answer = desk().answer({ kind: 'event', draft: draft(text), history: await aHistory(), rule });
  if (answer.kind !== 'tried') throw new Error(answer.kind);
  return answer.trial;
}

describe('insight/trying/try-desk', () => {
  it('tells each mistake of a draft with its place, and the rules of one without', () => {
    const broken = desk().answer({ kind: 'check', draft: draft(RULES.replace('on: push', 'on: pushh')) });
    const whole = desk().answer({ kind: 'check', draft: draft(RULES) });

    expect(broken).toMatchObject({
      check: { ok: false, problems: [{ file: 'rules/a.yaml', line: 14, col: expect.any(Number) }], rules: [] },
    });
    expect(whole).toMatchObject({
      check: { ok: true, problems: [], rules: [{ id: 'greet', place: { line: 4 } }, {}, {}] },
    });
  });

  it('shows what was made of an event beside what the draft would make of it', async () => {
    const [asItWas, edited] = [
      await triedOn(RULES),
      await triedOn(RULES.replace('startsWith("v")', 'startsWith("x")')),
    ];
    const greet = ({ rules }: typeof asItWas) => rules.find(({ rule }) => rule === 'greet');

    expect(greet(asItWas)).toMatchObject({ verdict: 'not-fired', effects: 0, did: { state: 'not-fired', effects: 0 } });
    expect(greet(edited)).toMatchObject({ verdict: 'fired', effects: 1, did: { state: 'not-fired', effects: 0 } });
    expect(edited.rules.at(-1)).toMatchObject({ rule: 'pushed', verdict: 'rejected', did: null });
  });

  it('shows one rule step by step, with the answers of then', async () => {
    const { steps } = await triedOn(RULES, 'asks');

    expect(steps).toMatchObject({
      rule: 'asks',
      conditions: [{ name: 'there', state: 'true' }],
      lookups: [{ name: 'main' }],
      effects: [{ action: 'milestone.ensure', params: { title: 'backlog' } }],
    });
  });

  it('does not guess what a changed lookup would have been answered', async () => {
    const { rules } = await triedOn(RULES.replace('{ branch: main }', '{ branch: next }'));

    expect(rules.find(({ rule }) => rule === 'asks')).toMatchObject({ verdict: 'unknown', effects: 0 });
  });

  it('records a fixture without the secrets it is given', async () => {
    const history = await aHistory();
    const secret = 'a-canary-of-the-operator';
    const [event] = history.events;
    const told = { ...history, events: [{ ...event, data: { tag: 'v1', note: secret } }] } as HistoryAnswer;

    const answer = desk().answer({ kind: 'fixture', draft: draft(RULES), history: told, secrets: [secret] });

    expect(answer).toMatchObject({ kind: 'recorded', fixture: { rules: expect.arrayContaining(['greet']) } });
    expect(JSON.stringify(answer)).not.toContain(secret);
  });

  it('refuses to try a draft that does not load', async () => {
    for (const kind of ['event', 'fixture', 'begin'] as const)
      expect(
        desk().answer({ kind, draft: draft('version: 2'), history: await aHistory(), rule: null, secrets: [] }),
      ).toMatchObject({ kind: 'refused', problems: expect.arrayContaining([expect.objectContaining({ line: 1 })]) });
  });
});
