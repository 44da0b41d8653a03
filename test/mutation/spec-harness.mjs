// What specs import from '@jest/globals' while mutants are tried: enough of it to run the journal's specs in this process, again and again,
// without loading anything anew. `expect` is Jest's own.
import { format } from 'node:util';
import { expect } from 'expect';

export { expect };

/** Cases of the file that is being read, by name, in the order in which they were told. */
let cases = new Map();
let file = '';
let scope = newScope(null, '');

function newScope(parent, name) {
  return { parent, name, beforeEach: [], afterEach: [], beforeAll: [], afterAll: [], isBegun: false };
}

/** The cases that a file tells while it is loaded. */
export async function collect(path, load) {
  cases = new Map();
  file = path;
  scope = newScope(null, '');
  await load();
  return [...cases.values()];
}

export function describe(name, tell) {
  const outer = scope;
  scope = newScope(outer, name);
  tell();
  scope = outer;
}

export function it(title, run) {
  const names = [];
  for (let at = scope; at?.parent; at = at.parent) names.unshift(at.name);
  const full = [file, ...names, title].join(' > ');
  let name = full;
  for (let n = 2; cases.has(name); n += 1) name = `${full} (${n})`;
  cases.set(name, { name, file, scope, run });
}

const each = (one) => (rows) => (title, run) => {
  for (const row of rows) {
    const values = Array.isArray(row) ? row : [row];
    one(format(title, ...values), (...args) => run(...values, ...args));
  }
};
it.each = each(it);
describe.each = each((name, tell) => describe(name, () => void tell()));
export const test = it;

export const beforeEach = (run) => void scope.beforeEach.push(run);
export const afterEach = (run) => void scope.afterEach.push(run);
export const beforeAll = (run) => void scope.beforeAll.push(run);

/** Run one case with what is around it. @throws what the case threw */
export async function runCase({ scope: own, run }) {
  const scopes = [];
  for (let at = own; at; at = at.parent) scopes.unshift(at);
  for (const at of scopes) {
    if (at.isBegun) continue;
    for (const begin of at.beforeAll) await begin();
    at.isBegun = true;
  }
  for (const at of scopes) for (const begin of at.beforeEach) await begin();
  try {
    await run();
  } finally {
    for (const at of scopes.reverse()) for (const end of at.afterEach) await end();
  }
}
