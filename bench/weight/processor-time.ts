import { childrenCpuMs, usageOf } from '../ingest/children.js';

/** Processor time of a process with all of its threads so far, in seconds. */
export function processorS(pid: number): number {
  return told(pid, usageOf(pid).cpuMs) / 1000;
}

/** Processor time of the commands that this process has run to their end, in seconds. */
export function commandsS(): number {
  return told(process.pid, childrenCpuMs(process.pid)) / 1000;
}

/** Resident memory in MB. */
export function rssMb(pid: number): number {
  return told(pid, usageOf(pid).rss) / 2 ** 20;
}

function told(pid: number, value: number | null): number {
  if (value === null || Number.isNaN(value))
    throw new Error(`nothing is told of process ${pid}: it has ended, or this is no Linux`);
  return value;
}
