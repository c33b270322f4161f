import type { FactKeys, FactKind, FactKinds, Facts } from '../../kernel/ledger/facts.ts';
import { keptIn } from '../../records/kept-in.ts';
import { FACT_QUERIES } from '../ledger/fact-queries.ts';
import type { Row } from '../ledger/rows.ts';

/** Keys by kind, as `coppice_facts` takes them. */
type Keys = { [Kind in FactKind]?: string[] };

/** Thrown when a decision needs facts that have not been read; it runs again once they are. Not an error: nothing failed. */
export class MissingFacts {
  readonly keys: Keys;

  constructor(keys: Keys) {
    this.keys = keys;
  }
}

/** The facts read in one transaction. */
export class PostgresFacts implements Facts {
  now = 0;
  readonly #known = new Map<FactKind, Map<string, unknown>>();

  get<Kind extends FactKind>(kind: Kind, key: string): FactKinds[Kind] {
    const fact = this.#known.get(kind)?.get(key);
    if (fact === undefined) throw new MissingFacts({ [kind]: [key] });
    return fact as FactKinds[Kind];
  }

  prefetch(keys: FactKeys): void {
    const missing = this.missing(keys);
    if (Object.keys(missing).length > 0) throw new MissingFacts(missing);
  }

  /** Returns those of the wanted keys whose facts have not been read. */
  missing(wanted: FactKeys): Keys {
    const missing: Keys = {};
    for (const [name, keys] of Object.entries(wanted)) {
      const kind = name as FactKind;
      const known = this.#known.get(kind);
      const unknown = [...new Set(keys)].filter((key) => known?.has(key) !== true);
      if (unknown.length > 0) missing[kind] = unknown;
    }
    return missing;
  }

  /** Adds the result of `coppice_facts`: for each kind the rows found for each key; for some kinds also for keys that were not asked for. */
  add(answers: readonly Row[]): void {
    for (const { kind, answer } of answers as unknown as { kind: FactKind | 'now'; answer: unknown }[]) {
      if (kind === 'now') this.now = answer as number;
      else
        for (const [key, rows] of Object.entries((answer ?? {}) as Record<string, Row[] | null>))
          keptIn(this.#known, kind, () => new Map()).set(key, FACT_QUERIES[kind].read(rows ?? []));
    }
  }
}
