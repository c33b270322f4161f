import { hostname } from 'node:os';

/** What this machine is called in placements; `COPPICE_HOST` where its name changes (containers). */
export function hostLabel(env: NodeJS.ProcessEnv): string {
  return `host:${env.COPPICE_HOST || hostname()}`;
}

/** `gpu,eu` → labels, with that of this machine. */
export function workerLabels(given: readonly string[], env: NodeJS.ProcessEnv): string[] {
  const named = given.flatMap((text) => text.split(',')).map((label) => label.trim());
  return [...new Set([hostLabel(env), ...named.filter((label) => label !== '')])];
}
