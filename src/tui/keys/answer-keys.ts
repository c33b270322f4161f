import { matchesKey } from '@earendil-works/pi-tui';
import { ASK_SCOPES, type Ask } from '../../records/conversation/ask.ts';
import { chosenValue, questionOf } from '../../records/question/question.ts';
import { askParts } from '../../render/ask-parts.ts';
import { shownDigest } from '../../store/approvals/shown-digest.ts';
import type { AppContext } from '../app-context.ts';
import type { Answer } from '../state/answer.ts';
import { alsoAnswered, chosenRule, proposedRules } from '../state/grant-draft.ts';
import { dueAnswer, mayAnswer, takesLetters } from '../state/question-in-view.ts';
import { typedText } from './action-of.ts';

/** The context of a visible question: the tree in view, or a peek at another one. */
export type AnswerContext = Pick<
  AppContext,
  'state' | 'acceptsInput' | 'dispatch' | 'say' | 'attempt' | 'refresh'
> & {
  readonly editor: Pick<AppContext['editor'], 'text' | 'setText'>;
  readonly runtime: Pick<AppContext['runtime'], 'answer'>;
};

export const JUST_UP = 'that question has just come up: read it, then press the keys again';

/** Answers the visible question by a chord whose first key was pressed at `begun_at`; if none is visible, shows the first of the queue instead. */
export function answerByChord(app: AnswerContext, answer: Answer, begun_at: number): void {
  const { asks, question } = app.state;
  if (asks.length === 0) return app.say('nothing waits for your answer');
  if (question === null) return app.dispatch({ type: 'question', shown: true });
  if (!mayAnswer(app.state, begun_at)) return app.say(JUST_UP);
  answerWith(app, answer);
}

/** Answers by a typed command, if the question was visible long enough to be read before the command was begun: it may have taken the place of another. */
export function answerByCommand(app: AnswerContext, answer: Given): void {
  const [ask] = app.state.asks;
  if (ask === undefined) return app.say('nothing waits for your answer');
  if (app.state.question === null) return app.dispatch({ type: 'question', shown: true });
  if (!mayAnswer(app.state, app.state.draft_at))
    return app.say('that question has just come up: read it, then answer again');
  if (answer.values?.[''] !== undefined && questionOf(ask) === null)
    return app.say(`SCOPE is one of ${ASK_SCOPES.join(', ')}`);
  // A rule is granted only after the person has seen it.
  if (answer.verdict === 'allow' && answer.scope !== 'once' && answer.rule === undefined) {
    const { rules, first, why } = proposedRules(ask);
    const rule = rules[first] ?? `${ask.tool}:PATTERN`;
    return app.say(
      `which rule? /allow ${answer.scope} ${rule}${why === null ? '' : ` (none is proposed: ${why})`}`,
    );
  }
  send(app, [ask], answer);
}

/** Answers by a held letter once no other key has followed it for long enough; removes the letter from the draft. */
export function answerByLetter(app: AnswerContext): void {
  const held = app.state.question?.held ?? null;
  if (held === null) return;
  const answer = dueAnswer(app.state, app.acceptsInput ? app.editor.text : null);
  if (answer === null) return;
  const is_panel = takesLetters(app.state);
  if (app.acceptsInput && !is_panel && !held.unwritten) app.editor.setText('');
  app.dispatch({ type: 'saying', text: null });
  if (answer === 'choose') return choose(app, held.text);
  // A doubled letter was meant as one.
  answerWith(app, answer, app.state.armed || is_panel || held.text.length > 1 ? null : held.text);
}

/** `typed`: the letter that answers, if it may have been meant as text. */
function answerWith(app: AnswerContext, answer: Answer, typed: string | null = null): void {
  const [ask] = app.state.asks;
  if (ask === undefined) return;
  switch (answer) {
    case 'allow':
      return allow(app, ask);
    case 'allow_alike':
      return app.dispatch({ type: 'grant', change: 'alike', typed });
    case 'allow_rule':
      return app.dispatch({ type: 'grant', change: 'next_scope', typed });
    case 'allow_narrow':
      return app.dispatch({ type: 'grant', change: 'narrow', typed });
    case 'edit_rule':
      return app.dispatch({ type: 'grant', change: 'edit' });
    case 'deny':
      return send(app, [ask], { verdict: 'deny', scope: 'once', note: '' });
    case 'deny_saying':
      return app.dispatch({ type: 'saying', text: '' });
    case 'view_asker':
      return app.dispatch({ type: 'visit', agent_id: ask.agent_id });
    case 'whole':
      return app.say(wholeText(ask), 'now');
  }
}

function choose(app: AnswerContext, digit: string): void {
  const [ask] = app.state.asks;
  const value = ask === undefined ? null : chosenValue(ask, digit);
  if (ask !== undefined && value !== null) send(app, [ask], { ...ONCE, values: { '': value } });
}

/** The question with nothing left out. */
function wholeText(ask: Ask): string {
  const parts = askParts(ask).map(({ name, text }) => (name === '' ? text : `${name}:\n${text}`));
  const head = `${ask.agent_name} wants ${ask.tool}`;
  return [head, ...parts].join('\n');
}

/** Allows the call once, or grants the rule that is shown. */
function allow(app: AnswerContext, ask: Ask): void {
  const grant = app.state.question?.grant ?? null;
  if (grant === null) return send(app, [ask], ONCE);
  if (grant.scope === 'waiting') return send(app, [ask, ...alsoAnswered(app.state, ask, grant)], ONCE);
  const rule = chosenRule(grant);
  if (rule === null) return app.say('no rule is chosen: write one, or go back and answer once');
  send(app, [ask], { verdict: 'allow', scope: grant.scope, rule, note: '' });
}

type Given = Parameters<AppContext['runtime']['answer']>[1];

const ONCE: Given = { verdict: 'allow', scope: 'once', note: '' };

function send(app: AnswerContext, asks: readonly Ask[], answer: Given): void {
  const ids = asks.map(({ id }) => id);
  app.dispatch({ type: 'answered', ids });
  app.attempt(async () => {
    try {
      const given = asks.map((ask) => app.runtime.answer(ask.id, { ...answer, shown: shownDigest(ask) }));
      const results = await Promise.allSettled(given);
      const failed = results.filter(({ status }) => status === 'rejected');
      const open = ids.filter((_, index) => results[index]?.status === 'rejected');
      if (open.length > 0) app.dispatch({ type: 'answered', ids: open, failed: true });
      if (asks.length > 1)
        app.say(`allowed once: ${asks.length - failed.length} calls of ${asks[0]?.tool}`, 'good');
      for (const { reason } of failed as PromiseRejectedResult[]) throw reason;
      if (answer.rule !== undefined)
        app.say(`${answer.rule} is allowed from now on; /rules shows and removes what was granted`, 'good');
    } finally {
      app.refresh();
    }
  });
}

export function denialReasonKey(app: AnswerContext, saying: string, data: string): void {
  const [ask] = app.state.asks;
  if (ask === undefined) return;
  if (matchesKey(data, 'enter')) {
    app.dispatch({ type: 'saying', text: null });
    return send(app, [ask], { verdict: 'deny', scope: 'once', note: saying });
  }
  const typed = typedText(data);
  const text = matchesKey(data, 'backspace') ? [...saying].slice(0, -1).join('') : saying + (typed ?? '');
  app.dispatch({ type: 'saying', text });
}
