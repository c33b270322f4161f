import type { CaptureContent, PlacedMessage } from '../../records/conversation/message.ts';
import type { AgentPane } from './ui-state.ts';

/** Shows at once what the person captured, before the ledger confirms it. */
export function withCapture(pane: AgentPane, content: CaptureContent): AgentPane {
  return withCaptureSent({ ...pane, capture_sent: [...pane.capture_sent, content] });
}

/** Removes captured text that did not reach the ledger. */
export function withoutCapture(pane: AgentPane, content: CaptureContent): AgentPane {
  return withCaptureSent({ ...pane, capture_sent: pane.capture_sent.filter((one) => one !== content) });
}

/** Applies a capture message from the ledger, if it is the agent's own and not inherited. */
export function seeCapture(pane: AgentPane, message: PlacedMessage, agent_id: string): AgentPane {
  if (message.kind !== 'capture' || message.agent_id !== agent_id) return pane;
  const { text, mark } = message.content;
  const told = pane.capture_sent.findIndex((one) => one.text === text && one.mark === mark);
  const capture_sent = told < 0 ? pane.capture_sent : pane.capture_sent.toSpliced(told, 1);
  return withCaptureSent({ ...pane, captured: afterCapture(pane.captured, message.content), capture_sent });
}

/** The lines of the capture that is open at the end of a conversation; null if none is. */
export function captureIn(messages: readonly PlacedMessage[], agent_id: string): readonly string[] | null {
  return messages.reduce(
    (open: readonly string[] | null, one) =>
      one.kind === 'capture' && one.agent_id === agent_id ? afterCapture(open, one.content) : open,
    null,
  );
}

export function withCaptureSent(pane: AgentPane): AgentPane {
  return { ...pane, capture: pane.capture_sent.reduce(afterCapture, pane.captured) };
}

/** The lines of the open capture after one more capture message; null if none is open. */
export function afterCapture(
  open: readonly string[] | null,
  { text, mark }: CaptureContent,
): readonly string[] | null {
  if (mark === 'begun') return open ?? [];
  if (mark === 'ended') return null;
  return open === null ? null : [...open, ...text.split('\n')];
}
