import type { ComponentChildren } from 'preact';
import { ActForm, Callout } from './components.js';
import { LookContext, type Look } from './look.js';

export interface NavEntry {
  readonly label: string;
  readonly path: string;
}

/** Addresses of what the browser loads beside the page. */
interface Assets {
  readonly theme: string;
  /** Scripts of the page. */
  readonly scripts: readonly string[];
}

interface Frame {
  readonly title: string;
  readonly assets: Assets;
  readonly look: Look;
  readonly nav: readonly NavEntry[];
  /** The entry that the page belongs to. */
  readonly current: string | null;
  /** Who is logged in; null = nobody, and there is no navigation. */
  readonly name: string | null;
  /** What was done just now. */
  readonly notice?: string | null;
  /** Why what was asked for was not done. */
  readonly problem?: string | null;
  /** Where the browser goes on at once by itself. */
  readonly goOnTo?: string | null;
  readonly children: ComponentChildren;
}

/** The whole document around the view of a page. */
export function Layout({ title, assets, look, nav, current, name, notice, problem, goOnTo, children }: Frame) {
  return (
    <LookContext.Provider value={look}>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <meta name="csp-nonce" content={look.nonce} />
          <meta name="csrf" content={look.csrf} />
          <title>{`${title} · Forgehand`}</title>
          {goOnTo && <meta http-equiv="refresh" content={`0; url=${goOnTo}`} />}
          <link rel="stylesheet" href={assets.theme} />
          {assets.scripts.map((src) => (
            <script type="module" src={src} key={src} />
          ))}
        </head>
        <body>
          <a class="skip" href="#main">
            Skip to the content
          </a>
          <header class="top">
            <div class="top-inner">
              <a class="brand" href="/">
                Forgehand
              </a>
              {name !== null && (
                <div class="who">
                  <a href="/sessions">{name}</a>
                  <ActForm action="/logout" class="inline">
                    <button class="button-plain" type="submit">
                      Log out
                    </button>
                  </ActForm>
                </div>
              )}
            </div>
            {nav.length > 0 && (
              <nav class="nav-inner" aria-label="Main">
                {nav.map(({ label, path }) => (
                  <a href={path} aria-current={path === current ? 'page' : undefined} key={path}>
                    {label}
                  </a>
                ))}
              </nav>
            )}
          </header>
          <main class="main" id="main" tabIndex={-1}>
            {problem && (
              <Callout tone="bad" title="This was not done">
                <p>{problem}</p>
              </Callout>
            )}
            {notice && (
              <div class="callout callout-good" role="status">
                <p>{notice}</p>
              </div>
            )}
            <div class="page-head">
              <h1>{title}</h1>
            </div>
            {children}
          </main>
          <footer class="foot">
            <span data-zone>Times are in UTC.</span>
            <a href="/about">What is shown, to whom, and for how long</a>
          </footer>
        </body>
      </html>
    </LookContext.Provider>
  );
}
