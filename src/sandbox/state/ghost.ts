import type { User } from './people.js';

/** In whose place a deleted account is shown. */
export const GHOST: User = {
  kind: 'user',
  id: -1n,
  login: 'Ghost',
  fullName: '',
  email: '',
  password: '',
  isAdmin: false,
  visibility: 'public',
  created: 0,
  lastLogin: 0,
  website: '',
  description: '',
  location: '',
  language: '',
  theme: '',
  diffViewStyle: '',
  hideEmail: true,
  hideActivity: false,
  pronouns: '',
  hidePronouns: false,
  repoUnitHints: false,
  restricted: false,
  prohibitLogin: true,
  mustChangePassword: false,
};
