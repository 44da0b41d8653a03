import { createHash } from 'node:crypto';
import type { Owner } from './forge-process.js';
import { REPOSITORY, SENDER, ZERO_SHA } from '../../builders/sample-bodies.js';

/** A delivery that no rule wants anything of. */
export interface QuietBody {
  readonly n: number;
  readonly eventType: 'push' | 'issues' | 'create';
  readonly text: string;
}

const sha = (text: string): string => createHash('sha1').update(text).digest('hex');

/** Nobody else's ids. */
const FIRST_ID = 1_000_000;

/** So many distinct facts, a push of about 7 kB among three kinds; the same numbers give the same texts. */
export function quietBodies(count: number, seed: number, owner: Owner = REPOSITORY.owner): QuietBody[] {
  return Array.from({ length: count }, (_, n) => {
    const common = {
      repository: {
        ...REPOSITORY,
        id: FIRST_ID + (n % 20),
        name: `app-${n % 20}`,
        full_name: `${owner.login}/app-${n % 20}`,
        owner,
      },
      sender: SENDER,
    };
    if (n % 10 === 8)
      return {
        n,
        eventType: 'create',
        text: JSON.stringify({ ref: `topic-${seed}-${n}`, ref_type: 'branch', sha: sha(`${seed}/${n}`), ...common }),
      };
    if (n % 10 === 9)
      return {
        n,
        eventType: 'issues',
        text: JSON.stringify({
          action: 'opened',
          number: n + 1,
          issue: { id: FIRST_ID + n, number: n + 1, title: `storm ${seed}/${n}`, state: 'open' },
          ...common,
        }),
      };
    const commits = Array.from({ length: 12 }, (__, i) => ({
      id: sha(`${seed}/${n}/${i}`),
      message: `commit ${i} of push ${n}\n\n${'why it had to be done, at some length. '.repeat(10)}`,
      added: [`src/file-${n}-${i}.ts`],
      modified: [],
      removed: [],
    }));
    return {
      n,
      eventType: 'push',
      text: JSON.stringify({
        ref: 'refs/heads/main',
        before: n === 0 ? ZERO_SHA : sha(`${seed}/${n - 1}/11`),
        after: sha(`${seed}/${n}/11`),
        commits,
        total_commits: 12,
        pusher: SENDER,
        ...common,
      }),
    };
  });
}
