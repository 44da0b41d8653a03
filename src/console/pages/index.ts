import type { AnyPage } from '../page.js';
import { aboutPage } from './about.page.js';
import { activityPage } from './activity.page.js';
import { auditPage } from './audit.page.js';
import { deliveryPage } from './delivery.page.js';
import { decisionPage, eventPage } from './event.page.js';
import { forgePage } from './forge.page.js';
import { gapsPage } from './gaps.page.js';
import { dryPage, jobsPage } from './jobs.page.js';
import { overviewPage } from './overview.page.js';
import { planPage, plansPage } from './plans.page.js';
import { rulePage, rulesPage } from './rules.page.js';
import { effectPage, runPage } from './run.page.js';
import { tryPage } from './try.page.js';

/** Every page but that of the sessions, which is no matter of the operations. A new one is one line here. */
export const PAGES: readonly AnyPage[] = [
  overviewPage,
  activityPage,
  eventPage,
  decisionPage,
  deliveryPage,
  runPage,
  effectPage,
  rulesPage,
  rulePage,
  plansPage,
  planPage,
  gapsPage,
  forgePage,
  jobsPage,
  dryPage,
  auditPage,
  tryPage,
  aboutPage,
];
