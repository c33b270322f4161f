import { offeredRule } from '../../permissions/grants/propose-rules.ts';
import type { Ask } from '../../records/conversation/ask.ts';
import { questionOf } from '../../records/question/question.ts';
import { askParts } from '../../render/ask-parts.ts';
import { clean } from '../../render/clean.ts';
import { cutMiddle, SPELLED_NOTE, spellHiddenLine } from '../../render/hidden-characters.ts';
import type { Parcel } from '../channel.ts';
import type { FormattedText } from './formatted-text.ts';
import { markdownEntities } from './markdown-entities.ts';
import { splitText } from './split-text.ts';
import { TextBuilder } from './text-builder.ts';

/** `data`, at most 64 bytes, is sent back when the button is pressed. */
export interface Button {
  readonly label: string;
  readonly data: string;
}

/** A text short enough for one message, with the buttons below it. */
export interface OutgoingMessage extends FormattedText {
  readonly buttons?: readonly Button[];
}

/** Maximum characters of an argument, whose middle is left out beyond that; twice as many once hidden characters are spelled out. */
const ARGUMENT_MAX = 20_000;
/** Maximum UTF-16 units of one message. */
const MESSAGE_MAX = 4_096;
/** UTF-16 units left free under a question for the line that says who answered it. */
const ANSWER_ROOM = 200;
const ID_LENGTH = 8;

/** Composes the messages of a parcel: at least one, and the same at every try. */
export function parcelMessages(parcel: Parcel): readonly OutgoingMessage[] {
  if (parcel.kind === 'ask' && parcel.ask !== null) {
    const pieces = splitText(askText(parcel.ask), MESSAGE_MAX - ANSWER_ROOM);
    const buttons = askButtons(parcel.ask);
    return pieces.map((piece, index) => (index === pieces.length - 1 ? { ...piece, buttons } : piece));
  }
  const said = markdownEntities(parcel.text);
  // People recognise a repeat by the id of the run.
  const id = parcel.kind === 'run' && parcel.run !== null ? `\n· ${parcel.run.id.slice(0, ID_LENGTH)}` : '';
  return textMessages({ ...said, text: said.text + id });
}

/** Splits a text into messages, at least one. */
export function textMessages(text: FormattedText): readonly OutgoingMessage[] {
  const pieces = splitText(text, MESSAGE_MAX);
  return pieces.length > 0 ? pieces : [{ text: '(no text)', entities: [] }];
}

/** Text of a question: agent, tool, and all arguments of the call, because that is what a person allows. */
export function askText(ask: Ask, most = ARGUMENT_MAX): FormattedText {
  const builder = new TextBuilder();
  builder.styled('bold', () => builder.write(clean(ask.agent_name)));
  builder.write(' wants: ');
  builder.styled('bold', () => builder.write(clean(ask.tool)));
  const parts = askParts(ask, most);
  for (const { name, is_subject, text, left_out, language } of parts) {
    builder.write(is_subject || name === '' ? '\n' : `\n${name}:\n`);
    builder.pre(cutMiddle(text, 2 * most, left_out), language);
    if (left_out > 0 || text.length > 2 * most)
      builder.write(`\nwhole: /show ${ask.id.slice(0, 8)}, or coppice approvals show ${ask.id.slice(0, 8)}`);
  }
  if (parts.some(({ spelled }) => spelled)) builder.write(`\n⚠ ${SPELLED_NOTE}`);
  builder.write(`\ncwd ${clean(ask.cwd)}\nrule: ${clean(ask.rule)}`);
  if ((questionOf(ask)?.fields.length ?? 0) > 0)
    builder.write(`\nAnswer: /approve ${ask.id.slice(0, 8)} ANSWER; in a form, name=value`);
  const rule = ask.verdict === null ? shownRule(ask) : undefined;
  if (rule !== undefined) builder.write(`\n${FROM_NOW_ON}, for this agent: ${rule}`);
  const words = { allow: 'allowed', deny: 'denied', void: 'taken back' };
  if (ask.verdict !== null) builder.write(`\nno longer waits: ${words[ask.verdict]}`);
  return builder.build();
}

const FROM_NOW_ON = 'From now on';

/** The rule that this chat can grant for such calls of this agent, for people; undefined if none is proposed. */
export function shownRule(ask: Ask): string | undefined {
  const rule = offeredRule(ask);
  return rule === undefined ? undefined : spellHiddenLine(rule, ARGUMENT_MAX);
}

/** Buttons of a question; none if it is no longer open. */
function askButtons(ask: Ask): readonly Button[] {
  if (ask.verdict !== null) return [];
  const question = questionOf(ask);
  if (question !== null) {
    const must = question.fields.some((field) => field.required && field.default === undefined);
    const decline = { label: 'Decline', data: `n:${ask.id}` };
    return must ? [decline] : [{ label: 'Accept', data: `y:${ask.id}` }, decline];
  }
  return [
    { label: 'Allow once', data: `y:${ask.id}` },
    ...(offeredRule(ask) === undefined ? [] : [{ label: FROM_NOW_ON, data: `s:${ask.id}` }]),
    { label: 'Deny', data: `n:${ask.id}` },
  ];
}
