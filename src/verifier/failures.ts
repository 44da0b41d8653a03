/** The rule itself fails here (a missing field, a tag that is no version): then it does not fire. */
export class RuleFails extends Error {}
/** This reader cannot tell what the rule wants: the comparison would be worth nothing. */
export class CannotDerive extends Error {}
