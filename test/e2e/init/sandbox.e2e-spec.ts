import { describe, expect, it } from '@jest/globals';
import { until } from '../../services/until.js';
import { FORGEHAND } from '../support/built.js';
import { Child } from '../support/child.js';
import { commandsOf, labelsOf } from './a-clone.js';
import { page, statesOf, useClones, withTerminal, type Report } from './clones.js';

/** One file: these take the ports that `init` proposes, one after the other. */
describe('e2e/init/sandbox', () => {
  const { keep, clone, terminal, start } = useClones();

  withTerminal(
    'takes five minutes and six commands to a label that a rule of one’s own put on, at a terminal',
    async () => {
      const place = clone();
      // 1
      const init = terminal(place, 'npx forgehand init --sandbox');
      await init.see('Starter sets');
      await init.see('submit');
      init.type('\r');
      await init.see('Install the webhook of acme');
      await init.see('(Y/n)');
      init.type('y\r');
      await init.see('the first delivery arrived');
      await init.see('nothing is wrong');
      await init.see('Apply plan');
      await init.see('(Y/n)');
      init.type('y\r');
      await init.see('is applied');
      await init.see('Keep the bot running here?');
      await init.see('(Y/n)');
      init.type('\r');
      await init.see('npx forgehand runs --limit 1');
      // What the terminal says is typed as it stands there: 2 to 5.
      const shown = init.shown.replaceAll('\r', '');
      const [, write = ''] = /^(cat > [\s\S]*?^EOF)$/m.exec(shown) ?? [];
      const [, check = ''] = /^(npx forgehand check.*)$/m.exec(shown) ?? [];
      const [, act = ''] = /^(npx forgehand sandbox act.*)$/m.exec(shown) ?? [];
      const [, look = ''] = /^(npx forgehand runs.*)$/m.exec(shown) ?? [];
      const written = await place.sh(write);
      const checked = await place.sh(check);
      await init.see('revision.active');
      const acted = await place.sh(act);
      const [, repo = '', number = ''] = /in (\S+) \(#(\d+)\)/.exec(acted.out) ?? [];
      await until(async () => (await labelsOf(place, repo, Number(number))).includes('kind/bug'), 100);
      const runs = await place.sh(look);

      expect([written.code, checked.code, acted.code, runs.code]).toEqual([0, 0, 0, 0]);
      expect(runs.out).toMatch(/acme\/crash .*done +issue\.label done/);
      // Lines for people: this log is on a terminal.
      expect(init.shown).toMatch(/\d\d:\d\d:\d\d info +revision\.active/);
      expect(init.shown).not.toContain('"level":"info"');

      expect(await init.interrupt()).toBe(0);
    },
  );

  it('docs/first-rule.md: five commands lead to the label', async () => {
    const place = clone();
    const [setUp = '', write = '', check = '', act = '', look = '', ...more] = commandsOf(page('docs/first-rule.md'));
    const bot = start(place, setUp);
    const isActive = (): Promise<unknown> =>
      bot.line((line) => (/"rules":1\b.*"revision\.active"/.test(line) ? true : undefined));
    await bot.line((line) => (line.startsWith('The bot runs') ? true : undefined));
    const active = isActive();
    const written = await place.sh(write);
    const checked = await place.sh(check);
    await active;
    const acted = await place.sh(act);
    const [, repo = '', number = ''] = /in (\S+) \(#(\d+)\)/.exec(acted.out) ?? [];
    await until(async () => (await labelsOf(place, repo, Number(number))).includes('kind/bug'), 100);
    const looked = await place.sh(look);

    expect(more).toEqual([]);
    expect([written.code, checked.code, acted.code, looked.code]).toEqual([0, 0, 0, 0]);
    expect(checked.out).toContain('ok acme: 1 rule and 1 policy in');
    expect(looked.out).toMatch(/acme\/crash .*done +issue\.label done/);
  });

  it('lists what people of the sandbox can do, and needs a sandbox for it', async () => {
    const place = clone();
    const none = await place.sh('npx forgehand sandbox act');
    const flags = ['init', '--sandbox', '--yes', '--starters', 'none', '--json'];
    const made = new Child([FORGEHAND, ...flags], {}, place.dir);
    await made.ended;
    const up = keep(new Child([FORGEHAND, ...flags.slice(0, -1), '--start'], {}, place.dir), (one) =>
      one.end('SIGTERM'),
    );
    await up.line((line) => (line.startsWith('The bot runs') ? true : undefined));
    const acting = new Child([FORGEHAND, 'sandbox', 'act', '--json'], {}, place.dir);
    await acting.ended;

    expect(none.out).toContain('no such file');
    expect(statesOf(JSON.parse(made.stdout) as Report)).toMatchObject({ webhook: 'done', delivery: 'done' });
    expect((JSON.parse(acting.stdout) as Array<{ act: string }>).map(({ act }) => act)).toContain('issue.open');
  });
});
