import type { StatusReport } from '../../../src/api/operations/answers.js';
import { until } from '../../services/until.js';
import type { TestBot } from './a-bot.js';

/** Until the first poll of the feed is over: what happens from here on is told by deliveries alone, where the next poll is an hour away. */
export async function feedIsRead(bot: TestBot): Promise<void> {
  await until(async () => {
    const { rows: orgs } = await bot.reach.get<StatusReport>('/v1/status');
    return orgs.every(({ pollers }) =>
      pollers.some(({ source, advancedAt }) => source === 'feed' && advancedAt !== null),
    );
  });
}
