/** In the place of a rule's id in runs that tell a person what became of what they asked for. */
export const ANSWER_RULE = '@answer';

/** In the place of a rule's id in runs that tell a pull request in the repository of the rules what would become of them. */
export const CHECK_RULE = '@check';

/** In the place of a rule's id where an act of the forge is charged to a person's budget: once, to the event that was charged first. */
export const CHARGED = '@budget';

/** No rule can have such an id. What stands under it needs no revision, and is paused by this name. */
export const OWN_RULES: ReadonlySet<string> = new Set([ANSWER_RULE, CHECK_RULE]);
