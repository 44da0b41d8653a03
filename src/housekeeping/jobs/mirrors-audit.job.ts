import { withoutUserInfo } from '../../core/without-user-info.js';
import { listAll } from '../../forge/forge-client.js';
import type { PushMirror } from '../../core/objects/repositories.js';
import { eachRepository, lookedOutcome } from './each-repository.js';
import { forgeOf, nightly, type Job } from './job.js';

const HOUR_MS = 3_600_000;
/** A mirror is late when it missed so many of its turns, and at least a day. */
const TURNS = 3;

/** Push mirrors that fail, or did not run for long (op 19). */
export const auditMirrors: Job = {
  name: 'mirrors.audit',
  summary: 'push mirrors that fail, or did not run for long',
  per: 'organization',
  schedule: nightly(4),
  when: 'nightly',
  isAudit: true,
  async run(turn) {
    const { client } = forgeOf(turn);
    const now = turn.tools.clock.now();
    let mirrors = 0;
    const looked = await eachRepository(turn, async (at) => {
      const ownMirrors = await listAll(client, 'listPushMirrors', at);
      mirrors += ownMirrors.length;
      return ownMirrors.flatMap((mirror) => mirrorFault(mirror, now) ?? []);
    });
    return lookedOutcome(looked, `${mirrors} push mirrors; `);
  },
};

/** What is wrong with a mirror; null = nothing. Pure. */
export function mirrorFault(mirror: PushMirror, now: Date): string | null {
  const where = `the mirror to ${withoutUserInfo(mirror.remote_address ?? mirror.remote_name ?? '?')}`;
  const error = withoutUserInfo(mirror.last_error ?? '')
    .trim()
    .split('\n', 1)[0];
  if (error) return `${where} fails: ${error.slice(0, 200)}`;
  const everyMs = intervalMs(mirror.interval ?? '');
  const last = Date.parse(mirror.last_update ?? mirror.created ?? '');
  if (everyMs === 0 || Number.isNaN(last)) return null;
  const ageMs = now.getTime() - last;
  return ageMs > Math.max(TURNS * everyMs, 24 * HOUR_MS)
    ? `${where} ran last ${Math.floor(ageMs / HOUR_MS)} h ago; it should every ${mirror.interval ?? ''}`
    : null;
}

/** `8h0m0s` in ms; 0 = it runs on pushes alone. */
function intervalMs(text: string): number {
  const [, hours = 0, minutes = 0, seconds = 0] = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(text) ?? [];
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
}
