import { readFileSync } from 'node:fs';

/** `getconf CLK_TCK` of every Linux that Node runs on. */
const TICKS_PER_S = 100;

/** Processor time of a process with all of its threads so far, in seconds. */
export function processorS(pid: number): number {
  const [user, system] = statOf(pid).slice(11, 13);
  return (Number(user) + Number(system)) / TICKS_PER_S;
}

/** Processor time of the commands that this process has run to their end, in seconds. */
export function commandsS(): number {
  const [user, system] = statOf(process.pid).slice(13, 15);
  return (Number(user) + Number(system)) / TICKS_PER_S;
}

/** Resident memory in MB. */
export function rssMb(pid: number): number {
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  if (!found) throw new Error(`process ${pid} has ended`);
  return Number(found[1]) / 1024;
}

/** The fields of proc_pid_stat(5) from the third on: the second, the name, may hold spaces. */
function statOf(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}
