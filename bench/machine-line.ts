import { availableParallelism, cpus, loadavg } from 'node:os';

/** Where a bench ran: processors, Node, and what else the machine had to do just before. */
export function machineLine(): string {
  const cpu = cpus()[0]?.model ?? 'unknown processor';
  return `${availableParallelism()} × ${cpu}, Node ${process.versions.node}, load ${loadavg()[0]?.toFixed(1)}`;
}
