import type { variable as apiVariable } from '../../core/objects/repositories.js';
import { type Answer, badRequest, conflict, notFound, ok, serverError } from '../answer.js';
import { bind, field } from '../body.js';
import { forUser, onOrganization, onRepository } from '../guards.js';
import { shaped, type Shown } from '../render/view.js';
import { listed } from '../paging.js';
import type { Call, Given, Handler, Handlers } from '../handler.js';
import type { Id } from '../world.js';
import type { Variable } from '../entities/people.js';

/** Where a variable sits: an owner (repoId 0n) or a repository (ownerId 0n). */
interface Place {
  ownerId: Id;
  repoId: Id;
}

const ofOwner = (ownerId: Id): Place => ({ ownerId, repoId: 0n });
const ofRepo = (repoId: Id): Place => ({ ownerId: 0n, repoId });

function variablesOf(call: Call, place: Place): Variable[] {
  return [...call.world.variables.values()].filter(
    (one) => one.ownerId === place.ownerId && one.repoId === place.repoId,
  );
}

/** Stored in upper case. */
function storedName(name: string): string {
  return name.toUpperCase();
}

/** @throws Refusal 400 */
function checkName(name: string): string {
  const stored = storedName(name);
  if (!/^[A-Z_][A-Z0-9_]*$/.test(stored) || /^(GITEA_|GITHUB_)/.test(stored) || stored === 'CI')
    throw badRequest('invalid variable or secret name');
  return stored;
}

/** Line ends become LF. @throws Refusal 400 */
function checkData({ profile }: Call, data: string): string {
  const { maxCharacters } = profile.variables;
  if (maxCharacters !== null && [...data].length > maxCharacters) throw badRequest('data too long');
  return data.replaceAll('\r\n', '\n');
}

function find(call: Call, place: Place): Variable {
  const name = storedName(call.params.variablename ?? '');
  const variable = variablesOf(call, place).find((one) => one.name === name);
  if (!variable) throw notFound('variable not found');
  return variable;
}

function create(call: Call, place: Place): Answer {
  const wish = bind(call, { value: field.text({ required: true }), description: field.text() });
  const wanted = storedName(call.params.variablename ?? '');
  if (variablesOf(call, place).some((one) => one.name === wanted)) throw conflict('variable name already exists');
  const variable: Variable = {
    id: call.world.nextId('variable'),
    ...place,
    name: checkName(wanted),
    data: checkData(call, wish.value ?? ''),
    description: wish.description ?? '',
  };
  call.world.add('variable', call.world.variables, variable);
  return { status: call.profile.variables.created };
}

/** A description that is left out is cleared; an absent or empty name is kept. */
function update(call: Call, place: Place): void {
  const wish = bind(call, { name: field.text(), value: field.text({ required: true }), description: field.text() });
  const variable = find(call, place);
  const name = checkName(wish.name || variable.name);
  const data = checkData(call, wish.value ?? '');
  if (variablesOf(call, place).some((one) => one.name === name && one.id !== variable.id))
    throw serverError('variable name already exists');
  Object.assign(variable, { name, data, description: wish.description ?? '' });
  call.world.changed('variable', variable.id, 'updated');
}

function remove(call: Call, place: Place): void {
  const variable = find(call, place);
  call.world.remove('variable', call.world.variables, variable);
}

function list(call: Call, place: Place): Answer {
  const byName = variablesOf(call, place).sort((a, b) => (a.name < b.name ? -1 : 1));
  return listed(call, byName, (variable) => render(call, variable), { link: true });
}

function render({ view }: Call, variable: Variable): Shown<typeof apiVariable> {
  return shaped(view, 'variable', {
    owner_id: variable.ownerId,
    repo_id: variable.repoId,
    name: variable.name,
    data: variable.data,
    description: variable.description,
  });
}

/** The five operations of one kind of place, behind its guard. */
function handlersOf(
  kind: 'Org' | 'User' | 'Repo',
  guard: (run: (call: Call, place: Place) => Given) => Handler,
): Handlers {
  return {
    [`list${kind}Variables`]: guard(list),
    [`get${kind}Variable`]: guard((call, place) => ok(render(call, find(call, place)))),
    [`create${kind}Variable`]: guard(create),
    [`update${kind}Variable`]: guard(update),
    [`delete${kind}Variable`]: guard(remove),
  };
}

export const variableHandlers: Handlers = {
  ...handlersOf('Org', (run) => onOrganization('owner', (call) => run(call, ofOwner(call.org.id)))),
  ...handlersOf('User', (run) => forUser((call) => run(call, ofOwner(call.user.id)), { noPublicOnly: true })),
  ...handlersOf('Repo', (run) =>
    onRepository({ level: 'owner', units: ['repo.actions'] }, (call) => run(call, ofRepo(call.repo.id))),
  ),
};
