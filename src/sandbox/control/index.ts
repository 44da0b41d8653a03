import type { ControlRoute } from './router.js';
import { actListRoute, actRoute } from '../acts/act-routes.js';
import { deliveryFaultRoute, deliveryHistoryRoute } from '../deliveries/delivery-routes.js';
import { faultEndRoute, faultListRoute, faultRoute } from '../faults/fault-route.js';
import { accountRoute, tokenRoute } from './account-route.js';
import { fixtureRoute } from './fixtures.js';
import { ledgerRoute, worldRoute } from './world-route.js';
import { hookRoute } from './hook-route.js';
import { runnerRoute } from './runner-route.js';

/** Control routes; one line each. */
export const controlRoutes: readonly ControlRoute[] = [
  fixtureRoute,
  ledgerRoute,
  tokenRoute,
  accountRoute,
  hookRoute,
  runnerRoute,
  deliveryHistoryRoute,
  deliveryFaultRoute,
  faultListRoute,
  faultRoute,
  faultEndRoute,
  actRoute,
  actListRoute,
  worldRoute,
];
