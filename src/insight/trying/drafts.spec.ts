import { aConfig } from '../../../test/builders/a-config.js';
import { describe, expect, it } from '@jest/globals';
import { anEvent } from '../../../test/builders/arrivals.js';
import type { AppConfig } from '../../config/app-config.js';
import { Secret } from '../../core/secret.js';
import { makeTrial } from '../trial.js';
import { Drafts } from './drafts.js';
import { TryDesk } from './try-desk.js';

const GREET = `version: 1
org: acme
rules:
  - { id: greet, on: tag.created, do: { org_variable.set: { name: LAST, value: "\${{ event.tag }}" } } }
`;

/** Each is a value of somebody, in words that no pattern takes for a key. */
const VALUES = {
  'of the organization': 'correct horse',
  'of another organization': 'battery staple',
  'of the account of the forge': 'open sesame',
};

const config = {
  forges: [{ id: 'main', baseUrl: 'https://git', auth: { type: 'token', token: new Secret('open sesame') } }],
  orgs: [
    { name: 'acme', secrets: { mirror: new Secret('correct horse'), absent: Secret.withheld('not here') } },
    { name: 'butler', secrets: { mirror: new Secret('battery staple') } },
  ].map((org) => ({ ...org, forge: 'main', powers: [], mirrorHosts: [], limits: {}, rules: { builtInSets: true } })),
} as unknown as Pick<AppConfig, 'orgs' | 'forges'>;

/** Tried by a desk in this process. */
function draftsAtDesk(): Drafts {
  const desk = new TryDesk(makeTrial());
  return new Drafts(
    aConfig(config),
    { active: async () => null, list: async () => [] },
    {
      make: () => ({
        order: async (order) => ({ is: 'answered', answer: desk.answer(order) }),
        stop: async () => undefined,
      }),
    },
  );
}

describe('insight/trying/drafts', () => {
  it('has the built-in sets that a draft begins to extend', async () => {
    const drafts = draftsAtDesk();
    const text = 'version: 1\norg: acme\nextends: forgehand/welcome@1\n';
    const { problems, rules } = await drafts.check(await drafts.draft('acme', [{ path: 'a.yaml', text }]));

    expect(problems).toEqual([]);
    expect(rules.map(({ id, place }) => [id, place.file])).toEqual([
      ['welcome-issue', 'forgehand/welcome@1'],
      ['welcome-pull', 'forgehand/welcome@1'],
    ]);
  });

  it.each(Object.entries(VALUES))('a fixture tells who guesses it nothing of a value %s', async (whose, value) => {
    const drafts = draftsAtDesk();
    const event = anEvent({ id: 'e1', kind: 'tag.created', data: { tag: `guess: ${value}!` } });
    const draft = await drafts.draft('acme', [{ path: 'a.yaml', text: GREET }]);

    const { text } = await drafts.fixture(draft, { events: [event], runs: [], next: null, bot: null });

    // An owner may know the organization's own; a word of others stays, whether or not it is a secret somewhere.
    const isOwn = whose === 'of the organization';
    expect([text.includes(value), text.includes('(removed)')]).toEqual([!isOwn, isOwn]);
  });
});
