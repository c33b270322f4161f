import type { Ask } from '../records/conversation/ask.ts';
import { isoTime } from './iso-time.ts';
import type { ApprovalDocument } from './shapes/document-parts.ts';

/** One approval in `coppice/approvals/v1`. */
export function askJson(ask: Ask): ApprovalDocument {
  return {
    id: ask.id,
    agent_id: ask.agent_id,
    agent_name: ask.agent_name,
    root_id: ask.root_id,
    tool: ask.tool,
    subject: ask.subject,
    input: ask.input,
    difference: ask.difference,
    cwd: ask.cwd,
    rule: ask.rule,
    asked_at: isoTime(ask.asked_at),
    verdict: ask.verdict,
    scope: ask.scope,
    note: ask.note,
  };
}
