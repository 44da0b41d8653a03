import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { until } from '../../services/until.js';
import { describeInChromium, aBrowser, type Person, type TestBrowser } from './browser.js';
import { aStage, DEPLOYMENTS, type Stage } from './stage.js';

/** An act as a page offers it: opened, with a reason, confirmed. */
async function act(page: Page, name: string, button: string): Promise<void> {
  const place = page.locator('details', { has: page.locator('summary', { hasText: name }) });
  if (!(await page.getByRole('button', { name: button }).isVisible())) await place.locator('summary').click();
  await place.locator('input[name="reason"]').fill('tried by the suite');
  await page.getByRole('button', { name: button }).click();
  await page.waitForLoadState();
}

/** Keeps what rows the timeline was told of, which were put into the table, and which of these are marked as new. */
const WATCH = `{
  const add = (list, id) => void (list.includes(id) || list.push(id));
  Object.assign(window, { told: [], put: [], marked: [] });
  const { EventSource } = window;
  window.EventSource = class extends EventSource {
    constructor(url) {
      super(url);
      this.addEventListener('rows', ({ data }) => JSON.parse(data).forEach(({ id }) => add(window.told, 'row-' + id)));
    }
  };
  new MutationObserver((changes) => {
    for (const row of changes.flatMap(({ addedNodes }) => [...addedNodes])) {
      if (!row.id?.startsWith('row-')) continue;
      add(window.put, row.id);
      if (row.classList.contains('is-new')) add(window.marked, row.id);
    }
  }).observe(document, { childList: true, subtree: true });
}`;

describeInChromium.each(DEPLOYMENTS)('e2e/console: a walk in a browser (%s)', (deployment) => {
  let stage: Stage;
  let browser: TestBrowser;
  let olga: Person;

  beforeAll(async () => {
    [stage, browser] = await Promise.all([aStage(deployment), aBrowser()]);
    olga = await browser.person();
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.close();
  });

  it('logs in through the forge, once for the tabs of a browser', async () => {
    const page = await stage.logIn(olga, 'olga');

    expect(await page.locator('h1').textContent()).toBe('Overview');
    expect(await page.locator('.who').textContent()).toContain('olga');
    expect((await olga.open(`${stage.url}/sessions`)).url()).toBe(`${stage.url}/sessions`);
  });

  it('marks a broken rule while it is typed, and takes the mark away again', async () => {
    const page = await olga.open(`${stage.url}/try`);
    await page.waitForSelector('body[data-editor="ready"]');
    const line = page.locator('.cm-line', { hasText: 'on: repository.created' });

    await line.click();
    await page.keyboard.press('End');
    await page.keyboard.type('x');
    const mark = page.locator('.cm-lintRange-error');
    await mark.first().waitFor();
    await mark.first().hover();
    const told = page.locator('.cm-tooltip .cm-diagnostic');
    await told.first().waitFor();
    expect(await told.first().textContent()).toContain('repository.createdx');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Backspace');
    await page.keyboard.type('d');

    await mark.first().waitFor({ state: 'detached' });
  });

  it('completes and explains words of the language and of the event', async () => {
    const page = await olga.open(`${stage.url}/try`);
    await page.waitForSelector('body[data-editor="ready"]');
    const line = page.locator('.cm-line', { hasText: 'is_bug:' });

    await page
      .locator('.cm-line >> text=startsWith')
      .first()
      .hover({ position: { x: 2, y: 6 } });
    await line.click();
    await page.keyboard.press('End');
    await page.keyboard.type(' && event.iss');
    const offered = page.locator('.cm-tooltip-autocomplete li');
    await offered.first().waitFor();
    expect(await offered.allTextContents()).toContain('issue');
    // The editor takes no key for a word that it has offered only now.
    await offered.filter({ hasText: /^issue$/ }).click();

    await line.filter({ hasText: '&& event.issue' }).waitFor();
  });

  it('tells what an edit would have done, and on which events, and then shows one of them step by step', async () => {
    const page = await olga.open(`${stage.url}/try`);
    await page.waitForSelector('body[data-editor="ready"]');
    const line = page.locator('.cm-line', { hasText: 'is_bug:' });
    await line.click();
    await page.keyboard.press('End');
    await page.keyboard.press('Shift+Home');
    await page.keyboard.type('is_bug: event.issue.title.startsWith("a question")');
    await page.getByRole('button', { name: 'Back-test' }).click();

    const row = page.locator('#row-greet');
    await row.waitFor();
    const cell = (head: string) => row.locator(`td[data-head="${head}"]`).textContent();
    expect([await cell('Would fire'), await cell('Did fire'), await cell('New'), await cell('Gone')]).toEqual([
      '1',
      '1',
      '1',
      '1',
    ]);
    const differences = page.locator('.stack', { has: page.locator('h3', { hasText: 'greet' }) });
    await differences.locator('summary', { hasText: 'would fire, and did not' }).click();
    await differences.getByRole('button', { name: 'Try it on' }).first().click();
    await page.getByRole('heading', { name: 'On this event' }).waitFor();
    expect(await page.locator('#row-greet').textContent()).toMatch(/fires.*did not fire/);
    await page.getByRole('button', { name: 'Steps of greet' }).click();

    await page.getByRole('heading', { name: 'Step by step: greet' }).waitFor();
    expect(await page.locator('.steps').textContent()).toMatch(/true\s*is_bug[\s\S]*label\.ensure/);
    await page.getByRole('button', { name: 'Make a fixture' }).click();
    await page.locator('#fixture').waitFor();
    expect(await page.locator('#fixture').inputValue()).toContain('kind: issue.opened');
  });

  it('tries edits of two files together, and leads to a problem in the one that is not shown', async () => {
    const page = await olga.open(`${stage.url}/try`);
    await page.waitForSelector('body[data-editor="ready"]');
    const tab = (name: string) => page.locator('.tabs button', { hasText: name });
    const add = async (line: string, text: string): Promise<void> => {
      await page.locator('.cm-line', { hasText: line }).click();
      await page.keyboard.press('End');
      await page.keyboard.type(`\n${text}`);
    };
    await add('org: acme', '# tried here');
    await tab('tidy.yaml').click();
    await page.getByRole('heading', { name: 'rules/tidy.yaml' }).waitFor();
    // The editor goes on with the indentation of the line before.
    await add(
      'org: acme',
      'rules: [{ id: also, on: issue.opened, do: { label.ensure: { name: also, color: "#00aabb" } } }]',
    );
    await tab('rules/rules.yaml').click();
    await page.locator('.cm-line', { hasText: '# tried here' }).waitFor();
    await page.getByRole('button', { name: 'Back-test' }).click();

    await page.locator('#row-also').waitFor();
    expect(Number(await page.locator('#row-also td[data-head="New"]').textContent())).toBeGreaterThan(0);
    expect(await page.locator('#row-greet').textContent()).toContain('greet');
    await tab('tidy.yaml').click();
    await page.locator('.cm-line', { hasText: 'id: also' }).waitFor();
    await add('org: acme', 'nonsense: 1');
    await tab('rules/rules.yaml').click();
    await tab('tidy.yaml, edited, 1 problem').waitFor();
    await page.getByRole('button', { name: 'Check' }).click();
    await page.locator('.problems a', { hasText: 'rules/tidy.yaml:3' }).click();
    await page.locator('.cm-activeLine', { hasText: 'nonsense: 1' }).waitFor();
  });

  it('shows what the draft would do with an issue as it is now, and writes nothing', async () => {
    const page = await olga.open(`${stage.url}/try`);
    await page.waitForSelector('body[data-editor="ready"]');
    await page.getByLabel('Issue or pull request').fill('acme/app#1');
    await page.getByLabel('Kind of event').selectOption('issue.opened');
    await page.getByRole('button', { name: 'Try on this object' }).click();
    await page.getByRole('heading', { name: 'On this object' }).waitFor();

    expect(await page.locator('#outcome').textContent()).toMatch(
      /issue\.opened.*acme\/app.*It wrote and stored nothing/s,
    );
    await page.getByRole('heading', { name: 'Step by step: greet' }).waitFor();
    await page.getByLabel('Kind of event').selectOption('issue.milestoned');
    await page.getByRole('button', { name: 'Try on this object' }).click();
    await page.locator('#outcome', { hasText: 'it has no milestone' }).waitFor();
  });

  it('checks and tries without JavaScript too', async () => {
    const plain = await browser.person({ javaScriptEnabled: false, storageState: await olga.context.storageState() });
    const page = await plain.open(`${stage.url}/try`);
    const area = page.locator('textarea[name="text"]');
    await area.fill((await area.inputValue()).replace('on: repository.created', 'on: repository.createdx'));
    await page.getByRole('button', { name: 'Check' }).click();

    expect(await page.locator('.problems').textContent()).toContain('repository.createdx');
    expect(await area.inputValue()).toContain('repository.createdx');
    await area.fill((await area.inputValue()).replace('createdx', 'created'));
    await page.getByRole('button', { name: 'Back-test' }).click();
    for (let looks = 0; looks < 60 && !(await page.locator('#row-greet').isVisible()); looks += 1) {
      await page.waitForTimeout(200);
      await page.getByRole('button', { name: 'Look again' }).click();
    }
    expect(await page.locator('#row-greet').textContent()).toContain('greet');
    await area.fill(`${await area.inputValue()}# kept`);
    await page.getByRole('button', { name: 'tidy.yaml' }).click();
    expect(await area.inputValue()).toContain('house-labels');
    await area.fill((await area.inputValue()).replace('kind/bug', 'kind/{bug'));
    await page.getByRole('button', { name: 'rules/rules.yaml' }).click();
    expect(await area.inputValue()).toContain('# kept');
    await page.getByRole('button', { name: 'tidy.yaml, edited' }).waitFor();
    await page.getByRole('button', { name: 'Check' }).click();
    expect(await page.locator('.problems').textContent()).toContain('rules/tidy.yaml');
    await plain.close();
  });

  it('leads from a label that did not appear to the clause, in three clicks', async () => {
    const page = await olga.open(`${stage.url}/activity?all=yes`);
    const row = page.locator('tbody tr', { hasText: 'acme/web' }).filter({ hasText: 'issue.opened' });

    await row.first().getByRole('link', { name: 'issue.opened' }).click();
    await page.getByRole('heading', { name: 'Rules and policies' }).waitFor();
    expect(await page.locator('#row-greet').textContent()).toContain('condition "is_bug"');
    await page.locator('#row-greet').getByRole('link', { name: 'greet', exact: true }).click();

    const marked = page.locator('.source .line-bad, .source .line-attention');
    await marked.first().waitFor();
    expect((await marked.allTextContents()).join()).toContain('event.issue.title.startsWith("bug")');
  });

  it('lets rows that come wait while the pointer is on the timeline, and marks those alone that are new', async () => {
    const page = await olga.context.newPage();
    await page.addInitScript(WATCH);
    const html = (await (await page.goto(`${stage.url}/activity?all=yes`))?.text()) ?? '';
    const before = [...html.matchAll(/id="(row-[^"]+)"/g)].map(([, id = '']) => id);
    const watched = (what: 'told' | 'put'): Promise<string[]> => page.evaluate(`window.${what}`);
    const fresh = async (what: 'told' | 'put'): Promise<string[]> =>
      (await watched(what)).filter((id) => !before.includes(id));
    await page.locator('[data-live][data-state="open"]').waitFor();
    const aimed = page.locator('tbody tr').first();
    const id = await aimed.getAttribute('id');
    await aimed.hover();
    const { x, y, width, height } = (await aimed.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };

    await stage.forge.act('issue.open', { repo: 'acme/app', title: 'while somebody looks', body: '' });
    await until(async () => (await fresh('told')).length > 0);

    const hit = `document.elementFromPoint(${x + width / 2}, ${y + height / 2}).closest('tr').id`;
    expect([await page.evaluate(hit), await fresh('put')]).toEqual([id, []]);
    await page.mouse.move(0, 0);
    await until(async () => (await fresh('put')).length > 0);
    expect(await page.evaluate('window.marked')).toEqual(await fresh('put'));
    await page.close();
  });

  it('lets rows that come wait while the focus is in the timeline, so that it is not lost', async () => {
    const page = await olga.context.newPage();
    await page.addInitScript(WATCH);
    const html = (await (await page.goto(`${stage.url}/activity?all=yes`))?.text()) ?? '';
    const before = [...html.matchAll(/id="(row-[^"]+)"/g)].map(([, id = '']) => id);
    const fresh = async (what: 'told' | 'put'): Promise<string[]> =>
      ((await page.evaluate(`window.${what}`)) as string[]).filter((id) => !before.includes(id));
    await page.locator('[data-live][data-state="open"]').waitFor();
    const focused = page.locator('tbody tr a').first();
    const hasFocus = `document.activeElement.matches('tbody tr a')`;
    await focused.focus();

    await stage.forge.act('issue.open', { repo: 'acme/app', title: 'while the keyboard is in it', body: '' });
    await until(async () => (await fresh('told')).length > 0);

    expect([await page.evaluate(hasFocus), await fresh('put')]).toEqual([true, []]);
    await page.evaluate('document.activeElement.blur()');
    await until(async () => (await fresh('put')).length > 0);
    await page.close();
  });

  it('approves a plan and applies it, and the forge is changed', async () => {
    const page = await olga.open(`${stage.url}/plans`);
    const labels = async (): Promise<string[]> =>
      ((await stage.forge.get<Array<{ name: string }>>('/repos/acme/app/labels')) ?? []).map(({ name }) => name);

    await page.getByRole('button', { name: 'Make a plan' }).click();
    await page.getByText('The plan is made. Nothing is written yet.').waitFor();
    expect(await page.locator('main').textContent()).toContain('kind/bug');
    expect(await labels()).not.toContain('kind/bug');
    await act(page, 'Approve it', 'Approve this plan');
    await act(page, 'Apply it', 'Apply exactly this plan');

    await until(async () => (await labels()).includes('kind/bug'));
  });

  it('pauses a rule, and nothing is written until it goes on', async () => {
    const page = await olga.open(`${stage.url}/rules/acme/every-repository`);
    const labels = async (): Promise<unknown[]> =>
      (await stage.forge.get<unknown[]>('/repos/acme/paused/labels')) ?? [];
    await act(page, 'Pause it', 'Pause every-repository');
    await page.getByText('every-repository is paused.').waitFor();

    await stage.forge.act('repository.create', { repo: 'acme/paused' });
    await until(async () =>
      (
        await stage.ask<{ rows: Array<{ about: { repo: string | null } }> }>('/v1/runs?rule=every-repository')
      ).rows.some(({ about }) => about.repo === 'acme/paused'),
    );
    await page.waitForTimeout(1_500);
    expect(await labels()).toEqual([]);
    await act(page, 'Resume it', 'Resume every-repository');

    await until(async () => (await labels()).length === 1);
  });

  it('shows nothing to somebody without rights, in another browser at the same time', async () => {
    const wes = await browser.person();
    const page = await stage.logIn(wes, 'wes');

    expect(await page.locator('main').textContent()).not.toContain('acme');
    await page.goto(`${stage.url}/try?org=acme`);
    expect(await page.locator('main').textContent()).toContain('You are logged in as wes@main');
    const told = await page.evaluate(`fetch('/try/check', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-csrf-token': document.querySelector('meta[name="csrf"]').content },
        body: JSON.stringify({ org: 'acme', path: 'rules/rules.yaml', text: 'version: 1' }),
      }).then(async (answer) => [answer.status, (await answer.json()).error])`);
    expect(told).toEqual([403, 'SCOPE_MISSING']);
    await wes.close();
  });

  it('shows a member with write what concerns the repositories of the team, and lets the member change nothing', async () => {
    const rita = await browser.person();
    const page = await stage.logIn(rita, 'rita');
    const shown = async (path: string): Promise<string> => {
      await page.goto(stage.url + path);
      return (await page.locator('main').textContent()) ?? '';
    };

    expect(await page.locator('h1').textContent()).toBe('Overview');
    const activity = await shown('/activity?all=yes');
    expect([activity.includes('acme/app'), activity.includes('acme/web')]).toEqual([true, false]);
    expect(await (await olga.open(`${stage.url}/activity?all=yes`)).locator('main').textContent()).toContain(
      'acme/web',
    );
    expect(await shown('/rules/acme/greet')).toContain('greet');
    expect(await page.locator('summary', { hasText: 'Pause it' }).count()).toBe(0);
    const status = await page.evaluate(`fetch('/rules/acme/greet', {
        method: 'POST',
        body: new URLSearchParams({
          csrf: document.querySelector('meta[name="csrf"]').content, act: 'pause', reason: 'she tries',
        }),
      }).then((answer) => answer.status)`);
    expect(status).toBe(403);
    expect((await stage.ask<{ paused: unknown[] }>('/v1/status')).paused).toEqual([]);
    expect(rita.complaints).toEqual([]);
    await rita.close();
  });

  it('shows what a process of the bot complains about, whichever it is', async () => {
    // The process that receives deliveries is not the one that serves the Console, where there are several.
    const refused = await fetch(`${stage.receiver}/webhooks/acme`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-gitea-event': 'push',
        'x-gitea-delivery': '00000000-0000-4000-8000-000000000001',
        'x-gitea-signature': '0'.repeat(64),
      },
      body: '{}',
    });
    expect(refused.status).toBe(401);

    await until(async () =>
      (await stage.ask<{ alerts: Array<{ code: string }> }>('/v1/status')).alerts.some(
        ({ code }) => code === 'security.authentication_failed',
      ),
    );
    const overview = await (await browser.person()).open(await stage.link());
    await overview.locator('main').getByText('authentication failed').first().waitFor();
  });

  it('shows nothing any more to an owner who lost the rights, on pages and in an open stream', async () => {
    const stream = await olga.open(`${stage.url}/about`);
    await stream.evaluate(`new Promise((opened) => {
        window.stream = new EventSource('/live');
        window.stream.addEventListener('open', opened);
        window.stream.addEventListener('over', () => { window.isOver = true; window.stream.close(); });
      }).then(() => undefined)`);
    const page = await olga.open(`${stage.url}/rules/acme/greet`);
    const { world } = stage.forge.sandbox.parts;
    for (const team of world.teams.values()) team.members.delete(world.userByName('olga')?.id ?? 0n);

    // Rights are read anew before every write.
    await page.locator('summary', { hasText: 'Pause it' }).click();
    await page.locator('input[name="reason"]').first().fill('she tries');
    await page.getByRole('button', { name: 'Pause greet' }).click();
    await page.waitForLoadState();
    expect(await page.locator('main').textContent()).not.toContain('is paused');
    await page.goto(`${stage.url}/activity`);
    expect(await page.locator('main').textContent()).not.toContain('acme');

    // With the next news the rights are asked for, not only every fifteen seconds.
    await stage.forge.act('issue.open', { repo: 'acme/app', title: 'news', body: '' }, 'rita');
    // The policy of the page refuses what Playwright would evaluate there again and again.
    await until(
      async () =>
        (await stream.evaluate('window.isOver === true || window.stream.readyState === EventSource.CLOSED')) === true,
    );
  });

  it('complained about nothing: no error, no violation of the policy, no request to another host', () => {
    expect(olga.complaints).toEqual([]);
  });
});
