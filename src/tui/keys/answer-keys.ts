import { matchesKey } from '@earendil-works/pi-tui';
import type { Answer } from '../answer.ts';
import type { Desk } from '../desk.ts';
import { dueAnswer, mayAnswer } from '../state/question.ts';
import { pastedText, printable } from './action-of.ts';

/** A chord of the person's, begun at this time: it answers the question in sight, never one that is not. */
export function answerByChord(desk: Desk, answer: Answer, begun_at: number): void {
  const { asks, question } = desk.state;
  if (asks.length === 0) return desk.say('nothing waits for your answer');
  if (question === null) return desk.dispatch({ type: 'question', shown: true });
  if (!mayAnswer(desk.state, begun_at))
    return desk.say('that question has just come up: read it, then press the keys again');
  give(desk, answer);
}

/** A command that answers: whoever types it has read what it answers, if that was in sight long enough. */
export function answerByCommand(desk: Desk, answer: Parameters<Desk['runtime']['answer']>[1]): void {
  const [ask] = desk.state.asks;
  if (ask === undefined) return desk.say('nothing waits for your answer');
  if (desk.state.question === null) return desk.dispatch({ type: 'question', shown: true });
  if (!mayAnswer(desk.state, desk.state.now))
    return desk.say('that question has just come up: read it, then answer again');
  tell(desk, ask.id, answer);
}

/** A letter has stayed alone long enough: it leaves the draft and is the answer. */
export function answerByLetter(desk: Desk): void {
  const held = desk.state.question?.held ?? null;
  if (held === null) return;
  const answer = dueAnswer(desk.state, desk.takesInput ? desk.editor.text : held.text);
  if (answer === null) return;
  if (desk.takesInput) desk.editor.setText('');
  desk.dispatch({ type: 'saying', text: null });
  give(desk, answer);
}

function give(desk: Desk, answer: Answer): void {
  const [ask] = desk.state.asks;
  if (ask === undefined) return;
  switch (answer) {
    case 'allow':
      return tell(desk, ask.id, { verdict: 'allow', scope: 'once', note: '' });
    case 'allow_agent':
      return tell(desk, ask.id, { verdict: 'allow', scope: 'agent', note: '' });
    case 'deny':
      return tell(desk, ask.id, { verdict: 'deny', scope: 'once', note: '' });
    case 'deny_saying':
      return desk.dispatch({ type: 'saying', text: '' });
    case 'view_asker':
      return desk.dispatch({ type: 'visit', agent_id: ask.agent_id });
  }
}

function tell(desk: Desk, ask_id: string, answer: Parameters<Desk['runtime']['answer']>[1]): void {
  desk.attempt(async () => {
    try {
      await desk.runtime.answer(ask_id, answer);
    } finally {
      desk.refresh();
    }
  });
}

/** A key while the words of a deny are typed. */
export function sayingKey(desk: Desk, saying: string, data: string): void {
  const [ask] = desk.state.asks;
  if (ask === undefined) return;
  if (matchesKey(data, 'enter')) {
    desk.dispatch({ type: 'saying', text: null });
    return tell(desk, ask.id, { verdict: 'deny', scope: 'once', note: saying });
  }
  const typed = printable(data) ?? pastedText(data);
  const text = matchesKey(data, 'backspace') ? [...saying].slice(0, -1).join('') : saying + (typed ?? '');
  desk.dispatch({ type: 'saying', text });
}
