import type { AgentConfig, CutPlace } from '../../records/agent/agent.ts';
import type { AgentState } from '../../records/agent/state.ts';
import type { Message, PlacedMessage } from '../../records/conversation/message.ts';
import type { Row, TableName } from '../ledger/tables.ts';
import type { ConsistentCut, CutLetter, CutPoint } from './places.ts';
import type { HowCallsRun } from './state-at.ts';

/** What the ledger has of a tree at a cut. Rows are as they are now; parents come before their children, whatever the clocks say. */
export interface CutFacts {
  readonly point: CutPoint;
  readonly tree: Row;
  readonly instructions: string | null;
  readonly members: readonly Row[];
  readonly cut: ConsistentCut;
  readonly letters: readonly CutLetter[];
  /** Whole rows of letters on their way, and of unread outcomes. */
  readonly bodies: ReadonlyMap<string, Row>;
  /** By agent that changed since: its messages up to the cut, from the beginning of a turn. */
  readonly tails: ReadonlyMap<string, readonly PlacedMessage[]>;
  /** Calls that waited for an answer of a person. */
  readonly asked: readonly { readonly agent_id: string; readonly call_id: string }[];
  /** By agent: sums of the requests that ended since. */
  readonly spent_since: ReadonlyMap<string, Row>;
  readonly runs: readonly Row[];
  readonly tasks: readonly Row[];
  /** How many calls of `bash` ended behind the cut. */
  readonly commands: number;
  /** Results of calls on the task list, oldest first, if tasks have changed since. */
  readonly task_calls: readonly PlacedMessage[];
}

/** A change with which the new tree begins. */
export interface CutEdit {
  readonly agent_id: string;
  /** Takes the place of the message behind the cut; null: that message is left out. */
  readonly message: Message | null;
}

export interface CutOrder {
  readonly now: number;
  readonly root_id: string;
  readonly newId: () => string;
  readonly how: HowCallsRun;
  readonly edit?: CutEdit | undefined;
  /** For the agent that the cut names, else for all that have the model of the root. */
  readonly model?: string | undefined;
  /** What else is different for an agent of the new tree. */
  readonly change?: ((config: AgentConfig, is_root: boolean) => AgentConfig) | undefined;
}

/** A tree as it was at a cut: rows of a new one, and what people are told of it. */
export interface CutTree {
  readonly root_id: string;
  readonly place: CutPlace;
  readonly rows: ReadonlyMap<TableName, readonly Row[]>;
  readonly agents: readonly {
    readonly was: string;
    readonly id: string;
    readonly name: string;
    readonly seq: number;
    readonly state: AgentState;
  }[];
  /** Ids of the letters that are on their way again. */
  readonly letters: readonly string[];
}

/** Of the ledger: cuts of trees (docs/time-machine.md). */
export interface CutLedger {
  /** What a new tree needs of this one as it was then; null if there is no such tree. Reads agents, and messages from the cut on. */
  cutFacts(root_id: string, point: CutPoint): Promise<CutFacts | null>;
  /** Enters a new tree; false if what it was cut from was removed meanwhile. Idempotent by its root's id. */
  enterCut(cut: CutTree): Promise<boolean>;
}
