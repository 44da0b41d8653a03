import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { StatusReport } from '../../../src/api/operations/answers.js';
import { until } from '../../services/until.js';
import { acmeConfig } from '../support/acme-config.js';
import { aForge, type Forge } from '../support/a-forge.js';
import { aPlace, type Place } from '../support/a-place.js';
import { startBot, type Bot } from '../support/bot.js';
import { requireBuild } from '../support/built.js';
import { askJson, forgehand, untilStatus } from '../support/forgehand.js';

const HOOK_SECRET = 'held-runs-hook-secret-4d81a7c95e60b2f3';
const PER_STRANGER = 5;
/** Two steps in the repository, one in the organization. */
const RULES = `version: 1
org: acme
rules:
  - id: steps
    on: issue.opened
    do:
      - label.ensure: { name: "opened \${{ event.number }}", color: "#112233" }
      - milestone.ensure: { title: "opened \${{ event.number }}" }
      - org_variable.set: { name: "OPENED_\${{ event.number }}", value: "\${{ event.actor.login }}" }
  - id: pushed
    on: push
    do: { org_variable.set: { name: LAST_PUSH, value: "\${{ event.after }}" } }
`;

let forge: Forge;
let place: Place;
let bot: Bot;

const milestones = async (): Promise<string[]> =>
  ((await forge.get<Array<{ title: string }>>('/repos/acme/app/milestones')) ?? []).map(({ title }) => title);
const variable = async (name: string): Promise<string | undefined> =>
  (await forge.get<{ data: string }>(`/orgs/acme/actions/variables/${name}`))?.data;
const open = async (as: string): Promise<number> =>
  Number(((await forge.act('issue.open', { repo: 'acme/app', title: `by ${as}` }, as)) as { number: number }).number);

describe('e2e/hostile: a stranger whose runs are held in their middle', () => {
  beforeAll(async () => {
    requireBuild();
    forge = await aForge();
    await forge.control('POST', '/_sandbox/given', { user: 'eve' });
    await forge.act('repository.create', { repo: 'acme/app' });
    place = aPlace({
      config: acmeConfig(forge.apiUrl, { org: { budgets: { per_stranger: PER_STRANGER } } }),
      files: { 'rules/rules.yaml': RULES },
      env: { FORGE_TOKEN: forge.botToken, HOOK_SECRET },
    });
    bot = await startBot(place);
    await forge.hook(bot.url, HOOK_SECRET);
  });

  afterAll(async () => {
    await bot?.kill();
    await forge?.close();
    place?.remove();
  });

  it('stops nobody else, in the repository or in the organization', async () => {
    for (let n = 0; n < 4; n += 1) await open('eve');
    await until(async () => forge.botWrites().length >= PER_STRANGER);

    const number = await open('olga');
    const { after } = (await forge.act('push', { repo: 'acme/app' })) as { after: string };

    await until(async () => (await variable(`OPENED_${number}`)) === 'olga');
    await until(async () => (await variable('LAST_PUSH')) === after);
    expect(await milestones()).toContain(`opened ${number}`);
  });

  it('makes no more than the budget, and status tells which budget holds what, since when and until when', async () => {
    await untilStatus(place, (status) => status.held[0]?.effects === 4 * 3 - PER_STRANGER);

    const [held, ...others] = (await askJson<StatusReport>(place, 'status', '--config', place.configFile)).held;
    expect(others).toEqual([]);
    expect(held).toMatchObject({
      code: 'held.budget_spent',
      org: 'acme',
      kind: 'actor',
      of: 'eve',
      perHour: PER_STRANGER,
    });
    expect(Date.parse(String(held?.since))).toBeLessThan(Date.parse(String(held?.next)));
    const { stdout } = await forgehand(place, 'status', '--config', place.configFile);
    expect(stdout).toMatch(
      /held: 7 effects in acme by the budget of actor eve \(5 per hour\) since .* tried again at .* \(held\.budget_spent\)/,
    );
    // Three of the member's issue, one of the push.
    expect(forge.botWrites()).toHaveLength(PER_STRANGER + 4);
  });
});
