import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page, Request } from 'playwright-core';
import { ROOT } from '../../services/with-services.mjs';
import {
  aBrowser,
  axeOf,
  describeInChromium,
  overflowOf,
  wideTablesOf,
  walkOf,
  type Person,
  type TestBrowser,
} from './browser.js';
import { aStage, HOSTILE, HOSTILE_PLACES, type Stage } from './stage.js';

/** `FORGEHAND_PICTURES=1` writes pictures of each page to docs/console/. */
const PICTURES = process.env['FORGEHAND_PICTURES'] === '1' ? join(ROOT, 'docs/console') : null;
const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 360, height: 740 };
const HUGE = { width: 2560, height: 1440 };
const SCHEMES = ['light', 'dark'] as const;
/** Those of axe that look at colours. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** Pages that are reached from others: one of each kind is looked at. */
const INNER = [
  /^\/events\/[^/?#]+$/,
  /^\/runs\/[^/?#]+$/,
  /^\/deliveries\/[^/?#]+$/,
  /^\/rules\/[^?#]+$/,
  /^\/plans\/[^?#]+$/,
];

/** Rules whose conditions saw hostile texts. */
const SHOWING = ['greet', 'hostile-effect', 'hostile-label'];

/** How many elements of the page the tab key should reach. */
async function reachableOf(page: Page): Promise<number> {
  return Number(
    await page.evaluate(
      `[...document.querySelectorAll('a[href], button, select, input:not([type=hidden]), textarea, summary')].filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled && !one.closest('details:not([open]) > :not(summary)')).length`,
    ),
  );
}

describeInChromium('e2e/console: how the pages look', () => {
  let stage: Stage;
  let browser: TestBrowser;
  let owner: Person;
  let page: Page;
  let paths: readonly string[];

  beforeAll(async () => {
    [stage, browser] = await Promise.all([aStage('embedded'), aBrowser()]);
    // Colours are read where they end, not on their way from light to dark.
    owner = await browser.person({ viewport: WIDE, reducedMotion: 'reduce' });
    page = await owner.open(await stage.link());
    await page.waitForURL(`${stage.url}/`);
    paths = await pathsFrom(page, stage.url);
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.close();
  });

  const visit = async (path: string): Promise<void> => {
    await page.goto(stage.url + path);
    if (path.startsWith('/try')) await page.waitForSelector('body[data-editor="ready"]');
  };

  /** With something to see. */
  const pictured = async (path: string): Promise<void> => {
    if (path !== '/try') return;
    await page.getByRole('button', { name: 'Back-test' }).click();
    await page.locator('#row-greet').waitFor();
  };

  it('finds a page of each kind', () => {
    expect(paths).toEqual(expect.arrayContaining(['/', '/try', '/sessions', '/about']));
    for (const inner of INNER) expect(paths.filter((path) => inner.test(path))).toHaveLength(1);
  });

  it('axe finds nothing, in light and dark', async () => {
    const found: string[] = [];
    for (const path of paths) {
      await visit(path);
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme });
        // Colours are all that differs in the dark.
        const rules = colorScheme === 'dark' ? COLOUR_RULES : undefined;
        found.push(...(await axeOf(page, rules)).map((one) => `${colorScheme} ${path}: ${one}`));
      }
    }
    expect(found).toEqual([]);
  });

  it('each table lies within its frame at 1,280 pixels', async () => {
    await page.setViewportSize(WIDE);
    const found: string[] = [];
    for (const path of paths) {
      await visit(path);
      await pictured(path);
      for (const wide of await wideTablesOf(page)) found.push(`${path}: ${wide}`);
    }
    expect(found).toEqual([]);
  });

  it('nothing has to be scrolled aside, from 360 to 2,560 pixels', async () => {
    const found: string[] = [];
    for (const path of paths) {
      await visit(path);
      for (const viewport of [NARROW, WIDE, HUGE]) {
        await page.setViewportSize(viewport);
        const aside = await overflowOf(page);
        if (aside > 0) found.push(`${viewport.width} ${path}: ${aside} pixels`);
      }
    }
    await page.setViewportSize(WIDE);
    expect(found).toEqual([]);
  });

  it('each page can be walked by the keyboard alone, and one sees where one is', async () => {
    for (const path of paths) {
      await visit(path);
      // A page shows news while it is walked: what was there before counts, unless it has gone since.
      const before = await reachableOf(page);
      const stops = await walkOf(page);
      const reachable = Math.min(before, await reachableOf(page));

      expect({ path, unseen: stops.filter(({ isSeen }) => !isSeen) }).toEqual({ path, unseen: [] });
      expect(stops[0]?.what).toContain('Skip to the content');
      expect(stops.length).toBeGreaterThanOrEqual(reachable);
    }
  });

  it('hostile texts stay texts on every page', async () => {
    const shown: string[] = [];
    // Pages of decisions show the values that a condition saw: titles, branches, labels. Those of runs show effects.
    const { rows: runs } = await stage.ask<{
      rows: Array<{ run: { id: string; rule: string; cause: { eventId?: string } } }>;
    }>('/v1/runs?limit=200');
    const decisions = runs
      .filter(({ run: { rule, cause } }) => cause.eventId !== undefined && SHOWING.includes(rule))
      .flatMap(({ run: { id, rule, cause } }) => [
        `/events/${cause.eventId}`,
        `/events/${cause.eventId}/rules/${rule}`,
        ...(rule === 'hostile-effect' ? [`/runs/${id}`] : []),
      ]);
    const rules = ['hostile', ...SHOWING].map((id) => `/rules/acme/${id}`);
    for (const path of new Set([...paths, ...decisions, ...rules])) {
      await visit(path);
      shown.push((await page.evaluate(`document.documentElement.textContent`)) as string);
      const made = await page.evaluate(
        `[...document.querySelectorAll('img, body script, [onload], [onerror], b, a[href^="javascript" i]')].map((one) => one.outerHTML)`,
      );
      expect({ path, made }).toEqual({ path, made: [] });
    }
    const all = [...HOSTILE, ...Object.values(HOSTILE_PLACES)];
    const told = all.filter((text) =>
      shown.some((one) => one.includes(text) || one.includes(JSON.stringify(text).slice(1, -1))),
    );
    expect(told).toEqual(all);
  });

  it('the first load takes 150 KB at most, without the editor', async () => {
    const fresh = await browser.person({ storageState: await owner.context.storageState() });
    const tab = await fresh.context.newPage();
    const lengths: Promise<number>[] = [];
    tab.on('requestfinished', (request) => lengths.push(lengthOf(request)));
    await tab.goto(`${stage.url}/`, { waitUntil: 'load' });
    await tab.waitForTimeout(300);
    const bytes = (await Promise.all(lengths)).reduce((all, one) => all + one, 0);
    await fresh.close();

    expect(bytes).toBeGreaterThan(1_000);
    expect(bytes).toBeLessThanOrEqual(150 * 1024);
  });

  it('complained about nothing: no error, no violation of the policy, no request to another host', () => {
    expect(owner.complaints).toEqual([]);
  });

  (PICTURES === null ? it.skip : it)('pictures of each page', async () => {
    mkdirSync(PICTURES ?? '', { recursive: true });
    for (const [size, viewport] of [
      ['wide', WIDE],
      ['narrow', NARROW],
    ] as const)
      for (const colorScheme of SCHEMES) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        for (const path of paths) {
          await visit(path);
          const name = path === '/' ? 'overview' : (path.split('/')[1] ?? '');
          const inner = path.split('/').length > 2 && ['rules', 'plans'].includes(name) ? 'one-of-' : '';
          await pictured(path);
          await page.screenshot({ path: join(PICTURES ?? '', `${inner}${name}-${size}-${colorScheme}.png`) });
        }
      }
  });
});

/** What the navigation leads to, and one page of each kind behind it. */
async function pathsFrom(page: Page, url: string): Promise<string[]> {
  const linksOf = async (path: string): Promise<string[] | null> => {
    const answer = await page.goto(url + path);
    if (answer?.status() !== 200) return null;
    const links = (await page.evaluate(
      `[...document.querySelectorAll('main a[href^="/"], nav a[href^="/"], footer a[href^="/"]')].map((link) => link.getAttribute('href'))`,
    )) as string[];
    return links.map((link) => link.split('#')[0] ?? '');
  };
  const wanted = [
    '/',
    ...((await linksOf('/')) ?? []).filter((path) => /^\/[a-z]*$/.test(path)),
    '/sessions',
    '/about',
  ];
  const main: string[] = [];
  const behind: string[] = [];
  for (const path of new Set(wanted)) {
    const links = await linksOf(path);
    if (links) main.push(path);
    behind.push(...(links ?? []));
  }
  const oneOfEach = (): string[] => INNER.flatMap((kind) => behind.find((path) => kind.test(path)) ?? []);
  for (const path of oneOfEach()) behind.push(...((await linksOf(path)) ?? []));
  return [...main, ...oneOfEach()];
}

/** Of what was answered, in bytes. */
async function lengthOf(request: Request): Promise<number> {
  const answer = await request.response();
  return (await answer?.body())?.length ?? 0;
}
