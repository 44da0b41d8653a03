/** Under this name the shadow revision of an organization is kept; no organization of a forge can be called so. */
export function shadowOrg(org: string): string {
  return `${org}/shadow`;
}

/** The organization whose revisions are kept under this name. */
export function orgOf(name: string): string {
  return name.replace(/\/shadow$/, '');
}
