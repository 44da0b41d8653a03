import { parseArgs } from 'node:util';
import { connectForge } from '../../src/cli/real-forge/connect.js';
import { Estate } from '../../src/cli/real-forge/estate.js';
import { messageOf } from '../../src/core/errors.js';
import { requireBuild } from '../e2e/support/built.js';
import { playLive } from './play-live.js';
import { Rows } from './rows.js';

const USAGE = `usage: npm run live -- --url URL [--without KIND,…] [--json] [--keep-log FILE]

Runs the built bot on a real server, in organizations of its own, and tries every kind of event, the shipped rules, an outage, a rename,
a transfer, a burst and two kills. Everything that was made is removed at the end.
  --url URL         http://host:port; credentials of a site administrator in FORGEHAND_ADMIN_TOKEN, or FORGEHAND_ADMIN_USER and FORGEHAND_ADMIN_PASSWORD
  --without WHAT    kinds of event and parts (kinds, recorded, jobs, house, starters, sets, outage, burst, kills, transfer, rename) to leave out, separated by commas
  --only KINDS      play these kinds of event alone
  --json            the rows as JSON on stdout; what happens goes to stderr
  --keep-log FILE   write the bot's log there
Status 0 when every row holds or is not playable on this server, 1 when one fails or something could not be removed, 2 on a wrong command line,
130 when stopped.`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      url: { type: 'string' },
      without: { type: 'string', default: '' },
      only: { type: 'string', default: '' },
      json: { type: 'boolean', default: false },
      'keep-log': { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help || values.url === undefined) {
    console.log(USAGE);
    return values.help ? 0 : 2;
  }
  requireBuild();
  const say = (line: string): void => (values.json ? console.error : console.log)(line);
  const forge = await connectForge(values.url, process.env);
  say(`${forge.origin} is ${forge.family} ${forge.version}`);
  const estate = new Estate(forge.admin);
  const rows = new Rows(say);
  let isStopped = false;
  const stop = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => {
        isStopped = true;
        reject(new Error('stopped'));
      });
  });
  const closers: Array<() => Promise<unknown>> = [];
  let left: string[] = [];
  try {
    const [without, only] = [words(values.without), words(values.only)];
    await Promise.race([
      stop,
      playLive({
        forge,
        estate,
        rows,
        say,
        without,
        only,
        logFile: values['keep-log'],
        onEnd: (close) => closers.unshift(close),
      }),
    ]);
  } catch (error) {
    if (!isStopped) rows.add('live', 'the run itself', 'fails', messageOf(error));
  } finally {
    for (const close of closers) await close().catch(() => undefined);
    left = await estate.clear();
  }
  for (const line of left) say(`could not be removed, please do it: ${line}`);
  if (values.json) console.log(JSON.stringify({ server: forge.version, rows: rows.list, left }, null, 2));
  const failing = rows.list.filter(({ verdict }) => verdict === 'fails').length;
  say(`${rows.list.length} rows, ${failing} fail`);
  if (isStopped) return 130;
  return rows.isGood && left.length === 0 ? 0 : 1;
}

function words(list: string): Set<string> {
  return new Set(list.split(',').filter((word) => word !== ''));
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
