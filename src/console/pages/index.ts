import type { AnyPage } from '../page.js';
import { aboutPage } from './about.page.js';
import { overviewPage } from './overview.page.js';
import { tryPage } from './try.page.js';

/** Every page but that of the sessions, which is no matter of the operations. A new one is one line here. */
export const PAGES: readonly AnyPage[] = [overviewPage, tryPage, aboutPage];
