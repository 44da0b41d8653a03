import { defineReasons, textOf, type Reason } from '../../core/reason.js';
import { sayStretched, type StretchedPolls } from '../../core/stretched-polls.js';
import { sayUnknown, sayUnread } from '../../rules/requirements/unknown-names.js';

interface NumberNow {
  readonly org: string;
  readonly number: string | null;
  readonly pinned: string | null;
  readonly calledNow: string | null;
}

/** What the doctor says, by code; the first two words of a code are the check. The same codes in every release. */
export const saw = defineReasons({
  'forge.reached.unasked': ({ url }: { url: string }) => `${url} answers, and was not asked yet`,
  'forge.reached.yes': ({ url, what, lists }: { url: string; what: string; lists: string }) =>
    `${url} is ${what}${lists}`,
  'forge.reached.untold': ({ url, lists }: { url: string; lists: string }) =>
    `${url} answers, and ${url}/version shows no version of Gitea or Forgejo${lists}`,
  'forge.reached.no': ({ url, failure, before }: { url: string; failure: string; before: string }) =>
    `${url} cannot be asked: ${failure}${before}`,
  'forge.slash.passed': () => 'paths with %2F reach the forge',
  'forge.slash.lost': () =>
    'a path with %2F does not reach the forge: the proxy before it refuses or decodes it, so what has a slash in its name (branch release/1.4) cannot be read or changed',
  'forge.clock.hidden': () => 'the forge does not show its time',
  'forge.clock.agrees': () => 'the clocks of the forge and of this machine agree',
  'forge.clock.differs': ({ seconds, isAhead }: { seconds: number; isAhead: boolean }) =>
    `the clock of the forge is ${seconds} s ${isAhead ? 'ahead of' : 'behind'} the one of this machine`,
  'forge.polls.stretched': (polls: StretchedPolls) => sayStretched(polls),
  'account.self.known': ({ login, id }: { login: string; id: string | null }) =>
    `the bot is ${login}${id === null ? '' : ` (${id})`} there`,
  'account.self.unknown': () =>
    'the forge does not say which account the token belongs to: the bot cannot tell its own acts from those of others',
  'account.admin.needless': ({ login }: { login: string }) => `${login} is a site administrator, which no rule needs`,

  'org.number.known': ({ org, number, calledNow }: { org: string; number: string | null; calledNow: string | null }) =>
    `${org} has the number ${number}, which the bot knows${calledNow === null ? ': it goes on under what is kept of it' : ` as ${calledNow}: the config names one organization twice`}`,
  'org.number.ours': ({ org, number }: { org: string; number: string | null }) =>
    `${org} is organization number ${number}`,
  'org.number.untold': ({ org }: { org: string }) =>
    `the forge does not say which number ${org} has: another organization of that name would not be told from it`,
  'org.number.other': ({ org, number, pinned, calledNow }: NumberNow) =>
    `${org} is another organization now (number ${number}, not ${pinned}): the bot neither reads nor changes anything of it${calledNow === null ? '' : `; number ${pinned} is called ${calledNow} now`}`,
  'org.number.renamed': ({ org, calledNow }: { org: string; calledNow: string | null }) =>
    `${org} is called ${calledNow} now: correct orgs[].name`,

  'token.kind.password': () => 'the bot signs in with a password, which allows everything that its account may do',
  'token.reach.one': ({ org }: { org: string }) =>
    `of the organizations in the config, these credentials reach ${org} alone`,
  'token.shared.many': ({ orgs }: { orgs: readonly string[] }) =>
    `one credential reaches ${orgs.length} organizations of the config (${orgs.join(', ')}): a fault in one of them reaches the others`,
  'token.scopes.hidden': ({ needed }: { needed: readonly string[] }) =>
    `the forge does not show the scopes of the token; the rules need ${needed.join(', ')}`,
  'token.scopes.enough': ({ needed }: { needed: readonly string[] }) =>
    `the token has the scopes that the rules need: ${needed.join(', ')}`,
  'token.scopes.missing': ({ scopes }: { scopes: readonly string[] }) => `the token lacks ${scopes.join(', ')}`,
  'token.wide.more': ({ scopes }: { scopes: readonly string[] }) =>
    `the token may do more than the rules need: ${scopes.join(', ')}`,
  'token.age.hidden': () => 'this server does not show when a token was made or used',
  'token.age.young': ({ token, days }: { token: string; days: number }) =>
    `the token ${token} was made ${days} days ago`,
  'token.age.old': ({ token, days }: { token: string; days: number }) => `the token ${token} is ${days} days old`,
  'token.others.used': ({ login, count }: { login: string; count: number }) =>
    `${login} has ${count} more token${count === 1 ? '' : 's'}, none unused for long`,
  'token.others.unused': ({ login, tokens }: { login: string; tokens: readonly string[] }) =>
    `tokens of ${login} that nobody uses: ${tokens.join(', ')}`,

  'waiting.nothing': () => 'nothing waits',
  'waiting.for': ({ code, said, since, what }: { code: string; said: string; since: string; what: string }) =>
    `${said}, since ${since} (${code}; ${what})`,

  'rules.refused.newest': ({ code, first }: { code: string; first: string }) => `${code}: ${first}`,
  'rules.files.broken': ({ first, others, isOldActive }: { first: string; others: number; isOldActive: boolean }) =>
    `the rule files have errors${isOldActive ? ', and the rules of before stay active' : ', and no rules are active'}: ${first}${others === 0 ? '' : ` (and ${others} more)`}`,
  'rules.active.none': ({ org }: { org: string }) => `no revision of the rules of ${org} is active`,
  'rules.active.yes': (active: { rules: number; policies: number; revision: string; ownKb: number }) =>
    `${active.rules} rule${active.rules === 1 ? '' : 's'} and ${active.policies} polic${active.policies === 1 ? 'y' : 'ies'} are active, revision ${active.revision}, with ${active.ownKb} KB of rule files of its own`,
  'rule.held.unmet': ({ id, because }: { id: string; because: Reason }) => `${id} is held back: ${textOf(because)}`,
  'rule.queue.open': ({ id }: { id: string }) =>
    `${id} is a merge queue (update: true), and no policy closes the window in which somebody else may push or merge between its last look and its merge`,
  'rule.queue.closed': ({ id }: { id: string }) => `${id} is a merge queue, and a policy lets only it push and merge`,
  'rule.lacking.unmet': ({ because }: { because: Reason }) => textOf(because),
  'rule.names.unknown': ({ kind, name, place }: { kind: string; name: string; place: string }) =>
    `${place}: ${sayUnknown(kind, name)}`,
  'rule.names.unlooked': () =>
    'the rules are new: what they name is compared with the forge in the next night, or by forgehand doctor --fresh',
  'rule.names.unchecked': ({ kind }: { kind: string }) =>
    `not checked: ${sayUnread(kind)} (too many, or the token may not read them)`,

  'hook.there.unconfigured': ({ org }: { org: string }) =>
    `the config has no webhook for ${org}: the bot learns everything by polling, later`,
  'hook.there.one': ({ hook, url }: { hook: string; url: string }) => `webhook ${hook} points at ${url}`,
  'hook.there.many': ({ count }: { count: number }) =>
    `${count} webhooks point at this bot: each act arrives ${count} times`,
  'hook.there.none': ({ url, id }: { url: string | null; id: string }) =>
    `no webhook of the organization points at ${url ?? `an address that ends in /webhooks/${id}`}: the bot learns everything by polling, later`,
  'hook.there.switched-off': () =>
    'webhooks are switched off on the whole server: the bot learns everything by polling, later',
  'hook.there.not-owner': ({ org }: { org: string }) => `the webhooks of ${org} are shown to its owners alone`,
  'hook.there.scope': () => 'the token may not read webhooks',
  'hook.there.not-offered': () => 'this forge does not list webhooks',
  'hook.there.unreadable': () => 'the webhooks could not be read now',
  'hook.type.own': ({ type }: { type: string }) => `it is of type ${type}`,
  'hook.type.chat': ({ type }: { type: string }) => `it is of type ${type}, which sends texts for a chat`,
  'hook.active.on': () => 'it is active',
  'hook.active.off': () => 'it is switched off: the forge sends nothing, and does not keep it for later',
  'hook.address.unknown': ({ url }: { url: string }) => `it sends to ${url}; whether that is this bot is not known`,
  'hook.address.right': ({ url }: { url: string }) => `it sends to ${url}`,
  'hook.address.wrong': ({ url, own }: { url: string; own: string }) => `it sends to ${url}, and this bot is at ${own}`,
  'hook.content_type.json': () => 'it sends application/json',
  'hook.content_type.form': () => 'it sends forms: the bot reads them, but they are up to three times as large',
  'hook.content_type.other': ({ type }: { type: string }) => `it sends ${type || 'an unknown type'}`,
  'hook.events.unneeded': () => 'the rules need none of its events',
  'hook.events.all': () => 'it subscribes to every event that the rules need',
  'hook.events.missing': ({ events }: { events: readonly string[] }) =>
    `it does not subscribe to ${events.join(', ')}, which the rules need`,
  'hook.branch_filter.open': () => 'its branch filter lets every branch through',
  'hook.branch_filter.closed': ({ filter }: { filter: string }) =>
    `its branch filter ${filter} hides every other branch, and from some versions on all tags`,
  'hook.branch_filter.unneeded': ({ filter }: { filter: string }) =>
    `its branch filter ${filter} hides every other branch, and from some versions on all tags; no rule asks for such events now`,
  'hook.authorization.hidden': () => 'this server does not show the Authorization header of a webhook',
  'hook.authorization.right': () => 'it sends the Authorization header that the config names',
  'hook.authorization.wrong': () => 'it does not send the Authorization header that the config names',

  'console.sessions.short': () =>
    'the Console is on plain http, so its sessions end with the process: people log in again after each restart',

  'delivery.arrives.yes': ({ last }: { last: string | null }) => lastIn(last),
  'delivery.arrives.lost': ({ last, lost }: { last: string | null; lost: number }) =>
    `${lastIn(last)}; polling alone found ${lost} events of the last day`,
  'delivery.arrives.unsent': ({ last }: { last: string | null }) => lastIn(last),
  'delivery.arrives.none': ({ last }: { last: string | null }) => lastIn(last),
  'delivery.arrives.inner-address': ({ last, url, word }: { last: string | null; url: string; word: string }) =>
    `${lastIn(last)}, and ${url} is a ${word} address, to which forges deliver only if their settings allow it`,
  'delivery.authentic.forged': ({ count }: { count: number }) =>
    `${count} requests since the start had no valid signature: somebody forges deliveries, or the webhook has another secret`,
  'delivery.refused.some': ({ counts }: { counts: Readonly<Record<string, number>> }) =>
    `requests refused since the start: ${Object.entries(counts)
      .map(([word, times]) => `${times} ${word}`)
      .join(', ')}`,
  'look.age.stale': ({ what, since }: { what: string; since: string }) => `${what}: not looked at since ${since}`,
  'look.age.never': ({ what }: { what: string }) => `${what}: not looked at yet`,
  'look.answer.failed': ({ what, because, at }: { what: string; because: string; at: string }) =>
    `${what}: the look at ${at} failed: ${because}`,
  'proxy.untrusted.seen': ({ proxies }: { proxies: readonly string[] }) =>
    `deliveries come through ${proxies.join(', ')}, which ${proxies.length === 1 ? 'is not' : 'are not'} in server.trusted_proxies: all senders behind it share the limits of one address`,
});

function lastIn(last: string | null): string {
  return last === null
    ? 'no delivery ever came'
    : `the last delivery came at ${last.replace('T', ' ').slice(0, 16)} UTC`;
}
