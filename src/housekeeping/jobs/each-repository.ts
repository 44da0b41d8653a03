import { ForgeError } from '../../core/errors.js';
import type { EventRepository } from '../../core/event.js';
import type { JobTurn } from './job.js';

interface Looked {
  readonly looked: number;
  /** Repositories that could not be read: gone, closed to us, or without this part. */
  readonly closed: number;
  readonly findings: readonly string[];
}

/**
 * Looks at one repository after the other. A repository that the bot may not read does not stop the others.
 * @throws ForgeError when the forge cannot be asked now
 */
export async function eachRepository(
  turn: JobTurn,
  look: (at: { owner: string; repo: string }, repository: EventRepository) => Promise<readonly string[]>,
): Promise<Looked> {
  const { repositories } = await turn.tools.inventory.read(turn.forge, turn.org);
  const findings: string[] = [];
  let [looked, closed] = [0, 0];
  for (const repository of repositories) {
    if (repository['archived'] === true) continue;
    try {
      findings.push(
        ...(await look({ owner: repository.owner, repo: repository.name }, repository)).map(
          (text) => `${repository.full_name}: ${text}`,
        ),
      );
      looked += 1;
    } catch (error) {
      if (!(error instanceof ForgeError) || !['refused', 'not-offered', 'moved'].includes(error.kind)) throw error;
      closed += 1;
    }
  }
  return { looked, closed, findings };
}

export function lookedText({ looked, closed }: Looked): string {
  return `${looked} ${looked === 1 ? 'repository' : 'repositories'} looked at${closed > 0 ? `, ${closed} closed to us` : ''}`;
}
