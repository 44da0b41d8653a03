import { describe, expect, it } from '@jest/globals';
import type { EventActor } from '../../src/core/event.js';
import type { JsonObject } from '../../src/core/json.js';
import { AnsweringRig } from '../builders/answering-rig.js';

const ANN = { id: '5', login: 'ann' };
const EVE = { id: '66', login: 'eve' };
const OTHER_BOT = { id: '9', login: 'renovate' };
const ROUNDS = 20;
const STRANGER_EVENTS = 1_000;
const MATCH_ALL_EVENTS = 1_500;
/** The budget of a rule where the operator gives none. */
const PER_RULE = 1_000;

const branchRule = (id: string, on: string, name: string): string => `
  - id: ${id}
    on: branch.created
    where: { branch: ["${on}"], actor: [bot, ann] }
    do: { branch.create: { new_branch_name: "${name}", old_ref_name: main } }
`;
const releaseRule = (id: string, condition: string, name: string): string => `
  - id: ${id}
    on: release.updated
    where: { actor: [bot, ann, renovate] }
    if: ${condition}
    do: { release.update: { tag: v1, name: '${name}' } }
`;
const GROWS = branchRule('grows', '*', '${{ event.branch }}-x');

/** Two steps in the order key of the repository, one in that of the organization. */
const THREE_STEPS = `
  - id: steps
    on: issue.opened
    do:
      - label.ensure: { name: "issue \${{ event.number }} \${{ event.actor.login }}", color: "#112233" }
      - milestone.ensure: { title: "issue \${{ event.number }} \${{ event.actor.login }}" }
      - org_variable.set: { name: "issue_\${{ event.number }}_\${{ event.actor.login }}", value: "1" }
`;

interface Shape {
  readonly rules: string;
  /** A person's act that starts it, and what follows. */
  readonly play: (house: AnsweringRig) => Promise<void>;
  readonly effects: number;
  /** Start of the alert's key; null = nothing to tell. */
  readonly alert: string | null;
}

const byBranch = async (house: AnsweringRig, branch: string): Promise<void> => {
  await house.happens('branch.created', { branch }, ANN);
  await house.settle(ROUNDS);
};

function aRelease(house: AnsweringRig, name: string): JsonObject {
  const release = { id: '12', tag_name: 'v1', name, body: 'b', draft: false, prerelease: false };
  house.rig.forge.repositories.get('acme/app')?.releases.push({ ...release });
  return release;
}

const byRelease = async (house: AnsweringRig, name: string): Promise<void> => {
  const release = aRelease(house, name);
  await house.happens('release.updated', { release, tag: 'v1' }, ANN);
  await house.settle(ROUNDS);
};

/** The other bot's act upon each of ours. */
const answered = async (house: AnsweringRig, act: () => Promise<void>): Promise<void> => {
  let rounds = 0;
  await house.settle(ROUNDS, async () => {
    if ((rounds += 1) < ROUNDS - 1) await act();
  });
};

const SHAPES: Record<string, Shape> = {
  'a rule that answers its own branch': {
    rules: GROWS,
    play: (house) => byBranch(house, 'a'),
    effects: 3,
    alert: 'breaker.chain/acme/grows',
  },
  'two rules that answer each other': {
    rules: branchRule('one', 'a*', 'b${{ event.branch }}') + branchRule('two', 'b*', 'a${{ event.branch }}'),
    play: (house) => byBranch(house, 'a'),
    effects: 3,
    alert: 'breaker.chain/acme/one+two',
  },
  'three rules in a ring': {
    rules:
      branchRule('one', 'a*', 'b${{ event.branch }}') +
      branchRule('two', 'b*', 'c${{ event.branch }}') +
      branchRule('three', 'c*', 'a${{ event.branch }}'),
    play: (house) => byBranch(house, 'a'),
    effects: 3,
    alert: 'breaker.chain/acme/one+three+two',
  },
  'a rule that says nothing about who did it': {
    rules: GROWS.replace(', actor: [bot, ann]', ''),
    play: (house) => byBranch(house, 'a'),
    effects: 1,
    alert: null,
  },
  'a rule that only tells what it would do': {
    rules: GROWS.replace('on:', 'mode: dry-run\n    on:'),
    play: (house) => byBranch(house, 'a'),
    effects: 0,
    alert: null,
  },
  'a repository that is renamed on the way': {
    rules: GROWS,
    play: async (house) => {
      await house.happens('branch.created', { branch: 'a' }, ANN);
      await house.settle(
        ROUNDS,
        async () =>
          void (house.repo = { ...house.repo, name: `${house.repo.name}2`, full_name: `acme/${house.repo.name}2` }),
      );
    },
    effects: 3,
    alert: 'breaker.chain/acme/grows',
  },
  'a bot whose account was given another name': {
    rules: GROWS,
    play: async (house) => {
      house.bot = { id: '1', login: 'handy' };
      await byBranch(house, 'a');
    },
    effects: 3,
    alert: 'breaker.chain/acme/grows',
  },
  'echoes that come an hour later': {
    rules: GROWS,
    play: async (house) => {
      await house.happens('branch.created', { branch: 'a' }, ANN);
      await house.settle(ROUNDS, async () => void house.rig.clock.advance(3_600_000));
    },
    effects: 3,
    alert: 'breaker.chain/acme/grows',
  },
  'a release whose name two rules toggle': {
    rules: releaseRule('one', 'event.release.name == "1"', '2') + releaseRule('two', 'event.release.name == "2"', '1'),
    play: (house) => byRelease(house, '1'),
    effects: 3,
    alert: 'breaker.chain/acme/one+two',
  },
  'a release whose name grows': {
    rules: releaseRule('grows', '"true"', '${{ event.release.name }}x'),
    play: (house) => byRelease(house, '1'),
    effects: 3,
    alert: 'breaker.chain/acme/grows',
  },
  'another bot that sets back what we set': {
    rules: releaseRule('sets', 'event.release.name != "ours"', 'ours'),
    play: async (house) => {
      const release = aRelease(house, 'theirs');
      const theirs = async (): Promise<void> => {
        house.rig.clock.advance(60_000);
        house.rig.forge.repositories.get('acme/app')?.releases.splice(0, 9, { ...release });
        await house.happens('release.updated', { release, tag: 'v1' }, OTHER_BOT);
      };
      await theirs();
      await answered(house, theirs);
      for (let n = 0; n < 5; n += 1) await theirs();
    },
    effects: 1,
    alert: null,
  },
  'another bot that takes away what we make': {
    rules: `
  - id: keeps
    on: branch.deleted
    do: { branch.create: { new_branch_name: kept, old_ref_name: main } }
`,
    play: async (house) => {
      const takes = async (): Promise<void> => {
        house.rig.clock.advance(60_000);
        house.rig.forge.repositories.get('acme/app')?.branches.delete('kept');
        await house.happens('branch.deleted', { branch: 'kept' }, OTHER_BOT);
      };
      await takes();
      await answered(house, takes);
      for (let n = 0; n < 5; n += 1) await takes();
    },
    effects: 1,
    alert: null,
  },
};

describe('G10: no loops, bounded blast', () => {
  it('knows twelve shapes of loops', () => {
    expect(Object.keys(SHAPES)).toHaveLength(12);
  });

  it.each(Object.entries(SHAPES))(
    'makes at most three effects in a chain: %s',
    async (_title, { rules, play, effects, alert }) => {
      const house = new AnsweringRig(rules);

      await play(house);

      expect(house.rig.written).toHaveLength(effects);
      expect([...new Set(house.alerts)]).toEqual(alert === null ? [] : [alert]);
    },
  );

  it('ends a chain on each of its branches, where one act leads to two', async () => {
    const house = new AnsweringRig(GROWS + GROWS.replace('id: grows', 'id: too').replace('}}-x', '}}-y'));

    await house.happens('branch.created', { branch: 'a' }, ANN);
    await house.sweep();
    await house.settle(ROUNDS, () => house.sweep());

    const depths = house.rig.forge.writes.map(
      ({ args }) => String((args['body'] as JsonObject)['new_branch_name']).split('-').length - 1,
    );
    expect(Math.max(...depths)).toBe(3);
    expect(new Set(house.alerts)).toEqual(new Set(['breaker.chain/acme/grows+too']));
  });

  it('pauses the loop and nobody else: neither what started it, nor what only answers its effects, nor an unrelated policy', async () => {
    const starts = branchRule('starts', 'start', 'a');
    const one = branchRule('one', 'a*', 'b${{ event.branch }}');
    const two = branchRule('two', 'b*', 'a${{ event.branch }}');
    const answers = `
  - id: answers
    on: branch.created
    where: { branch: ["a*", "b*"], actor: [bot, ann] }
    do: { milestone.ensure: { title: "\${{ event.branch }}" } }
`;
    const asksElse = `
  - id: asks-else
    on: branch.created
    where: { actor: [bot, ann] }
    if: event.branch == "never"
    do: { label.ensure: { name: never, color: "#112233" } }
`;
    const house = new AnsweringRig(starts + one + two + answers + asksElse);

    await house.happens('branch.created', { branch: 'start' }, ANN);
    await house.sweep();
    await house.settle(ROUNDS, () => house.sweep());

    expect((await house.rig.journal.paused()).map(({ rule }) => rule).sort()).toEqual(['one', 'two']);
    expect(new Set(house.alerts)).toEqual(new Set(['breaker.chain/acme/one+two']));
    const branches = house.rig.forge.writes.filter(({ operation }) => operation === 'createBranch');
    expect(branches).toHaveLength(3);
    await house.happens('branch.created', { branch: 'a-by-ann' }, ANN);
    expect(house.rig.forge.writes.at(-1)?.operation).toBe('createMilestone');
  });

  it('starts nothing by itself again after the breaker, until a person lets it', async () => {
    const house = new AnsweringRig(GROWS);
    await byBranch(house, 'a');

    await byBranch(house, 'b');
    expect(house.rig.written).toHaveLength(3);

    await house.rig.journal.resume('acme', 'grows');
    await house.sweep();
    expect(house.rig.written.length).toBeGreaterThan(3);
  });

  it('makes five effects for a stranger who does a thousand things, with one alert, and goes on for others', async () => {
    const house = new AnsweringRig(`
  - id: marks
    on: issue.opened
    do: { label.ensure: { name: "issue \${{ event.number }}", color: "#112233" } }
`);
    house.rig.settings.budgets = { ...house.rig.settings.budgets, perStranger: 5 };
    house.rig.members.set('eve', false).set('ann', true);

    let toldAt = 0;
    for (let n = 1; n <= STRANGER_EVENTS; n += 1) {
      await house.happens('issue.opened', { number: n, issue: { number: n, title: 't' } }, n === 500 ? ANN : EVE);
      if (toldAt === 0 && house.rig.alerts.length > 0) toldAt = n;
    }

    // The thousand seconds are less than an hour.
    expect(house.rig.written).toHaveLength(5 + 1);
    expect(new Set(house.rig.alerts)).toEqual(new Set(['budget.spent/acme/actor/eve']));
    // With the first that was too much, not later.
    expect(toldAt).toBe(5 + 1);
    expect((await house.rig.journal.countNewestByState(1_000_000, null)).planned).toBe(STRANGER_EVENTS - 6);
  }, 120_000);

  it.each([
    ['the same issue', 1],
    ['another issue of the same repository', 500],
  ])('answers a member at once while runs of a stranger are held in their middle: %s', async (_title, number) => {
    const house = new AnsweringRig(THREE_STEPS);
    house.rig.settings.budgets = { ...house.rig.settings.budgets, perStranger: 5 };
    house.rig.members.set('eve', false).set('ann', true);
    const opened = (n: number, actor: EventActor): Promise<void> =>
      house.happens('issue.opened', { number: n, issue: { number: n, title: 't' } }, actor);
    // The sixth effect is the last step of the second run; each further run is held at its first step.
    for (let n = 1; n <= 4; n += 1) await opened(n, EVE);
    await house.sweep();
    expect(house.rig.written).toHaveLength(5);

    await opened(number, ANN);
    await house.sweep();

    const done = (await house.rig.journal.intentsInState('done', 99)).filter(
      ({ countsFor }) => countsFor?.actor?.login === 'ann',
    );
    expect(done.map(({ target }) => target.kind)).toEqual(['repository', 'repository', 'organization']);
  });

  it('makes five effects for a stranger whose runs have several steps, and each step of a run in its turn', async () => {
    const house = new AnsweringRig(THREE_STEPS);
    house.rig.settings.budgets = { ...house.rig.settings.budgets, perStranger: 5 };
    house.rig.members.set('eve', false);
    for (let n = 1; n <= 4; n += 1)
      await house.happens('issue.opened', { number: n, issue: { number: n, title: 't' } }, EVE);
    await house.sweep();

    const madeByHour = [house.rig.written.length];
    for (let hour = 1; hour <= 3; hour += 1) {
      house.rig.clock.advance(3_600_000);
      await house.sweep();
      madeByHour.push(house.rig.written.length);
    }

    expect(madeByHour).toEqual([5, 10, 12, 12]);
    expect(house.rig.written).toEqual(
      [1, 2, 3, 4].flatMap(() => ['createLabel', 'createMilestone', 'createOrgVariable']),
    );
    expect(new Set(house.rig.alerts)).toEqual(new Set(['budget.spent/acme/actor/eve']));
  });

  it('stops a rule that matches everything at its budget, with one alert', async () => {
    const house = new AnsweringRig(`
  - id: everything
    on: push
    do: { branch.create: { new_branch_name: "push-\${{ event.after }}", old_ref_name: main } }
`);
    house.rig.settings.budgets = { ...house.rig.settings.budgets, perRule: PER_RULE };

    let toldAt = 0;
    for (let n = 1; n <= MATCH_ALL_EVENTS; n += 1) {
      await house.happens('push', { after: String(n), branch: 'main', ref: 'refs/heads/main' }, ANN);
      if (toldAt === 0 && house.rig.alerts.length > 0) toldAt = n;
    }

    expect(house.rig.written).toHaveLength(PER_RULE);
    expect(toldAt).toBe(PER_RULE + 1);
    expect(house.rig.alerts).toEqual(['breaker.budget/acme/everything']);
  }, 120_000);
});
