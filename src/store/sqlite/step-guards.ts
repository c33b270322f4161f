import type { StatementSync } from 'node:sqlite';
import type { Tree } from '../../core/agent.ts';
import { isTerminal } from '../../core/state.ts';
import type { Refusal, Step } from '../../core/step.ts';
import { findWaitCycle, type WaitEdge } from '../../core/wait-cycle.ts';
import type { Row } from '../rows.ts';
import type { GuardRow } from './guard-row.ts';
import type { Statements } from './statements.ts';

/** The guards of a step behind the epoch, in the order of the contract (`store.ts`, Step); null when all admit it. */
export function refusalOf(sql: Statements, step: Step, guard: GuardRow, treeOf: () => Tree): Refusal | null {
  return (
    overLimit(sql, step, guard, treeOf) ??
    badRecipient(sql, step, guard) ??
    consumedLetter(sql, step) ??
    waitCycle(sql, step) ??
    badTarget(sql, step, guard)
  );
}

/** What a step makes is there already: its writer was not told that it was applied. */
export function isThere(sql: Statements, step: Step): boolean {
  return (
    step.create.some(({ agent }) => sql.guard.get(agent.id) !== undefined) ||
    step.send.some((mail) => sql.isSent.get(mail.id) !== undefined)
  );
}

type LimitName = Extract<Refusal, { reason: 'limit' }>['limit'];

/** Law 7: every path that creates an agent passes here. */
function overLimit(sql: Statements, step: Step, guard: GuardRow, treeOf: () => Tree): Refusal | null {
  const created = step.create.length;
  if (created === 0) return null;
  const tree = treeOf();
  const { limits, root_id, live, total } = tree;
  const check = (limit: LimitName, present: number, wanted = created): Refusal | null =>
    present + wanted > limits[limit] ? { reason: 'limit', limit, allowed: limits[limit], present } : null;
  // Who rests holds no place; they are counted only when there seems to be none.
  const checkBusy = (limit: 'children' | 'live', living: number, resting: StatementSync, of: string) =>
    check(limit, living) && check(limit, living - ((resting.get(of) as Row).n as number));
  return (
    check('depth', guard.depth, 1) ??
    checkBusy('children', guard.living_children, sql.restingChildren, step.agent_id) ??
    checkBusy('live', live, sql.restingInTree, root_id) ??
    check('total', total)
  );
}

function badRecipient(sql: Statements, step: Step, guard: GuardRow): Refusal | null {
  const created = new Set(step.create.map((child) => child.agent.id));
  for (const mail of step.send) {
    if (created.has(mail.to_id)) continue;
    const to = sql.guard.get(mail.to_id) as unknown as GuardRow | undefined;
    if (to === undefined || to.root_id !== guard.root_id)
      return { reason: 'recipient', agent_id: mail.to_id, found: 'unknown' };
    if (isTerminal(to.status)) return { reason: 'recipient', agent_id: mail.to_id, found: 'dead' };
  }
  return null;
}

/** Law 6. */
function consumedLetter(sql: Statements, step: Step): Refusal | null {
  for (const { mail_id } of step.consume) {
    if (sql.mailPending.get(mail_id, step.agent_id) === undefined) return { reason: 'consumed', mail_id };
  }
  return null;
}

/** The edges that a step leaves its agent with. */
export function waitEdgesOf({ waits_for, waits_until }: Step): readonly WaitEdge[] {
  return (waits_for ?? []).map((target) => ({ target, until: waits_until[target] ?? null }));
}

/** Law 10. */
function waitCycle(sql: Statements, step: Step): Refusal | null {
  if (step.waits_for === null || step.waits_for.length === 0) return null;
  const edgesOf = (id: string): WaitEdge[] =>
    (sql.edgesOf.all(id) as Row[]).map(({ target, until }) => ({
      target: target as string,
      until: until as number | null,
    }));
  // Edges that are there form no such cycle: one can only go through a new one.
  const known = new Map(edgesOf(step.agent_id).map(({ target, until }) => [target, until]));
  for (const edge of waitEdgesOf(step)) {
    const path = known.get(edge.target) === edge.until ? null : findWaitCycle(step.agent_id, edge, edgesOf);
    if (path !== null) return { reason: 'cycle', path };
  }
  return null;
}

function badTarget(sql: Statements, step: Step, guard: GuardRow): Refusal | null {
  for (const agent_id of step.kill) {
    let at = agent_id;
    for (let hops = 0; at !== step.agent_id; hops += 1) {
      const parent = (sql.parentOf.get(at) as Row | undefined)?.parent_id ?? null;
      if (parent === null || hops > guard.depth + 1_000) return { reason: 'target', agent_id };
      at = parent as string;
    }
    if (agent_id === step.agent_id) return { reason: 'target', agent_id };
  }
  return null;
}
