/** Tokens of the wiring; ports of a folder carry their own. */
export const GROUND = Symbol('Ground');
export const REVISIONS = Symbol('ActiveRevisions');
export const INVENTORY = Symbol('RepositoryInventory');
export const RULES = Symbol('RuleEngine');
