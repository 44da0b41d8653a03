// npm run bench -- NAME [ARGUMENTS]: runs bench/NAME/main.ts (docs/bench.md).
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, runProgram } from '../test/tools/run-program.mjs';

/** They measure with PostgreSQL and Redis. */
const ON_SERVICES = new Set(['console', 'drain', 'flood', 'latency', 'runs', 'scale', 'weight']);

const names = readdirSync(join(ROOT, 'bench')).filter((name) => existsSync(join(ROOT, 'bench', name, 'main.ts')));
const benches = names.map((name) => [name, { file: `bench/${name}/main.ts`, needsServices: ON_SERVICES.has(name) }]);

runProgram('bench', { ...Object.fromEntries(benches), fixtures: { file: 'bench/backtest/fixtures.ts' } });
