/** Maintenance that a database server does by itself, and that the embedded store needs to be told to do. */
export abstract class StoreMaintenance {
  abstract maintenance(what: 'analyze' | 'checkpoint' | 'vacuum'): Promise<void>;
}
