import { isFinding, type Check } from '../doctor/check.js';

/** What checks of the doctor say, in the words of a job. */
export function toldByDoctor(checks: readonly Check[]): { summary: string; findings: string[] } {
  const findings = checks.filter(isFinding).map(({ check, said }) => `${check}: ${said}`);
  const notes = checks.filter(({ state }) => state === 'note').map(({ said }) => said);
  const looked = `${checks.length} ${checks.length === 1 ? 'thing' : 'things'} looked at`;
  return {
    summary: [looked, ...notes, ...(findings.length > 0 ? ['forgehand doctor says what to do'] : [])].join('; '),
    findings,
  };
}
