import type { Agent } from '../../../records/agent/agent.ts';
import { isTerminal } from '../../../records/agent/state.ts';
import type { NewMail } from '../../../records/conversation/mail.ts';
import { storable } from '../../../records/text/text.ts';
import type { Decision, ToolsetView } from '../toolset.ts';
import { agentInMessage, find, refuse, settle } from './agent-reference.ts';

/** Sends mail to an agent of the caller's tree; `output` formats the recipient. */
export function sendLetter(
  view: ToolsetView,
  to: string,
  field: string,
  message: string,
  output: (recipient: Agent) => string,
): Decision {
  const found = find(to, field, view);
  if (!found.ok) return found.refused;
  const target = found.agent;
  if (target.id === view.self.id) return refuse('CANNOT_SEND_TO_SELF', 'you cannot send mail to yourself.');
  if (isTerminal(target.state.type))
    return refuse('ALREADY_DEAD', `${agentInMessage(target)} has ended and reads no mail.`);
  const mail: NewMail = {
    id: view.newId(),
    root_id: view.self.root_id,
    to_id: target.id,
    from_id: view.self.id,
    from_name: view.self.name,
    kind: 'letter',
    body: storable(message),
    sent_at: view.now,
  };
  return settle(output(target), { type: 'deliver-mail', mail });
}
