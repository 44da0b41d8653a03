// Runs TypeScript as it stands: `node --import ./test/register-swc.mjs test/contract/main.ts …`.
// For our tools only (contract, recordings, benches, the demo's verifier); the product runs from `dist`.
import { register } from 'node:module';

process.setSourceMapsEnabled(true);
register('./swc-hooks.mjs', import.meta.url);
