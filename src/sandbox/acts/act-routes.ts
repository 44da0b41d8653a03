import { ok, Refusal } from '../answer.js';
import { required } from '../control/read.js';
import type { ControlRoute } from '../control/router.js';
import { renderDelivery } from '../deliveries/delivery-routes.js';
import type { World } from '../world.js';
import { acts } from './index.js';
import { performAct } from './perform-act.js';

/**
 * `{ as, act, …parameters }`. Answers the act's result, what happened, and the deliveries queued meanwhile.
 * Unknown parameters are refused.
 */
export const actRoute: ControlRoute = {
  method: 'POST',
  path: '/_sandbox/act',
  run: async ({ parts, body }) => {
    const { as: _as, act: _act, ...params } = body;
    const before = parts.deliveries.history().at(-1)?.n ?? 0;
    const outcome = await performAct(parts, { as: required(body, 'as'), act: required(body, 'act'), params });
    return ok({
      ...outcome,
      deliveries: parts.deliveries
        .history()
        .filter((record) => record.n > before)
        .map(renderDelivery),
    });
  },
};

/** Every act with an example; `?act=name` one alone. */
export const actListRoute: ControlRoute = {
  method: 'GET',
  path: '/_sandbox/act',
  run: ({ parts, query }) => {
    const name = query.get('act');
    const wanted = acts.filter((act) => name === null || act.name === name);
    if (wanted.length === 0) throw new Refusal(404, `no act ${name}`);
    const as = somebody(parts.world);
    return ok({
      acts: wanted.map((act) => ({
        act: act.name,
        summary: act.summary,
        example: { as, act: act.name, ...(act.example as object) },
      })),
    });
  },
};

/** The first member of the first organization: owners may do everything there. */
function somebody({ teams, owners }: World): string {
  const [first] = [...teams.values()][0]?.members ?? [];
  return (first === undefined ? undefined : owners.get(first)?.login) ?? 'somebody';
}
