/** A field of the form "Try it" with the text of a file that is not in the editor: this, then its path. */
export const EDIT_FIELD = 'edit:';
