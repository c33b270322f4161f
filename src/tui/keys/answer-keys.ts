import { matchesKey } from '@earendil-works/pi-tui';
import type { AppContext } from '../app-context.ts';
import { dueAnswer, mayAnswer } from '../state/question.ts';
import { pastedText, printable } from './action-of.ts';
import type { Answer } from './answer.ts';

/** A chord of the person's, begun at this time: it answers the question in sight, never one that is not. */
export function answerByChord(app: AppContext, answer: Answer, begun_at: number): void {
  const { asks, question } = app.state;
  if (asks.length === 0) return app.say('nothing waits for your answer');
  if (question === null) return app.dispatch({ type: 'question', shown: true });
  if (!mayAnswer(app.state, begun_at))
    return app.say('that question has just come up: read it, then press the keys again');
  give(app, answer);
}

/** A command that answers: whoever types it has read what it answers, if that was in sight long enough. */
export function answerByCommand(
  app: AppContext,
  answer: Parameters<AppContext['runtime']['answer']>[1],
): void {
  const [ask] = app.state.asks;
  if (ask === undefined) return app.say('nothing waits for your answer');
  if (app.state.question === null) return app.dispatch({ type: 'question', shown: true });
  if (!mayAnswer(app.state, app.state.now))
    return app.say('that question has just come up: read it, then answer again');
  tell(app, ask.id, answer);
}

/** A letter has stayed alone long enough: it leaves the draft and is the answer. */
export function answerByLetter(app: AppContext): void {
  const held = app.state.question?.held ?? null;
  if (held === null) return;
  const answer = dueAnswer(app.state, app.acceptsInput ? app.editor.text : held.text);
  if (answer === null) return;
  if (app.acceptsInput) app.editor.setText('');
  app.dispatch({ type: 'saying', text: null });
  give(app, answer);
}

function give(app: AppContext, answer: Answer): void {
  const [ask] = app.state.asks;
  if (ask === undefined) return;
  switch (answer) {
    case 'allow':
      return tell(app, ask.id, { verdict: 'allow', scope: 'once', note: '' });
    case 'allow_agent':
      return tell(app, ask.id, { verdict: 'allow', scope: 'agent', note: '' });
    case 'deny':
      return tell(app, ask.id, { verdict: 'deny', scope: 'once', note: '' });
    case 'deny_saying':
      return app.dispatch({ type: 'saying', text: '' });
    case 'view_asker':
      return app.dispatch({ type: 'visit', agent_id: ask.agent_id });
  }
}

function tell(app: AppContext, ask_id: string, answer: Parameters<AppContext['runtime']['answer']>[1]): void {
  app.attempt(async () => {
    try {
      await app.runtime.answer(ask_id, answer);
    } finally {
      app.refresh();
    }
  });
}

/** A key while the words of a deny are typed. */
export function sayingKey(app: AppContext, saying: string, data: string): void {
  const [ask] = app.state.asks;
  if (ask === undefined) return;
  if (matchesKey(data, 'enter')) {
    app.dispatch({ type: 'saying', text: null });
    return tell(app, ask.id, { verdict: 'deny', scope: 'once', note: saying });
  }
  const typed = printable(data) ?? pastedText(data);
  const text = matchesKey(data, 'backspace') ? [...saying].slice(0, -1).join('') : saying + (typed ?? '');
  app.dispatch({ type: 'saying', text });
}
