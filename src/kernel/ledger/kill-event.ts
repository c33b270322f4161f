import type { EventContent } from '../../records/conversation/message.ts';

/** What is appended to every agent that a kill ended: who, whom, and how many. `by` is a display name, `you` for the human. */
export function killEvent(
  by: string,
  target: { readonly id: string; readonly name: string },
  descendants: number,
): EventContent {
  const others = descendants === 1 ? '1 descendant' : `${descendants} descendants`;
  return {
    event: 'killed',
    text: `kill event: ${target.name} by ${by}, ${others}`,
    data: { by, target: target.id, target_name: target.name, descendants },
  };
}
