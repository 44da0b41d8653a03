import { createHmac, randomUUID } from 'node:crypto';
import { request } from 'undici';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import type { Lines } from './lines.js';

/**
 * What somebody would send who knows the address of the hook and what a delivery looks like, but not its secret: a release that was never
 * published. Were it believed, rules about releases would act on it.
 */
export function forgedRelease(repository: JsonObject, tag: string): { headers: Record<string, string>; body: string } {
  const sender = {
    id: 666,
    login: 'mallory',
    full_name: '',
    email: 'mallory@example.org',
    avatar_url: '',
    username: 'mallory',
  };
  const release = {
    id: 6_666,
    tag_name: tag,
    target_commitish: repository.default_branch ?? 'main',
    name: 'Owned',
    body: 'nothing to see',
    draft: false,
    prerelease: false,
    created_at: '2026-01-01T00:00:00Z',
    published_at: '2026-01-01T00:00:00Z',
    author: sender,
    assets: [],
  };
  const body = JSON.stringify({ action: 'published', release, repository, sender });
  const id = randomUUID();
  const signature = createHmac('sha256', 'a guess').update(body).digest('hex');
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'x-gitea-event': 'release',
      'x-gitea-event-type': 'release',
      'x-gitea-delivery': id,
      'x-gitea-signature': signature,
      'x-hub-signature-256': `sha256=${signature}`,
      'x-gitea-hook-installation-target-type': 'organization',
    },
  };
}

/** Sends it and says in one line why it was refused. @returns what became of it, in a few words */
export async function sendForged(
  webhook: string,
  { headers, body }: ReturnType<typeof forgedRelease>,
  lines: Pick<Lines, 'note'>,
): Promise<string> {
  const answer = await request(webhook, { method: 'POST', headers, body });
  const reply = (await answer.body.json().catch(() => null)) as Json;
  if (answer.statusCode < 300) return `taken with ${answer.statusCode}!`;
  const why = isJsonObject(reply) && typeof reply['message'] === 'string' ? reply['message'] : 'the bot gave no reason';
  lines.note(`      the next delivery is refused: ${why}`);
  return `refused with ${answer.statusCode}, not stored`;
}
