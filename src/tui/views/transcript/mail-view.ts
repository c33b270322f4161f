import { completionLine, readCompletion } from '../../../records/conversation/completion.ts';
import { clean } from '../../../render/clean.ts';
import { sign } from '../../../render/style.ts';
import type { Look } from '../../look.ts';
import { line } from '../../text/line.ts';
import { markdown } from '../../text/markdown.ts';
import type { NameContext } from './name-context.ts';

export interface FramedLetter {
  readonly from: string;
  readonly agent_id: string;
  readonly body: string;
}

/** Letters of agents, each framed with its sender: what an agent wrote never looks like a person's words. */
export function* mailView(
  text: string,
  width: number,
  look: Look,
  names: NameContext,
): Generator<readonly string[]> {
  const letters = readLetters(text);
  for (const letter of letters) yield* frame(letter, width, look);
  if (letters.length > 0) return;
  // Seed 2: a notice names the sender by uuid.
  yield text.split('\n').map((notice) => {
    const id = /^got mail from (\S+)$/.exec(notice)?.[1];
    const said = id === undefined ? clean(notice) : `got mail from ${clean(names.name(id) ?? id)}`;
    return line(look, width, [['magenta', said]]);
  });
}

function* frame(
  { from, agent_id, body }: FramedLetter,
  width: number,
  look: Look,
): Generator<readonly string[]> {
  const sender = `${clean(from)} (${clean(agent_id.slice(0, 8))})`;
  const reading = readCompletion(body);
  const shown = reading.type === 'completion' ? completionLine(reading.completion) : body;
  if (look.accessible) {
    yield [line(look, width, [`Mail from ${sender}:`])];
    yield* markdown(shown, width, look);
    return yield [line(look, width, [`End of mail from ${sender}.`])];
  }
  const bar = sign(look, '│');
  yield [line(look, width, [['magenta', `${sign(look, '┌')} mail from ${sender}`]])];
  // The text has its own colours: the bar stands before lines that already fit.
  for (const lines of markdown(shown, Math.max(1, width - 2), look))
    yield lines.map((row) => `${line(look, width, [['magenta', bar]])} ${row}`.trimEnd());
  yield [line(look, width, [['magenta', sign(look, '└')]])];
}

/** The frames that the runtime put around letters; the delimiter is one that no letter can know. */
export function readLetters(text: string): readonly FramedLetter[] {
  const delimiter = /^--- ([0-9a-f]{8}) message from /m.exec(text)?.[1];
  if (delimiter === undefined) return [];
  const letters: FramedLetter[] = [];
  const head = new RegExp(`^--- ${delimiter} message from ([^]*?) \\(agent ([^()\\s]+)\\), \\S+\\n`, 'gm');
  for (let found = head.exec(text); found !== null; found = head.exec(text)) {
    const start = head.lastIndex;
    const end = text.indexOf(`\n--- ${delimiter} end`, start - 1);
    if (end === -1) break;
    letters.push({ from: found[1] ?? '', agent_id: found[2] ?? '', body: text.slice(start, end) });
    head.lastIndex = end;
  }
  return letters;
}
