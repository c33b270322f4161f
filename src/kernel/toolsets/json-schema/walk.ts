import { cutText } from '../../../records/text/cut-text.ts';

/** Maximum steps of validating one result; a step is one value, or one character against one pattern instruction. */
const STEPS_MAX = 500_000;
const FAULTS_MAX = 8;
/** Maximum characters of a path or name in a message. */
const SHOWN_MAX = 200;
/** Maximum nesting of checks; values nest less deeply (`parseJson`), so this bounds the schemas combined on one value. */
const DEPTH_MAX = 500;

/** Thrown when validation exceeds the limit on steps or on nesting. */
export class TooCostly extends Error {
  override readonly name = 'TooCostly';
}

export type Check = (value: unknown, path: string, walk: Walk) => void;

/** One validation of a value: its remaining steps and the faults so far. */
export class Walk {
  readonly faults: string[] = [];
  readonly #most: number;
  readonly #left: { steps: number };
  #depth = 0;

  constructor(most = FAULTS_MAX, left = { steps: STEPS_MAX }) {
    this.#most = most;
    this.#left = left;
  }

  get isOver(): boolean {
    return this.faults.length >= this.#most;
  }

  fault(path: string, text: string): void {
    if (!this.isOver) this.faults.push(`${path === '' ? 'the result' : shortPath(path)} ${shortPath(text)}`);
  }

  /** Throws `TooCostly`. */
  spend(steps: number): void {
    this.#left.steps -= steps;
    if (this.#left.steps < 0) throw new TooCostly('the check takes too many steps');
  }

  /** Runs checks on one value. Throws `TooCostly`. */
  apply(checks: readonly Check[], value: unknown, path: string): void {
    this.#depth += 1;
    if (this.#depth > DEPTH_MAX) throw new TooCostly('the schema combines too much on one value');
    for (const check of checks) {
      if (this.isOver) break;
      this.spend(1);
      check(value, path, this);
    }
    this.#depth -= 1;
  }

  /** Whether the value passes, without recording faults. */
  passes(checks: readonly Check[], value: unknown, path: string): boolean {
    const aside = new Walk(1, this.#left);
    aside.#depth = this.#depth;
    aside.apply(checks, value, path);
    return aside.faults.length === 0;
  }
}

function shortPath(text: string): string {
  return cutText(text, SHOWN_MAX, '…');
}

/** A nested schema. `same`: the nested schemas that apply to the same value. */
export interface SchemaNode {
  readonly checks: Check[];
  readonly same: SchemaNode[];
}

/** Throws an `Error` if a schema refers to itself without descending into the value: validation would never terminate. */
export function refuseEndlessRecursion(nodes: readonly SchemaNode[]): void {
  const inward = new Map<SchemaNode, number>();
  for (const one of nodes.flatMap((node) => node.same)) inward.set(one, (inward.get(one) ?? 0) + 1);
  const free = nodes.filter((node) => !inward.has(node));
  for (let node = free.pop(); node !== undefined; node = free.pop()) {
    for (const next of node.same) {
      const left = (inward.get(next) ?? 0) - 1;
      inward.set(next, left);
      if (left === 0) free.push(next);
    }
  }
  if ([...inward.values()].some((left) => left > 0))
    throw new Error('it refers to itself without going deeper into the value, so a check would never end');
}
