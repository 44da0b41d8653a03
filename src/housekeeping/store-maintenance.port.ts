import { portToken } from '../core/part.js';

/** What a database server does by itself and the embedded store must be told to do. */
export interface StoreMaintenance {
  maintenance(what: 'checkpoint' | 'vacuum'): Promise<void>;
}

export const STORE_MAINTENANCE = portToken<StoreMaintenance>('StoreMaintenance');
