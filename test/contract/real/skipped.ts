import { saidIn } from '../../../src/cli/real-forge/forge-api.js';
import type { PlayedStep } from '../play.js';
import type { Story } from '../story.js';
import { isExchange } from '../story.js';

/** A story cannot be played on this server, which proves nothing against it. */
export class Skipped extends Error {}

/** Why a story cannot be played on a server that is known by its API alone; null when it can. */
export function needsMore(story: Story): string | null {
  const wantsRunner =
    story.given.some((entry) => entry.runner !== undefined || entry.runs !== undefined) ||
    story.steps.some((step) => !isExchange(step));
  if (wantsRunner) return 'it needs a runner that works when a step says so';
  const wantsPages = story.steps.some((step) => isExchange(step) && step.web);
  return wantsPages ? 'it needs pages, whose cookies and settings are of each server alone' : null;
}

/** What a setting of a server may refuse although the recorded servers took it. */
const SETTINGS = [
  {
    method: 'POST',
    path: /\/push_mirrors$/,
    setting: '[migrations] ALLOW_LOCALNETWORKS (and ALLOWED_DOMAINS) or [mirror] ENABLED',
  },
  { method: 'POST', path: /^\/orgs$/, setting: '[service] DEFAULT_ALLOW_CREATE_ORGANIZATION' },
] as const;

/** @throws Skipped where an answer shows that the server is set up otherwise than the recorded ones */
export function mindSettings(played: PlayedStep): void {
  if (played.kind !== 'answered') return;
  const { step, recorded, answer } = played;
  if (recorded.status >= 300 || answer.status < 400 || answer.status >= 500) return;
  const found = SETTINGS.find(({ method, path }) => step.request.method === method && path.test(step.request.path));
  if (found)
    throw new Skipped(
      `the server refuses step ${step.n} (${step.title}) with ${answer.status} ${saidIn(answer.body)}: a matter of ${found.setting}`,
    );
}
