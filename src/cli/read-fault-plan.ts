import { readFileSync } from 'node:fs';
import { parseLocatedYaml } from '../core/located-yaml.js';
import { InvalidFile, UserError } from '../core/errors.js';
import { faultPlanSchema, type FaultPlan } from '../sandbox/faults/fault-plan.js';

/**
 * A plan of faults out of a file, YAML or JSON.
 * @throws InvalidFile naming file, line and column of every mistake
 */
export function readFaultPlan(file: string): FaultPlan {
  const { yaml, problems } = parseLocatedYaml(file, textOf(file));
  if (!yaml) throw new InvalidFile(problems);
  const read = faultPlanSchema.safeParse(yaml.value);
  if (read.success) return read.data;
  throw new InvalidFile(
    read.error.issues.map(({ path, message }) => ({
      file,
      ...yaml.positionOf(path),
      message: `${path.join('.')}: ${message}`,
    })),
  );
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UserError('NO_FILE', `${file} cannot be read: ${(error as Error).message}`);
  }
}
