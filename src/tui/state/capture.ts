import { afterCapture } from '../../records/conversation/capture.ts';
import type { CaptureContent, PlacedMessage } from '../../records/conversation/message.ts';
import type { AgentPane } from './ui-state.ts';

/** What the person just did with a capture, which the ledger has not told back yet: shown at once. */
export function withCapture(pane: AgentPane, content: CaptureContent): AgentPane {
  return shown({ ...pane, capture_sent: [...pane.capture_sent, content] });
}

/** It did not reach the ledger. */
export function withoutCapture(pane: AgentPane, content: CaptureContent): AgentPane {
  return shown({ ...pane, capture_sent: pane.capture_sent.filter((one) => one !== content) });
}

/** A row of the ledger: an agent's own; what it inherited is its parent's affair. */
export function seeCapture(pane: AgentPane, message: PlacedMessage, agent_id: string): AgentPane {
  if (message.kind !== 'capture' || message.agent_id !== agent_id) return pane;
  const { text, mark } = message.content;
  const told = pane.capture_sent.findIndex((one) => one.text === text && one.mark === mark);
  const capture_sent = told < 0 ? pane.capture_sent : pane.capture_sent.toSpliced(told, 1);
  return shown({ ...pane, captured: afterCapture(pane.captured, message.content), capture_sent });
}

/** The capture that a conversation leaves open. */
export function captureIn(messages: readonly PlacedMessage[], agent_id: string): readonly string[] | null {
  return messages.reduce(
    (open: readonly string[] | null, one) =>
      one.kind === 'capture' && one.agent_id === agent_id ? afterCapture(open, one.content) : open,
    null,
  );
}

export function shown(pane: AgentPane): AgentPane {
  return { ...pane, capture: pane.capture_sent.reduce(afterCapture, pane.captured) };
}
