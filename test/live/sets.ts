import type { JsonObject } from '../../src/core/json.js';
import { changeWithSets } from '../builders/set-files.js';
import type { LiveBot } from './live-bot.js';
import type { Rows } from './rows.js';
import { isSame } from './see.js';
import { House } from './shipped.js';
import type { Stage, StageOrg } from './stage.js';

/** Those that no shipped file extends. */
const SETS = ['welcome', 'conventional-titles', 'needs-rebase', 'dco', 'close-linked', 'milestone-closer'];
/** Their rules know this repository alone. */
const REPO = 'sets';

/** A server looks for conflicts in the background: some seconds after a push it has done so. */
export function setRules({ name }: StageOrg): Record<string, string> {
  const refs = SETS.map((set) => `forgehand/${set}@1`).join(', ');
  const text = `version: 1\norg: ${name}\nextends: [${refs}]\nvars: {repos: ["${name}/${REPO}"]}\n`;
  return { 'sets.yaml': changeWithSets(text, (one) => one.replace('window: 3m', 'window: 5s')) };
}

/** The built-in sets that the shipped rules do not extend, each with its effect. */
export async function playSets(stage: Stage, bot: LiveBot, rows: Rows): Promise<void> {
  const house = new House(stage, stage.starters, bot, rows, 'sets');
  const { people, place } = house;
  const at = (rest: string): string => people.at(REPO, rest);
  const authorsAt = async (number: string): Promise<unknown[]> =>
    (await house.list(at(`/issues/${number}/comments`))).map(({ user }) => (user as JsonObject | null)?.login);
  const seeStatus = (context: string, number: string, state: string): Promise<void> =>
    house.see(`${context}: ${state}`, async () => {
      const { sha } = await people.headOf(REPO, number);
      const { statuses } = await house.get(at(`/commits/${sha}/status`));
      const own = ((statuses as JsonObject[] | null) ?? []).filter((one) => one.context === context);
      return isSame(
        own.map((one) => one.status),
        [state],
      );
    });

  await people.repository(REPO);
  const milestone = await people.milestone(REPO, 'all of it');
  const linked = await people.issue(REPO, stage.wes, { milestone });
  await house.see('welcome-issue', async () => isSame(await authorsAt(linked), [place.bot.login]));
  await people.branch(REPO, 'dev');
  const first = await people.pull(REPO, { title: 'Read lists', body: `Fixes #${linked}.` }, ['lists.txt'], 'dev');
  await house.see('welcome-pull', async () => isSame(await authorsAt(first), [place.bot.login]));
  await seeStatus('conventional-title', first, 'failure');
  await seeStatus('dco', first, 'failure');
  await people.edit(REPO, first, { title: 'docs: read lists' });
  await seeStatus('conventional-title', first, 'success');

  const head = await people.branch(REPO);
  await stage.wes.api.ask('POST', at('/contents/signed.txt'), {
    ...{ content: Buffer.from('signed\n').toString('base64'), message: 'docs: signed', branch: head },
    signoff: true,
  });
  const { number: signed } = await stage.wes.api.ask('POST', at('/pulls'), { head, base: 'main', title: 'docs: sign' });
  await seeStatus('dco', String(signed), 'success');

  await people.merge(REPO, first);
  // The forge itself closes what is merged into the default branch alone.
  await house.see('close-linked', async () => isSame([(await house.get(at(`/issues/${linked}`))).state], ['closed']));
  await house.see('milestone-closer', async () =>
    isSame([(await house.get(at(`/milestones/${String(milestone)}`))).state], ['closed']),
  );

  const conflicting = await people.pull(REPO, { title: 'docs: both' }, ['both.txt', 'more.txt']);
  const labels = async (): Promise<unknown[]> =>
    ((await house.get(at(`/issues/${conflicting}`))).labels as JsonObject[]).map(({ name }) => name);
  await people.push(REPO, 'both.txt', 'otherwise\n', 'main', stage.olga);
  await house.see('needs-rebase', async () => isSame(await labels(), ['needs-rebase']));
  await people.push(REPO, 'both.txt', 'both.txt\n', 'main', stage.olga);
  await house.see('needs-rebase, taken off', async () => isSame(await labels(), []));
}
