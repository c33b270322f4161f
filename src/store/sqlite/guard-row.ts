import type { Origin } from '../../core/agent.ts';
import type { StateType } from '../../core/state.ts';

/** What the guards of a step look at, of one agent. */
export interface GuardRow {
  readonly epoch: number;
  readonly last_seq: number;
  readonly status: StateType;
  readonly root_id: string;
  readonly parent_id: string | null;
  readonly depth: number;
  readonly living_children: number;
  readonly worker: string | null;
  readonly name: string;
  readonly origin: Origin;
  readonly last_write: string | null;
  /** 1: its tree is being removed. */
  readonly closed: number;
}
