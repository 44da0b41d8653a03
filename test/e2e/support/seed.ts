import { randomInt } from 'node:crypto';

/** Another one each time, so that many runs see many courses; `FORGEHAND_TEST_SEED` repeats one. */
export function chooseSeed(): number {
  const given = Number(process.env['FORGEHAND_TEST_SEED']);
  return Number.isInteger(given) && given > 0 ? given : randomInt(1, 2 ** 31);
}
