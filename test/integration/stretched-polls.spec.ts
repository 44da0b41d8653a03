import { afterEach, describe, expect, it } from '@jest/globals';
import type { DoctorPage, StatusReport } from '../../src/api/operations/answers.js';
import { until } from '../services/until.js';
import { aBot } from './support/a-bot.js';
import { ownSeveral, severalOrgs } from './support/several-orgs.js';
import { aForge } from './support/a-forge.js';

const ORGS = ['one', 'two', 'three'];
const cleanUps: Array<() => unknown> = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

describe('integration/stretched polls', () => {
  it('make one alert of the forge and a finding of the doctor, with what is needed and what is there', async () => {
    const forge = await aForge({ org: 'one' });
    cleanUps.push(() => forge.close());
    const token = await ownSeveral(forge, ORGS.slice(1));
    const rules = Object.fromEntries(ORGS.map((org) => [org, `version: 1\norg: ${org}\n`]));
    const bot = await aBot(
      severalOrgs(forge, token, rules, {
        ratePerS: 10,
        org: () => ({ feed: { every_s: 0.2 }, lists: { every_s: 0 } }),
      }),
    );
    cleanUps.push(() => bot.close());

    const doctor = (): Promise<DoctorPage> => bot.reach.get<DoctorPage>('/v1/doctor');
    const isPolls = ({ code }: { code: string }): boolean => code === 'forge.polls.stretched';
    await until(async () => (await doctor()).rows.some(isPolls));

    const [finding, ...others] = (await doctor()).rows.filter(isPolls);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ state: 'warning', forge: 'main', org: null });
    expect(finding?.said).toMatch(
      /^feeds of main are read every [\d.]+ s, wanted 0\.2: 3 organizations need 1,\d\d\d calls a minute, 300 are left$/,
    );
    const { alerts } = await bot.reach.get<StatusReport>('/v1/status');
    expect(alerts.filter(({ code }) => code === 'polls.stretched')).toEqual([
      expect.objectContaining({ message: expect.stringContaining('raise forges[].rate_per_s') }),
    ]);
  });
});
