import type { NewAsk } from '../../core/ask.ts';
import type { Statements } from './statements.ts';

export function enterAsk(sql: Statements, ask: NewAsk): void {
  sql.insertAsk.run(
    ask.id,
    ask.root_id,
    ask.agent_id,
    ask.agent_name,
    ask.call_id,
    ask.tool,
    ask.subject,
    ask.input,
    ask.difference,
    ask.cwd,
    ask.rule,
    ask.asked_at,
  );
}
