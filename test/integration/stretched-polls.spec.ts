import { afterEach, describe, expect, it } from '@jest/globals';
import type { DoctorPage, StatusReport } from '../../src/api/operations/answers.js';
import { until } from '../services/until.js';
import { aBot } from './support/a-bot.js';
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
    let token = forge.botToken;
    for (const org of ORGS.slice(1)) {
      await forge.control('/_sandbox/given', { org, owner: 'olga' });
      const account = await forge.control('/_sandbox/accounts', { login: 'bot', org, team: 'Owners' });
      token = String(account['token']);
    }
    const bot = await aBot({
      config: {
        forges: [
          {
            id: 'main',
            base_url: forge.apiUrl,
            auth: { type: 'token', token: { env: 'FORGE_TOKEN' } },
            rate_per_s: 10,
          },
        ],
        orgs: ORGS.map((name) => ({
          name,
          forge: 'main',
          hooks: [],
          rules: { path: `rules/${name}` },
          feed: { every_s: 0.2 },
          lists: { every_s: 0 },
        })),
        store: { url: 'embedded:./data' },
        server: { host: '127.0.0.1', port: 0 },
        housekeeping: { audits: false },
      },
      files: Object.fromEntries(ORGS.map((org) => [`rules/${org}/r.yaml`, `version: 1\norg: ${org}\n`])),
      env: { FORGE_TOKEN: token },
    });
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
