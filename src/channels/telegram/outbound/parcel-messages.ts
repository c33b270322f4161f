import type { Parcel } from '../../channel.ts';
import type { FormattedText } from '../text/formatted-text.ts';
import { markdownEntities } from '../text/markdown-entities.ts';
import { splitText } from '../text/split-text.ts';
import { askButtons, askText } from './ask-message.ts';
import type { OutgoingMessage } from './outgoing-message.ts';

/** UTF-16 units of one message. */
const MESSAGE_MAX = 4_096;
/** What is left free under a question, for the line that says who answered it. */
const ANSWER_ROOM = 200;
const ID_LENGTH = 8;

/** The messages that carry a parcel, in order; at least one. The same parcel gives the same ones at every try. */
export function parcelMessages(parcel: Parcel): readonly OutgoingMessage[] {
  if (parcel.kind === 'ask' && parcel.ask !== null) {
    const pieces = splitText(askText(parcel.ask), MESSAGE_MAX - ANSWER_ROOM);
    const buttons = askButtons(parcel.ask);
    return pieces.map((piece, index) => (index === pieces.length - 1 ? { ...piece, buttons } : piece));
  }
  const said = markdownEntities(parcel.text);
  return textMessages(parcel.kind === 'run' && parcel.run !== null ? signed(said, parcel.run.id) : said);
}

/** Any text as messages; at least one. */
export function textMessages(text: FormattedText): readonly OutgoingMessage[] {
  const pieces = splitText(text, MESSAGE_MAX);
  return pieces.length > 0 ? pieces : [{ text: '(no text)', entities: [] }];
}

/** A repeat is recognised by the id at its end. */
function signed({ text, entities }: FormattedText, run_id: string): FormattedText {
  return { text: `${text}\n· ${run_id.slice(0, ID_LENGTH)}`, entities };
}
