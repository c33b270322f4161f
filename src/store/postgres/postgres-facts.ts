import type { FactKeys, FactKind, FactKinds, Facts } from '../../kernel/ledger/facts.ts';
import { FACT_QUERIES } from '../ledger/fact-queries.ts';
import type { Row } from '../ledger/rows.ts';

/** Keys by kind, as `coppice_facts` takes them. */
type Keys = { [Kind in FactKind]?: string[] };

/** Thrown by a decision that asks for what has not been read yet; it is made anew when that is known. No error: nothing failed. */
export class MissingFacts {
  readonly wanted: Keys;

  constructor(wanted: Keys) {
    this.wanted = wanted;
  }
}

/** What was read of the database in one transaction. */
export class PostgresFacts implements Facts {
  now = 0;
  readonly #known = new Map<FactKind, Map<string, unknown>>();

  get<Kind extends FactKind>(kind: Kind, key: string): FactKinds[Kind] {
    const fact = this.#known.get(kind)?.get(key);
    if (fact === undefined) throw new MissingFacts({ [kind]: [key] });
    return fact as FactKinds[Kind];
  }

  prefetch(wanted: FactKeys): void {
    const missing = this.missing(wanted);
    if (Object.keys(missing).length > 0) throw new MissingFacts(missing);
  }

  /** Those of them that are not known. */
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

  /** `answers`: a row for each kind, with the rows found for each key; some kinds tell more than was asked for. */
  learn(answers: readonly Row[]): void {
    for (const { kind, answer } of answers as unknown as { kind: FactKind | 'now'; answer: unknown }[]) {
      if (kind === 'now') this.now = answer as number;
      else
        for (const [key, rows] of Object.entries((answer ?? {}) as Record<string, Row[] | null>))
          this.#set(kind, key, FACT_QUERIES[kind].read(rows ?? []));
    }
  }

  #set(kind: FactKind, key: string, fact: unknown): void {
    let known = this.#known.get(kind);
    if (known === undefined) {
      known = new Map();
      this.#known.set(kind, known);
    }
    known.set(key, fact);
  }
}
