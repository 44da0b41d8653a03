import type { ActionFacts } from '../../rules/language/revision.js';
import type { AnyAction } from '../define-action.js';
import { checkParam } from './params.js';

export function factsOf(action: AnyAction): ActionFacts {
  return {
    name: action.name,
    summary: action.summary,
    params: Object.fromEntries(Object.entries(action.params).map(([name, param]) => [name, param.facts])),
    naturalKey: action.naturalKey,
    operations: [...action.operations, ...action.whereOffered],
    requires: action.operations,
    raises: action.raises,
    target: action.target,
    right: action.right,
    ...(action.asksAct ? { asksAct: true as const } : {}),
    ...(action.power ? { power: action.power } : {}),
    checkConstant: (name, value) => {
      const param = action.params[name];
      return param ? checkParam(param, value) : null;
    },
  };
}
