import type { OperatorScope } from '../core/operators.js';
import { tableOf } from '../core/table.js';

/** `owner`: only a caller that has the host (the socket, the store or `control.token`), never an operator. */
export type RouteScope = OperatorScope | 'owner';

/** The scope that each route of the control API needs. A server with a route that is not in this table is not built. */
export const ROUTE_SCOPES: Readonly<Record<string, RouteScope>> = tableOf({
  'GET /metrics': 'read',
  'GET /v1/status': 'read',
  'GET /v1/doctor': 'read',
  'GET /v1/deliveries': 'read',
  'GET /v1/gaps': 'read',
  'GET /v1/runs': 'read',
  'GET /v1/runs/:id': 'read',
  'GET /v1/shadow': 'read',
  'GET /v1/explain': 'read',
  'GET /v1/history': 'read',
  'GET /v1/history/:id': 'read',
  'GET /v1/plans': 'read',
  'GET /v1/plans/:hash': 'read',
  'GET /v1/findings': 'read',
  'GET /v1/audit': 'read',
  'GET /v1/approvals': 'read',
  'GET /v1/housekeeping': 'read',
  'GET /v1/operators': 'read',
  'POST /v1/orgs/:org/hook': 'operate',
  'POST /v1/deliveries/:id/replay': 'operate',
  'POST /v1/intents/:id/retry': 'operate',
  'POST /v1/intents/:id/resolve': 'operate',
  'POST /v1/quarantined/:id/release': 'operate',
  'POST /v1/plans': 'operate',
  'POST /v1/plans/:hash/apply': 'operate',
  'POST /v1/pause': 'operate',
  'POST /v1/resume': 'operate',
  'POST /v1/promote': 'operate',
  'POST /v1/orgs/:org/schedules/:schedule/run': 'operate',
  'POST /v1/housekeeping/:job/run': 'operate',
  'POST /v1/archive/restore': 'operate',
  'POST /v1/plans/:hash/approve': 'approve',
  'POST /v1/approvals/:id': 'approve',
  'POST /v1/store/copy': 'owner',
  'POST /v1/operators': 'owner',
  'POST /v1/operators/:name/revoke': 'owner',
});

/** Null for a route that the table does not know. HEAD takes what GET takes. */
export function scopeOfRoute(method: string, path: string): RouteScope | null {
  const key = `${method === 'HEAD' ? 'GET' : method} ${path}`;
  return Object.hasOwn(ROUTE_SCOPES, key) ? (ROUTE_SCOPES[key] ?? null) : null;
}
