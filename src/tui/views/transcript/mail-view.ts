import { completionLine } from '../../../records/conversation/facts/completion.ts';
import type { FramedLetter, UserFacts } from '../../../records/conversation/facts/message-facts.ts';
import { clean } from '../../../render/clean.ts';
import { sign, type UiStyle } from '../../../render/style.ts';
import { line } from '../../text/line.ts';
import { markdown } from '../../text/markdown.ts';
import type { Batches } from '../../text/wrap.ts';
import type { AgentNames } from './agent-names.ts';

/** Mail from agents, framed with its sender, so that it never looks like a message of the person. */
export function* mailView(
  text: string,
  { frames = [], notice }: UserFacts,
  width: number,
  style: UiStyle,
  names: AgentNames,
): Batches {
  for (const { inside, letter } of frames)
    if (letter !== undefined) yield* frame(letter, text.slice(...inside), width, style);
  if (frames.length > 0) return;
  const lines = notice?.map((id) => `got mail from ${names.name(id) ?? id}`) ?? text.split('\n');
  yield lines.map((said) => line(style, width, [['magenta', clean(said)]]));
}

function* frame(letter: FramedLetter, body: string, width: number, style: UiStyle): Batches {
  const { from_id, from_name, did, completion } = letter;
  const sender = `${clean(from_name)} (${clean(from_id.slice(0, 8))})`;
  const shown = completion === undefined ? body : completionLine(completion);
  if (style.accessible) {
    yield [line(style, width, [`Mail from ${sender}:`])];
    yield* markdown(shown, width, style);
    const deeds = did === undefined ? '' : ` It did: ${clean(did)}.`;
    return yield [line(style, width, [`End of mail from ${sender}.${deeds}`])];
  }
  const bar = sign(style, '│');
  yield [line(style, width, [['magenta', `${sign(style, '┌')} mail from ${sender}`]])];
  // The text has its own colours: the bar is put before lines that already fit.
  for (const lines of markdown(shown, Math.max(1, width - 2), style))
    yield lines.map((row) => `${line(style, width, [['magenta', bar]])} ${row}`.trimEnd());
  const deeds = did === undefined ? '' : ` ${clean(did)}`;
  yield [
    line(style, width, [
      ['magenta', sign(style, '└')],
      ['dim', deeds],
    ]),
  ];
}
