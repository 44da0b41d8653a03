const RESERVED = [
  '.',
  '..',
  'admin',
  'api',
  'assets',
  'attachments',
  'avatars',
  'explore',
  'ghost',
  'issues',
  'login',
  'new',
  'notifications',
  'org',
  'pulls',
  'repo',
  'user',
];

/** The rule that a name breaks which cannot be that of a user or an organization; undefined when it can. */
export function brokenOwnerName(name: string): string | undefined {
  if (!/^[A-Za-z0-9](?:[-_.]?[A-Za-z0-9])*$/.test(name)) return 'Username';
  return RESERVED.includes(name.toLowerCase()) ? 'Reserved' : undefined;
}
