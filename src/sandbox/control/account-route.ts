import { z } from 'zod';
import { created, Refusal } from '../answer.js';
import type { SandboxParts } from '../parts.js';
import { addMember, makeTeam } from '../resources/team.js';
import { makeToken, normalizeScopes } from '../resources/token.js';
import { makeUser } from '../resources/user.js';
import type { User } from '../world.js';
import { checked, list, required, text, userNamed } from './read.js';
import type { ControlRoute } from './router.js';

/** `{ user, scopes?, name? }`: a token for somebody without their password, `all` by default; also where the API cannot make one (`core`). */
export const tokenRoute: ControlRoute = {
  method: 'POST',
  path: '/_sandbox/token',
  run: ({ parts, body }) => {
    const user = userNamed(parts, required(body, 'user'));
    const scopes = body.scopes === undefined ? ['all'] : list(body, 'scopes');
    const token = makeToken(
      parts.world,
      user,
      text(body, 'name') || `control-${parts.world.tokens.size + 1}`,
      scopesOf(scopes),
    );
    return created({ id: token.id, user: user.login, name: token.name, scopes: token.scopes, token: token.value });
  },
};

function scopesOf(scopes: readonly string[]): string[] {
  try {
    return normalizeScopes(scopes);
  } catch (error) {
    throw new Refusal(422, (error as Error).message);
  }
}

const wish = z.strictObject({
  login: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/),
  full_name: z.string().default(''),
  /** Default random; told in the answer. */
  password: z.string().min(1).optional(),
  admin: z.boolean().default(false),
  /** Organization to be a member of. */
  org: z.string().optional(),
  /** Team of that organization; it is made, with write permission, when it is not there. Default `Owners`. */
  team: z.string().default('Owners'),
  /** A token is made under this name; default `sandbox` and a number. */
  token: z.string().optional(),
  scopes: z
    .array(z.string())
    .min(1)
    .default(['all'])
    .transform((scopes, context) => {
      try {
        return normalizeScopes(scopes);
      } catch (error) {
        context.addIssue({ code: 'custom', message: (error as Error).message });
        return z.NEVER;
      }
    }),
});

/** Makes an account (or takes one that is there), puts it into a team and answers a new token for it. */
export const accountRoute: ControlRoute = {
  method: 'POST',
  path: '/_sandbox/accounts',
  run: ({ parts, body }) => {
    const { login, full_name, password, admin, org, team, token: name, scopes } = checked(wish, body);
    const { world } = parts;
    if (world.orgByName(login)) throw new Refusal(409, `${login} is an organization`);
    const user =
      world.userByName(login) ??
      makeUser(world, { login, fullName: full_name, isAdmin: admin, ...(password === undefined ? {} : { password }) });
    if (org !== undefined) join(parts, user, org, team);
    const token = makeToken(world, user, name ?? `sandbox ${world.tokens.size + 1}`, scopes);
    return created({ id: user.id, login: user.login, password: user.password, token: token.value, scopes });
  },
};

function join({ world }: SandboxParts, user: User, orgName: string, teamName: string): void {
  const org = world.orgByName(orgName);
  if (!org) throw new Refusal(404, `no organization ${orgName}`);
  const wanted = teamName.toLowerCase();
  const team =
    [...world.teams.values()].find((one) => one.orgId === org.id && one.name.toLowerCase() === wanted) ??
    makeTeam(world, { org, name: teamName, permission: 'write', includesAllRepositories: true });
  addMember(world, team, user);
}
