/** What a server says it is. */
export interface ServerKind {
  readonly product: 'gitea' | 'forgejo' | 'unknown';
  readonly version: string | null;
}

/** The first Gitea whose code differs; its first candidate still does as older ones. */
const CHANGED = [1, 27] as const;
const AS_BEFORE = '1.27.0-rc0';

function isGiteaAfterChange({ product, version }: ServerKind): boolean {
  const read = /^v?(\d+)\.(\d+)/.exec(version ?? '');
  if (product !== 'gitea' || !read || version?.startsWith(AS_BEFORE)) return false;
  const [major, minor] = [Number(read[1]), Number(read[2])];
  return major > CHANGED[0] || (major === CHANGED[0] && minor >= CHANGED[1]);
}

/** Whether a hook's Authorization header reads as empty whatever it is. */
export function hidesAuthorization(server: ServerKind): boolean {
  return isGiteaAfterChange(server);
}

/** Section of the server's file in which `ALLOWED_HOST_LIST` is; the old one is still read (webhooks 8). */
export function hostListSections(server: ServerKind): readonly string[] {
  return isGiteaAfterChange(server) ? ['security'] : server.version === null ? ['webhook', 'security'] : ['webhook'];
}
