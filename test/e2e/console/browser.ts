import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from '@jest/globals';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';

/** Null where none could be had: what needs one counts as skipped (`test/run.mjs`). */
export const CHROMIUM = process.env['FORGEHAND_TEST_CHROMIUM'] ?? null;

export const describeInChromium = CHROMIUM === null ? describe.skip : describe;

/** Nothing of the machine's own browser, and no request to anybody but the pages. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A Chromium with a folder of its own. */
export interface TestBrowser {
  /** Of somebody who shares no cookie with the others. */
  person(options?: BrowserContextOptions): Promise<Person>;
  close(): Promise<void>;
}

export async function aBrowser(): Promise<TestBrowser> {
  const home = mkdtempSync(join(tmpdir(), 'fh-chromium-'));
  const browser: Browser = await chromium.launch({
    executablePath: CHROMIUM ?? '',
    args: FLAGS,
    env: { ...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_CACHE_HOME: home },
  });
  return {
    person: async (options) => new Person(await browser.newContext(options)),
    close: async () => {
      await browser.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** One browser window with its tabs. What a page complains about is kept, whoever looks. */
export class Person {
  /** Errors of scripts and of the console, violations of the policy, requests to other hosts. */
  readonly complaints: string[] = [];

  constructor(readonly context: BrowserContext) {
    context.setDefaultTimeout(60_000);
    context.on('page', (page) => this.watch(page));
  }

  async open(url: string): Promise<Page> {
    const page = await this.context.newPage();
    await page.goto(url);
    return page;
  }

  close(): Promise<void> {
    return this.context.close();
  }

  private watch(page: Page): void {
    page.on('console', (message) => {
      // Chromium writes there what is refused by status; the tests that ask for it look at the page.
      if (['error', 'warning'].includes(message.type()) && !/status of 4\d\d/.test(message.text()))
        this.complaints.push(`${message.type()}: ${message.text()}`);
    });
    page.on('pageerror', (error) => this.complaints.push(`script: ${error.message}`));
    page.on('dialog', (dialog) => {
      if (dialog.type() !== 'beforeunload') this.complaints.push(`dialog: ${dialog.message()}`);
      void dialog.accept();
    });
    page.on('request', (request) => {
      const { hostname, protocol } = new URL(request.url());
      if (hostname !== '127.0.0.1' && !['blob:', 'data:'].includes(protocol))
        this.complaints.push(`request to ${hostname}`);
    });
  }
}

/** What axe finds on a page by the rules of WCAG 2.2 AA. @param rules names of those that are asked; default: all */
export async function axeOf(page: Page, rules?: readonly string[]): Promise<string[]> {
  // Evaluated by the browser's debugger: the policy of the page holds for its own scripts.
  await page.evaluate(`${AXE};undefined`);
  const { violations } = (await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(rules ?? ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])} })`,
  )) as { violations: Array<{ id: string; help: string; nodes: Array<{ html: string; failureSummary: string }> }> };
  return violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary}`)
        .slice(0, 3)
        .join(' | ')}`,
  );
}

/** How far the page is wider than its window; 0 = nothing has to be scrolled aside. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}

/** Tables that are wider than their frame, by their captions: part of them is out of sight until somebody scrolls them. */
export function wideTablesOf(page: Page): Promise<string[]> {
  return page.evaluate(
    '[...document.querySelectorAll(".table-frame")].filter((one) => one.scrollWidth > one.clientWidth).map((one) => `${one.querySelector("caption")?.textContent}: ${one.scrollWidth - one.clientWidth} pixels`)',
  );
}

interface Stop {
  readonly first: boolean;
  readonly what: string;
  readonly isSeen: boolean;
}

/** What the walk with the Tab key comes to, in its order, until it begins again; each with whether one can see that it has the focus. */
export async function walkOf(page: Page): Promise<Array<{ readonly what: string; readonly isSeen: boolean }>> {
  await page.evaluate('document.activeElement?.blur(), window.scrollTo(0, 0)');
  const stops: Array<{ what: string; isSeen: boolean }> = [];
  for (let n = 0; n < 400; n += 1) {
    await page.keyboard.press('Tab');
    const look = `(() => {
      const at = document.activeElement;
      if (!at || at === document.body) return null;
      at.walked ??= ${n} + 1;
      const box = at.getBoundingClientRect();
      const style = getComputedStyle(at);
      const around = at.closest('.cm-editor');
      const outline = around ? getComputedStyle(around) : style;
      return {
        first: at.walked === ${n} + 1,
        what: at.tagName.toLowerCase() + ' ' + (at.getAttribute('aria-label') ?? at.textContent ?? at.getAttribute('name') ?? '').trim().slice(0, 40),
        isSeen: box.width > 0 && box.height > 0 && outline.outlineStyle !== 'none' && parseFloat(outline.outlineWidth) >= 2,
      };
    })()`;
    let stop = (await page.evaluate(look)) as Stop | null;
    // The editor shows its focus a moment later.
    for (let looks = 0; looks < 20 && stop?.isSeen === false; looks += 1) {
      await page.waitForTimeout(100);
      stop = (await page.evaluate(look)) as Stop | null;
    }
    if (!stop || !stop.first) return stops;
    stops.push({ what: stop.what, isSeen: stop.isSeen });
  }
  return stops;
}
