import { hostname } from 'node:os';
import { visibleLine } from '../../records/agent/agent-name.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { Store } from '../../store/store.ts';

/** Placements: the labels that a process must have to lead a tree. The label of a machine is `host:NAME`. */
const HOST = 'host:';
const LABEL_MAX = 300;

/** The label of this machine; `COPPICE_HOST` where its host name changes (containers). */
function hostLabel(env: NodeJS.ProcessEnv): string {
  return checkedLabel(HOST + (env.COPPICE_HOST || hostname()));
}

/** Checks that a label is safe to show in lists of workers, logs and hints. Throws `E_INVALID_ARGUMENT`. */
function checkedLabel(label: string): string {
  if (label !== '' && label.length <= LABEL_MAX && label === visibleLine(label)) return label;
  throw new CoppiceError(
    'E_INVALID_ARGUMENT',
    `${JSON.stringify(label.slice(0, LABEL_MAX))} is not a valid label: a label is one line of at most ${LABEL_MAX} visible characters`,
  );
}

/** `gpu,eu` → labels, with that of this machine. */
export function workerLabels(given: readonly string[], env: NodeJS.ProcessEnv): string[] {
  const named = given.flatMap((text) => text.split(',')).map((label) => label.trim());
  return [...new Set([hostLabel(env), ...named.filter((label) => label !== '').map(checkedLabel)])];
}

export interface PlacementOptions {
  readonly label: readonly string[];
  readonly anywhere?: boolean;
}

/** Throws `E_USAGE` if this process leads the tree itself: then nobody would ask where it may be led. */
export function refusePlacement({ label, anywhere = false }: PlacementOptions): void {
  if (label.length > 0 || anywhere)
    throw new CoppiceError('E_USAGE', 'only with --detach do --label and --anywhere choose who leads a tree');
}

/** Binds a tree to this machine, where its folder is, unless `anywhere` is set or the ledger is SQLite, which is on one machine anyway. */
export function placementOf(
  store: Store,
  { label, anywhere }: PlacementOptions,
  env: NodeJS.ProcessEnv,
): string[] {
  const bound = store.kind === 'postgres' && anywhere !== true;
  return [...(bound ? [hostLabel(env)] : []), ...label.map((one) => checkedLabel(one.trim()))];
}

/** Name of the machine that the placement requires, if it is not this one. */
export function otherMachine(placement: readonly string[], env: NodeJS.ProcessEnv): string | undefined {
  return placement.find((label) => label.startsWith(HOST) && label !== hostLabel(env))?.slice(HOST.length);
}

/** Labels of a placement without the machine label. */
export function workerLabelsOf(placement: readonly string[]): string[] {
  return placement.filter((label) => !label.startsWith(HOST));
}
