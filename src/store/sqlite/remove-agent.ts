import type { Statements } from './statements.ts';

/** Deletes a conversation that has ended and that nothing builds on; its row in the run history stays. */
export function removeAgent(sql: Statements, id: string, parent_id: string, at: number): void {
  if (sql.removable.get(id, parent_id) === undefined) return;
  deleteConversation(sql, id);
  sql.cleaned.run(at, id);
}

export function deleteConversation(sql: Statements, id: string): void {
  sql.removeMessages.run(id);
  sql.removeMail.run(id);
  sql.removeRequests.run(id);
  sql.leaveUnled.run(id);
  sql.removeAgent.run(id);
}
