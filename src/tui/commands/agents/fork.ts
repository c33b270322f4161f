import { nameOfTask } from '../../../records/agent/agent-name.ts';
import { CoppiceError } from '../../../records/coppice-error.ts';
import type { AppContext } from '../../app-context.ts';
import { withMentioned } from '../../composer/write-message.ts';
import { paneOf } from '../../state/ui-state.ts';

/** `/fork`: creates a child and brings it into view. With a capture, the captured text is its task; without one, the child waits. */
export function fork(app: AppContext, view: string): void {
  const prompt = paneOf(app.state, view).capture?.join('\n') ?? null;
  if (prompt !== null && prompt.trim() === '')
    return app.say('nothing is captured yet: write the task, then /fork', 'bad');
  const name = prompt === null ? `child-${app.state.agents.size}` : nameOfTask(prompt, null);
  app.enqueue(async () => {
    const task = prompt === null ? null : await withMentioned(app, view, prompt);
    if (task?.images !== undefined)
      throw new CoppiceError(
        'E_INVALID_ARGUMENT',
        'a task for a child cannot contain a picture: send it to the child after /fork',
      );
    const child = await app.runtime.fork(view, name, task?.text ?? null, task !== null);
    app.addAgent(child);
    // If another process leads the agent, the event that ends the capture arrives later.
    if (paneOf(app.state, view).capture !== null)
      app.dispatch({ type: 'captured', agent_id: view, content: { text: '', mark: 'ended' } });
    app.dispatch({ type: 'visit', agent_id: child.id });
  });
}
