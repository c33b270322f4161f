import type { CaptureContent } from '../../../records/conversation/message.ts';
import type { AppContext } from '../../app-context.ts';
import { paneOf } from '../../state/ui-state.ts';

/** Shows captured text at once, and writes it to the ledger in the order in which it was typed. */
export function capture(app: AppContext, agent_id: string, content: CaptureContent): void {
  app.dispatch({ type: 'captured', agent_id, content });
  app.enqueue(async () => {
    try {
      await app.runtime.capture(agent_id, content.text, content.mark);
    } catch (error) {
      app.dispatch({ type: 'captured', agent_id, content, lost: true });
      throw error;
    }
  });
}

/** `/capture`. */
export function beginCapture(app: AppContext, view: string): void {
  if (paneOf(app.state, view).capture !== null)
    return app.say('a capture is already open: /fork gives it to a child, /cancel ends it');
  capture(app, view, { text: '', mark: 'begun' });
}

/** `/cancel`. */
export function endCapture(app: AppContext, view: string): void {
  if (paneOf(app.state, view).capture === null) return app.say('nothing is being captured', 'bad');
  capture(app, view, { text: '', mark: 'ended' });
  app.say('capture ended; its text stays here and was sent to nobody');
}
