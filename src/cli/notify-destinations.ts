import type { AnyAction } from '../actions/define-action.js';
import { ensure } from '../actions/look-compare-write.js';
import { notify } from '../actions/notify.action.js';
import type { AlertTarget, OrgConfig } from '../config/app-config.js';
import { readConfig } from '../config/read-config.js';
import { systemClock } from '../core/clock.js';
import { Encryptor } from '../core/encryptor.js';
import { ServiceError, UserError } from '../core/errors.js';
import { hashOf, newId } from '../core/ids.js';
import type { JsonObject } from '../core/json.js';
import { textOf } from '../core/reason.js';
import { Secret } from '../core/secret.js';
import { buildForgeClient } from '../forge/forge-client.js';
import { ServiceMessenger } from '../notify/service-messenger.js';
import type { ForgeAccess } from '../pipeline/execute/forge-access.js';
import { prepareEffect } from '../pipeline/execute/prepare-effect.js';
import { orgsNamed } from './which-org.js';
import { constantIn, stepsOf } from '../rules/language/load/raised-kinds.js';
import type { ParamProgram } from '../rules/language/compile/program.js';
import type { Revision } from '../rules/language/revision.js';
import { loadOrg } from './check-rules.js';
import { ruleFolder } from './rule-folder.js';

/** A place that the bot may send messages to. */
export interface Destination {
  /** `alerts`, or ORG/SECRET. */
  readonly name: string;
  readonly format: string;
  /** @returns what became of the message. @throws ServiceError */
  readonly send: (text: string) => Promise<Pick<TestedDestination, 'outcome' | 'text'>>;
}

/** `taken`: the service says so. `unconfirmed`: it may have taken it. */
export interface TestedDestination {
  readonly name: string;
  readonly format: string;
  readonly outcome: 'taken' | 'refused' | 'not-sent' | 'unconfirmed';
  readonly text: string;
}

interface Where {
  readonly config: string;
  readonly org?: string;
  readonly rules?: string;
  readonly to?: string;
}

const messenger = new ServiceMessenger(systemClock);

/**
 * Every destination that the config and the rules name, each once.
 * @throws InvalidFile where a secret is not there that a worker has; UserError where rules cannot be read
 */
export async function destinationsIn({ config: file, org, rules, to }: Where): Promise<readonly Destination[]> {
  // What a worker reads, so that no secret is silently left out.
  const config = readConfig(file, { reader: 'worker' });
  const orgs = orgsNamed(config.orgs, org);
  if (orgs.length === 0) throw new UserError('NO_SUCH_ORG', `the config has no organization ${org}`);
  if (rules !== undefined && orgs.length > 1)
    throw new UserError(
      'WHICH_ORG',
      'several organizations are in the config: pass --org to say whose rules these are',
    );
  const alerts = config.alerts && org === undefined ? [ofAlerts(config.alerts)] : [];
  if (to === ALERTS) return alerts;
  const ofRules = await Promise.all(
    orgs.map(async (one) => inRules(one, await revisionOf(one, ruleFolder(one, rules)))),
  );
  return [...alerts, ...ofRules.flat()];
}

const ALERTS = 'alerts';

function ofAlerts(target: AlertTarget): Destination {
  const send = async (text: string): Promise<Pick<TestedDestination, 'outcome' | 'text'>> =>
    outcomeOf(await messenger.send({ ...target, text, key: hashOf(newId()), facts: {} }, { addresses: null }));
  return { name: ALERTS, format: target.format, send };
}

function outcomeOf(refusedRecipients: number): Pick<TestedDestination, 'outcome' | 'text'> {
  if (refusedRecipients === 0) return { outcome: 'taken', text: '' };
  return { outcome: 'refused', text: `the mail server refused ${refusedRecipients} of the recipients` };
}

async function revisionOf(org: OrgConfig, folder: string): Promise<Revision> {
  const { revision } = await loadOrg(org, folder);
  if (!revision)
    throw new UserError(
      'BROKEN_RULES',
      `the rules of ${org.label} in ${folder} have problems: forgehand check shows them`,
    );
  return revision;
}

function inRules(org: OrgConfig, { rules }: Revision): readonly Destination[] {
  const destinations = new Map<string, Destination>();
  for (const { action, params } of rules.flatMap(stepsOf)) {
    const to = action.name === notify.name ? secretNameIn(params, 'to') : undefined;
    if (to === undefined) continue;
    const format = String(constantIn(params, 'format') ?? 'known only in a run');
    const credential = secretNameIn(params, 'credential');
    const one = { name: `${org.label}/${to}`, format };
    const wanted = {
      ...{ to: { $secret: to }, format },
      ...(credential === undefined ? {} : { credential: { $secret: credential } }),
    };
    destinations.set([to, format, credential].join(' '), { ...one, send: (text) => sendAs(org, { ...wanted, text }) });
  }
  return [...destinations.values()];
}

/** What the action itself says, and does, with these parameters: the first effect of nobody. */
async function sendAs(org: OrgConfig, params: JsonObject): Promise<Pick<TestedDestination, 'outcome' | 'text'>> {
  if (!notify.params.format.schema.safeParse(params['format']).success)
    return { outcome: 'not-sent', text: 'its format is known only when the rule runs' };
  let refusedRecipients = 0;
  const key = hashOf(newId());
  const prepared = await prepareEffect(
    NOTHING_DONE,
    {
      ...{ id: key, runId: key, effectKey: key, intentKey: key, itemKey: key, orderKey: key, stepNo: 0 },
      ...{ forge: org.forge, org: org.key, action: notify.name, params },
      target: { kind: 'organization', id: null, name: org.name },
    },
    { action: notify as unknown as AnyAction, access: NO_FORGE, settings: org },
    {
      client: NO_FORGE.client,
      remember: () => undefined,
      send: async (message, addresses) => (refusedRecipients = await messenger.send(message, { addresses })),
    },
    NO_FORGE,
    { earlierCalls: 0, openCalls: 0, mark: null },
  );
  if ('reason' in prepared) return { outcome: 'refused', text: textOf(prepared.reason) };
  const outcome = await ensure(notify as unknown as AnyAction, prepared.context, prepared.params);
  return outcome.kind === 'changed'
    ? outcomeOf(refusedRecipients)
    : { outcome: 'refused', text: textOf(outcome.reason) };
}

const NO_FORGE: ForgeAccess = {
  client: buildForgeClient((name) => async () => Promise.reject(new Error(`${name}: a message asks no forge`))),
  offers: () => false,
};

/** A test is nobody's effect: no journal holds it. */
const NOTHING_DONE: Parameters<typeof prepareEffect>[0] = {
  journal: {
    lastSettled: async () => null,
    attemptsOfIntent: async () => [],
    intentsOfRun: async () => [],
    openInOrder: async () => [],
    paused: async () => [],
  },
  clock: systemClock,
  recovery: { sentOfEffects: async () => [] },
  encryptor: new Encryptor(new Secret(hashOf(newId()))),
  targets: { resolve: async (_access, _forge, _org, target) => target },
};

function secretNameIn(params: readonly ParamProgram[], name: string): string | undefined {
  const template = params.find((one) => one.name === name)?.template;
  return template?.kind === 'secret' ? template.name : undefined;
}

const OUTCOMES = { refused: 'refused', unknown: 'unconfirmed' } as const;

/** Sends it one message, and says what became of it. */
export async function testDestination({ name, format, send }: Destination): Promise<TestedDestination> {
  const text = `Test message of Forgehand to ${name}.\nSomebody ran: forgehand notify test`;
  try {
    return { name, format, ...(await send(text)) };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { kind } = error;
    return {
      name,
      format,
      outcome: kind === 'refused' || kind === 'unknown' ? OUTCOMES[kind] : 'not-sent',
      text: error.message,
    };
  }
}
