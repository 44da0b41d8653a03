import type { Account } from './estate.js';
import { saidIn } from './forge-api.js';

/**
 * A mirror to a host that the server may not (or cannot) reach is refused when it is added. Tried in a repository that is gone afterwards.
 * @param owner of the organization
 * @returns what the server said; null = it takes a mirror to mirror.example.org
 */
export async function refusesMirrors(owner: Account, org: string): Promise<string | null> {
  const at = `/repos/${org}/probe`;
  await owner.api.ask('POST', `/orgs/${org}/repos`, {
    name: 'probe',
    auto_init: true,
    default_branch: 'main',
    private: false,
  });
  const answer = await owner.api.call('POST', `${at}/push_mirrors`, {
    remote_address: `https://mirror.example.org/${org}/probe.git`,
    interval: '8h',
  });
  await owner.api.ask('DELETE', at);
  if (answer.status < 300) return null;
  return `the server refuses a push mirror with ${answer.status} ${saidIn(answer.body)} ([migrations] ALLOWED_DOMAINS, ALLOW_LOCALNETWORKS)`;
}
