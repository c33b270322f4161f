import type { NewMail } from '../../core/mail.ts';
import type { Row } from '../rows.ts';

/** A parent that awaits an outcome gets one, also when the child was killed; null when nobody awaits it, or died along. */
export function outcomeOf(row: Row, dead: ReadonlySet<unknown>, by: string, at: number): NewMail | null {
  if (row.parent_id === null || dead.has(row.parent_id) || row.origin === 'fork' || row.origin === 'root')
    return null;
  const outcome = { type: 'failure', error: `Killed by ${by}`, error_kind: 'killed' };
  return {
    id: `killed-${row.id}`,
    root_id: row.root_id as string,
    to_id: row.parent_id as string,
    from_id: row.id as string,
    from_name: row.name as string,
    kind: row.origin === 'session' ? 'announce' : 'outcome',
    body: JSON.stringify({ agent_id: row.id, outcome }),
    sent_at: at,
  };
}
