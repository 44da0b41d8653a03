import { workerData } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { actionCatalogue } from '../../actions/index.js';
import { lookupCatalogue } from '../../actions/lookups/index.js';
import { serveRules } from './serve-rules.js';

/** What the thread for rules does. */
const { port, memory } = workerData as { port: MessagePort; memory: Int32Array };
serveRules({ port, memory, actions: actionCatalogue(), lookups: lookupCatalogue() });
