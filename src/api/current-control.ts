import type { Control } from './operations/index.js';

/** Who carries control orders out; null until the parts of the bot are made. The listeners answer before. */
export class CurrentControl {
  service: Control | null = null;
}
