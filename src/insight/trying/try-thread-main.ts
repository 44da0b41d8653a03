import { workerData } from 'node:worker_threads';
import { serveOrders, type ServedThread } from '../../policies/thread/serve-orders.js';
import { makeTrial } from '../trial.js';
import { TryDesk } from './try-desk.js';
import type { TryAnswer, TryOrder } from './try-orders.js';

/** What the thread for drafts does. Decisions that are not known to be cheap go to a thread for rules of its own, as those of the commands. */
const desk = new TryDesk(makeTrial());
serveOrders<TryOrder, TryAnswer>(workerData as ServedThread, (order) => desk.answer(order));
