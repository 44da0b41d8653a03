// What `@jest/globals` is where specs share one realm (see shared-realm-runtime.cjs): helpers are loaded once and serve many specs, so each name
// leads to what belongs to the spec that runs.
const GLOBALS = Symbol.for('forgehand.jest.globals');

const ofThisSpec = (name) =>
  new Proxy(function () {}, {
    apply: (_target, self, args) => Reflect.apply(globalThis[GLOBALS][name], self, args),
    get: (_target, key) => globalThis[GLOBALS][name][key],
  });

export const jest = ofThisSpec('jest');
export const expect = ofThisSpec('expect');
export const describe = ofThisSpec('describe');
export const it = ofThisSpec('it');
export const test = ofThisSpec('test');
export const beforeAll = ofThisSpec('beforeAll');
export const beforeEach = ofThisSpec('beforeEach');
export const afterEach = ofThisSpec('afterEach');
export const afterAll = ofThisSpec('afterAll');
