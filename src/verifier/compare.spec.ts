import { describe, expect, it } from '@jest/globals';
import { compareForge } from './compare.js';
import type { Snapshot, Variable } from './handover.js';
import { Model } from './model.js';

const forgeWith = (orgVariables: Readonly<Record<string, Variable>>): Snapshot => ({
  repos: [],
  orgVariables,
  accountVariables: {},
  accountSettings: {},
});

function compared(wanted: Variable, found: Variable): string[] {
  const model = new Model(forgeWith({}));
  model.orgVariables.set('STAGE', { by: 'stage', value: wanted });
  return compareForge(model, forgeWith({ STAGE: found })).map(({ verdict, item }) => `${verdict} ${item}`);
}

describe('verifier/compare', () => {
  it.each([
    ['the same => equal', 'two', 'two', ['ok STAGE = a (two)']],
    [
      'another description => missing and extra',
      'two',
      'three',
      ['missing STAGE = a (two)', 'extra STAGE = a (three)'],
    ],
    ['none where the forge keeps them => missing and extra', 'two', '', ['missing STAGE = a (two)', 'extra STAGE = a']],
    ['a forge that keeps no descriptions => equal', 'two', null, ['ok STAGE = a']],
  ])('compares descriptions of variables: %s', (_what, wanted, found, findings) => {
    expect(compared({ value: 'a', description: wanted }, { value: 'a', description: found })).toEqual(findings);
  });
});
