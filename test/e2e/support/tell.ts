/** A line for people in the output of the suite; figures of a proof belong there, pass or fail. */
export function tell(line: string): void {
  process.stderr.write(`    ${line}\n`);
}
