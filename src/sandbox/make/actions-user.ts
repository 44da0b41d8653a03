import type { User } from '../world.js';

/** In whose name workflows write: a person without an account. */
export const ACTIONS_USER: User = {
  kind: 'user',
  id: -2n,
  login: 'gitea-actions',
  fullName: 'Gitea Actions',
  email: 'gitea-actions@noreply.localhost',
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
