import { portToken } from '../core/part.js';

/** Maintenance that a database server does by itself, and that the embedded store needs to be told to do. */
export interface StoreMaintenance {
  maintenance(what: 'checkpoint' | 'vacuum'): Promise<void>;
}

export const STORE_MAINTENANCE = portToken<StoreMaintenance>('StoreMaintenance');
