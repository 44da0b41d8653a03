/** The tests of every change play one course, so that they are repeatable; `npm run storms` plays others. `FORGEHAND_TEST_SEED` chooses another one here, too. */
const SEED = 20_261_101;

export function chooseSeed(): number {
  const given = Number(process.env['FORGEHAND_TEST_SEED']);
  return Number.isInteger(given) && given > 0 ? given : SEED;
}
