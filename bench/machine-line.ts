import { availableParallelism, cpus, loadavg } from 'node:os';

/** Machine on which a benchmark runs: processors, version of Node, and load just before. */
export function machineLine(): string {
  const cpu = cpus()[0]?.model ?? 'unknown processor';
  return `${availableParallelism()} × ${cpu}, Node ${process.versions.node}, load ${loadavg()[0]?.toFixed(1)}`;
}
