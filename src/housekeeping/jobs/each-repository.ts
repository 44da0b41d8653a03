import { ForgeError } from '../../core/errors.js';
import type { EventRepository } from '../../core/event.js';
import { goPast } from '../../core/go-past.js';
import type { JobReport, JobTurn } from './job.js';

interface Looked {
  readonly looked: number;
  /** Repositories that are gone, hidden from us, or without this part. */
  readonly closed: number;
  readonly findings: readonly string[];
  /** Repositories that the forge could not, or would not, tell about, with the reason. */
  readonly missed: readonly string[];
}

/**
 * Looks at one repository after the other. One that cannot be read does not stop the others.
 * @throws ForgeError when the forge cannot be asked at all
 */
export async function eachRepository(
  turn: JobTurn,
  look: (at: { owner: string; repo: string }, repository: EventRepository) => Promise<readonly string[]>,
): Promise<Looked> {
  const { repositories } = await turn.tools.inventory.read(turn.forge, turn.org);
  const findings: string[] = [];
  let [looked, closed] = [0, 0];
  const all = repositories.filter((repository) => repository['archived'] !== true);
  const failed = await goPast(all, async (repository) => {
    try {
      findings.push(
        ...(await look({ owner: repository.owner, repo: repository.name }, repository)).map(
          (text) => `${repository.full_name}: ${text}`,
        ),
      );
      looked += 1;
    } catch (error) {
      if (!isWithout(error)) throw error;
      closed += 1;
    }
  });
  const missed = failed.map(({ one, error }) => `${one.full_name} could not be looked at: ${error.message}`);
  return { looked, closed, findings, missed };
}

/** It is not there, or has no such part: no audit misses anything. */
function isWithout(error: unknown): boolean {
  if (!(error instanceof ForgeError)) return false;
  return (
    error.kind === 'not-offered' || error.kind === 'moved' || (error.kind === 'refused' && error.facts.status === 404)
  );
}

/** What came of it, as a job tells it. */
export function lookedOutcome(looked: Looked, before: string): JobReport {
  const { findings, missed } = looked;
  return { summary: `${before}${lookedText(looked)}`, findings, missed };
}

function lookedText({ looked, closed, missed }: Looked): string {
  return [
    `${looked} ${looked === 1 ? 'repository' : 'repositories'} looked at`,
    ...(closed > 0 ? [`${closed} closed to us`] : []),
    ...(missed.length > 0 ? [`${missed.length} could not be`] : []),
  ].join(', ');
}
