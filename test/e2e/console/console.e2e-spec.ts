import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeInChromium, aBrowser, type Person, type TestBrowser } from './browser.js';
import { aStage, DEPLOYMENTS, type Stage } from './stage.js';

const LONG_MS = 120_000;

describeInChromium.each(DEPLOYMENTS)('e2e/console: a walk in a browser (%s)', (deployment) => {
  let stage: Stage;
  let browser: TestBrowser;
  let olga: Person;

  beforeAll(async () => {
    [stage, browser] = await Promise.all([aStage(deployment), aBrowser()]);
    olga = await browser.person();
  }, LONG_MS);

  afterAll(async () => {
    await browser?.close();
    await stage?.close();
  });

  it(
    'logs in through the forge, once for the tabs of a browser',
    async () => {
      const page = await stage.logIn(olga, 'olga');

      expect(await page.locator('h1').textContent()).toBe('Overview');
      expect(await page.locator('.who').textContent()).toContain('olga');
      expect((await olga.open(`${stage.url}/sessions`)).url()).toBe(`${stage.url}/sessions`);
    },
    LONG_MS,
  );

  it(
    'marks a broken rule while it is typed, and takes the mark away again',
    async () => {
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
    },
    LONG_MS,
  );

  it(
    'completes and explains words of the language and of the event',
    async () => {
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
      await page.keyboard.press('Enter');

      expect(await line.textContent()).toContain('&& event.issue');
    },
    LONG_MS,
  );

  it(
    'tells what an edit would have done, and on which events, and then shows one of them step by step',
    async () => {
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
    },
    LONG_MS,
  );

  it(
    'checks and tries without JavaScript too',
    async () => {
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
      await plain.close();
    },
    LONG_MS,
  );

  it(
    'shows nothing to somebody without rights, in another browser at the same time',
    async () => {
      const wes = await browser.person();
      const page = await stage.logIn(wes, 'wes');

      expect(await page.locator('main').textContent()).not.toContain('acme');
      await page.goto(`${stage.url}/try?org=acme`);
      expect(await page.locator('main').textContent()).toContain('This is not for you');
      const told = await page.evaluate(`fetch('/try/check', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-csrf-token': document.querySelector('meta[name="csrf"]').content },
        body: JSON.stringify({ org: 'acme', path: 'rules/rules.yaml', text: 'version: 1' }),
      }).then(async (answer) => [answer.status, (await answer.json()).error])`);
      expect(told).toEqual([403, 'SCOPE_MISSING']);
      await wes.close();
    },
    LONG_MS,
  );

  it('complained about nothing: no error, no violation of the policy, no request to another host', () => {
    expect(olga.complaints).toEqual([]);
  });
});
