/**
 * The vocabulary of hook events: which name a hook subscribes to, and which precise and family names a delivery carries.
 * One row per `X-Gitea-Event-Type`. Source: reference/webhooks.md section 3, recordings.
 */
interface HookEvent {
  /** Precise name, sent as `X-Gitea-Event-Type`. */
  readonly type: string;
  /** Family name, sent as `X-Gitea-Event`. */
  readonly family: string;
  /** Name under which a hook stores its subscription. */
  readonly name: string;
  /** Spaces of indentation; the servers write two, but one for these. */
  readonly indent?: 1;
  /** The branch filter of a hook applies. */
  readonly filtered?: true;
}

export const HOOK_EVENTS = [
  { type: 'create', family: 'create', name: 'create', filtered: true },
  { type: 'delete', family: 'delete', name: 'delete', filtered: true },
  { type: 'fork', family: 'fork', name: 'fork' },
  { type: 'push', family: 'push', name: 'push', filtered: true },
  { type: 'issues', family: 'issues', name: 'issues' },
  { type: 'issue_assign', family: 'issues', name: 'issue_assign' },
  { type: 'issue_label', family: 'issues', name: 'issue_label' },
  { type: 'issue_milestone', family: 'issues', name: 'issue_milestone' },
  { type: 'issue_comment', family: 'issue_comment', name: 'issue_comment' },
  { type: 'pull_request', family: 'pull_request', name: 'pull_request' },
  { type: 'pull_request_assign', family: 'pull_request', name: 'pull_request_assign' },
  { type: 'pull_request_label', family: 'pull_request', name: 'pull_request_label' },
  { type: 'pull_request_milestone', family: 'pull_request', name: 'pull_request_milestone' },
  { type: 'pull_request_sync', family: 'pull_request', name: 'pull_request_sync' },
  { type: 'pull_request_review_request', family: 'pull_request', name: 'pull_request_review_request' },
  { type: 'pull_request_comment', family: 'issue_comment', name: 'pull_request_comment' },
  { type: 'pull_request_review_approved', family: 'pull_request_approved', name: 'pull_request_review' },
  { type: 'pull_request_review_rejected', family: 'pull_request_rejected', name: 'pull_request_review' },
  { type: 'pull_request_review_comment', family: 'pull_request_comment', name: 'pull_request_review' },
  { type: 'wiki', family: 'wiki', name: 'wiki', indent: 1 },
  { type: 'repository', family: 'repository', name: 'repository', indent: 1 },
  { type: 'release', family: 'release', name: 'release' },
  { type: 'package', family: 'package', name: 'package' },
  { type: 'status', family: 'status', name: 'status' },
  { type: 'workflow_run', family: 'workflow_run', name: 'workflow_run' },
  { type: 'workflow_job', family: 'workflow_job', name: 'workflow_job' },
  { type: 'action_run_failure', family: 'action_run_failure', name: 'action_run_failure' },
  { type: 'action_run_recover', family: 'action_run_recover', name: 'action_run_recover' },
  { type: 'action_run_success', family: 'action_run_success', name: 'action_run_success' },
] as const satisfies readonly HookEvent[];

export type HookEventType = (typeof HOOK_EVENTS)[number]['type'];

const BY_TYPE = new Map<string, HookEvent>(HOOK_EVENTS.map((event) => [event.type, event]));

export function hookEventOf(type: HookEventType): HookEvent {
  const event = BY_TYPE.get(type);
  if (event === undefined) throw new RangeError(`no such hook event: ${type}`);
  return event;
}

const GROUPS: Record<string, readonly string[]> = {
  issues: ['issues', 'issue_assign', 'issue_label', 'issue_milestone', 'issue_comment'],
  issues_only: ['issues'],
  pull_request: [
    'pull_request',
    'pull_request_assign',
    'pull_request_label',
    'pull_request_milestone',
    'pull_request_comment',
    'pull_request_review',
    'pull_request_sync',
    'pull_request_review_request',
  ],
  pull_request_only: ['pull_request'],
};

/** Which names a server knows (see `TellingStyle`). */
interface EventNames {
  readonly silent: ReadonlySet<HookEventType>;
  readonly reviewNames: 'one' | 'each';
}

/** Under which name a hook of this server asks for an event type. */
export function storedNameOf(type: HookEventType, { reviewNames }: Pick<EventNames, 'reviewNames'>): string {
  const { name } = hookEventOf(type);
  return name === REVIEW && reviewNames === 'each' ? type : name;
}

const REVIEW = 'pull_request_review';

/**
 * Names as a person writes them into a hook, turned into the names the server stores: groups opened, unknown ones dropped,
 * case ignored, each once.
 */
export function storedEventNames(wanted: readonly string[], server: EventNames): string[] {
  const sendable = HOOK_EVENTS.filter(({ type }) => !server.silent.has(type)).map(({ type, name }) => ({
    name: name as string,
    stored: storedNameOf(type, server),
  }));
  const names = wanted.map((name) => name.toLowerCase()).flatMap((name) => GROUPS[name] ?? [name]);
  return [
    ...new Set(
      names.flatMap((name) =>
        sendable.filter((one) => one.name === name || one.stored === name).map(({ stored }) => stored),
      ),
    ),
  ];
}
