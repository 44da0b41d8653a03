import fc from 'fast-check';

// The gate is repeatable: properties try the same values each time. `FORGEHAND_TEST_SEED` chooses others.
fc.configureGlobal({ seed: Number(process.env.FORGEHAND_TEST_SEED) || 20_261_101 });
