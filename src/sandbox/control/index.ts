import type { ControlRoute } from './router.js';
import { actListRoute, actRoute } from '../acts/act-routes.js';
import { deliveryFaultRoute, deliveryHistoryRoute } from '../deliveries/delivery-routes.js';
import { faultEndRoute, faultListRoute, faultRoute } from '../faults/fault-route.js';
import { accountRoute } from './account-route.js';
import { givenRoute } from './given.js';
import { hookRoute } from './hook-route.js';
import { ledgerRoute } from './ledger-route.js';
import { runnerRoute } from './runner-route.js';
import { tokenRoute } from './token-route.js';
import { worldRoute } from './world-route.js';

/** Control routes; one line each. */
export const controlRoutes: readonly ControlRoute[] = [
  givenRoute,
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
