import { randomUUID } from 'node:crypto';
import { asksForWorkflow, withWorkflows } from '../../kernel/toolsets/workflow/workflow-toolset.ts';
import { type ComposedText, withAttachments } from '../../records/conversation/attached-text.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { delimiterOf } from '../../records/text/untrusted-text.ts';
import { mentionsIn } from '../../trees/typed/mentions.ts';
import { readMentioned } from '../../trees/typed/read-attachments.ts';
import type { AppContext } from '../app-context.ts';
import { queuedInView } from '../views/input/queued-lines.ts';
import { ShellCommands } from './shell-commands.ts';

/** Attaches to a text what it mentions. Rejects if something may not or cannot be attached. */
export async function withMentioned(app: AppContext, to: string | null, text: string): Promise<ComposedText> {
  const read = await readMentioned(mentionsIn(text), app.called.place(to));
  if (!read.ok)
    throw new CoppiceError('E_INVALID_ARGUMENT', `not sent: ${read.problem}`, {
      hint: 'Leave out its @, and the text is sent without it.',
    });
  return withAttachments(text, read.attachments, delimiterOf(randomUUID()));
}

/**
 * Sends messages of the person in the order in which they were typed; `to`: null begins the conversation. A message that cannot be sent
 * becomes the draft again, unless something else has been typed since, or in line mode, where no draft is visible.
 */
export function writeMessage(app: AppContext, to: string | null, text: string, typed = text): void {
  sendComposed(app, to, () => withMentioned(app, to, text), typed, asksForWorkflow(text));
}

/** The same for a message that is composed in its turn. */
export function sendComposed(
  app: AppContext,
  to: string | null,
  compose: () => Promise<ComposedText>,
  typed: string,
  workflows = false,
): void {
  const { editor } = app;
  app.enqueue(async () => {
    try {
      const message = await compose();
      // An earlier message may have begun the conversation meanwhile.
      const begun = to ?? app.state.view;
      const { config } = app.placeOf(begun);
      if (begun === null) await app.startTree(message, workflows);
      else {
        if (workflows && withWorkflows(config) !== config) await app.runtime.useWorkflows(begun);
        await app.runtime.send(begun, message.text, message);
      }
      const name = to === null || to === app.state.view ? null : app.state.agents.get(to)?.name;
      if (name != null) app.say(`sent to ${name}`, 'good');
    } catch (error) {
      if (editor.text === '' && !app.line_mode) editor.setText(typed);
      throw error;
    }
  });
}

/** Creates the runner of the person's own shell commands. */
export function ownCommands(app: AppContext, output_folder: string): ShellCommands {
  return new ShellCommands({
    output_folder,
    folder: () => (app.followed ? null : app.placeOf(app.state.view).folder),
    view: () => app.state.view,
    dispatch: (event) => app.dispatch(event),
    say: (text, tone) => app.say(text, tone),
    send: (to, message, typed) => sendComposed(app, to, async () => message, typed),
  });
}

/** Takes back the last queued message: it becomes the draft again, above what was typed meanwhile. */
export function takeBack(app: AppContext): void {
  const { editor } = app;
  const { view } = app.state;
  const last = queuedInView(app.state).at(-1);
  if (view === null || last === undefined)
    return app.say('nothing is queued here: there is nothing to take back');
  app.enqueue(async () => {
    if (!(await app.runtime.takeBack(view, last.id))) return app.say('it has already been read');
    app.dispatch({ type: 'taken_back', agent_id: view, mail_id: last.id });
    editor.setText(editor.text === '' ? last.text : `${last.text}\n${editor.text}`);
  });
}
