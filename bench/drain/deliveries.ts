import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NewDelivery } from '../../src/core/arrival.js';
import { newId } from '../../src/core/ids.js';
import { ROOT } from '../../test/services/with-services.mjs';

/** An act that a Gitea server told, of a kind that no rule of the shipped organization set asks for. */
const RECORDED = [
  { act: '046-push', file: '046-pull-request-synchronized-by-a-push.json' },
  { act: '021-issue-opened', file: '021-issue-opened.json' },
  { act: '033-assigned', file: '033-assigned.json' },
] as const;

const BODY_BYTES = 7 * 1024;
/** Issues are new, branches are pushed to again and again: events of one branch are decided in their order. */
const BRANCHES = 50;

/* The bodies are JSON of a server; only the named fields are touched. */
interface Body {
  repository?: { owner: { id: number } };
  ref?: string;
  after?: string;
  head_commit?: { id: string; message: string };
  commits?: Array<{ id: string; message: string }>;
  number?: number;
  issue?: { id: number; number: number; body: string };
}

interface Recorded {
  readonly event: string;
  readonly eventType: string;
  readonly body: string;
}

/** Recorded bodies of 7 KB, each told once: what makes an act another one is numbered, and one text fills the body up. */
export class RecordedDeliveries {
  private readonly templates = RECORDED.map(({ file }) => read(file));

  /** @param owner number of the organization at the forge: a delivery that gives it another one is refused */
  constructor(private readonly owner: number) {}

  make(n: number): NewDelivery {
    const template = this.templates[n % this.templates.length];
    if (!template) throw new Error('no act is recorded');
    const body = Buffer.from(numbered(template.body, this.owner, n, this.templates.length));
    return {
      id: newId(),
      forge: 'main',
      org: 'acme',
      hook: 'acme',
      eventType: template.eventType,
      event: template.event,
      deliveryId: `d7a10000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`,
      targetType: 'organization',
      contentType: 'json',
      verdict: 'signed',
      body,
      receivedAt: new Date(),
    };
  }
}

function read(file: string): Recorded {
  const { deliveries } = JSON.parse(
    readFileSync(join(ROOT, 'test/recordings/gitea-1.27/acts', file), 'utf8'),
  ) as unknown as { deliveries: Array<{ event: string; event_type: string; body: string }> };
  const [first] = deliveries;
  if (!first) throw new Error(`no delivery in ${file}`);
  return { event: first.event, eventType: first.event_type, body: first.body };
}

function numbered(text: string, owner: number, n: number, kinds: number): string {
  const body = JSON.parse(text) as Body;
  if (body.repository) body.repository.owner.id = owner;
  const turn = Math.floor(n / kinds);
  if (body.issue) {
    const number = 1000 + n;
    Object.assign(body.issue, { id: 100_000 + number, number });
    if (body.number !== undefined) body.number = number;
    return filled(body, (filler) => void (body.issue && (body.issue.body = filler)));
  }
  const sha = (n + 1).toString(16).padStart(40, '0');
  Object.assign(body, { ref: `refs/heads/work-${turn % BRANCHES}`, after: sha });
  if (body.head_commit) body.head_commit.id = sha;
  const [newest] = body.commits ?? [];
  if (newest) newest.id = sha;
  return filled(body, (filler) => void (body.head_commit && (body.head_commit.message = filler)));
}

function filled(body: Body, fill: (filler: string) => void): string {
  fill('');
  const missing = BODY_BYTES - Buffer.byteLength(JSON.stringify(body, null, 2));
  fill(''.padEnd(missing, 'why it has to be done, at some length. '));
  return JSON.stringify(body, null, 2);
}
