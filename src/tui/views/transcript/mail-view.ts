import { completionFrom, completionLine } from '../../../records/conversation/completion.ts';
import { clean } from '../../../render/clean.ts';
import { sign, type UiStyle } from '../../../render/style.ts';
import { line } from '../../text/line.ts';
import { markdown } from '../../text/markdown.ts';
import type { Batches } from '../../text/wrap.ts';
import type { AgentNames } from './agent-names.ts';

export interface FramedMail {
  readonly from: string;
  readonly agent_id: string;
  readonly body: string;
  /** The actual deeds of the sender, as recorded by the runtime. */
  readonly did?: string;
}

/** Mail from agents, framed with its sender, so that it never looks like a message of the person. */
export function* mailView(text: string, width: number, style: UiStyle, names: AgentNames): Batches {
  const framed = readFramedMail(text);
  for (const mail of framed) yield* frame(mail, width, style);
  if (framed.length > 0) return;
  // The notice of the slash vocabulary names the sender by id.
  yield text.split('\n').map((notice) => {
    const id = /^got mail from (\S+)$/.exec(notice)?.[1];
    const said = id === undefined ? clean(notice) : `got mail from ${clean(names.name(id) ?? id)}`;
    return line(style, width, [['magenta', said]]);
  });
}

function* frame({ from, agent_id, body, did }: FramedMail, width: number, style: UiStyle): Batches {
  const sender = `${clean(from)} (${clean(agent_id.slice(0, 8))})`;
  const completion = completionFrom(body);
  const shown = completion === null ? body : completionLine(completion);
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

/** Parses the frames that the runtime puts around mail; their delimiter is random, so that mail cannot forge it. */
export function readFramedMail(text: string): readonly FramedMail[] {
  const delimiter = /^--- ([0-9a-f]{8}) message from /m.exec(text)?.[1];
  if (delimiter === undefined) return [];
  const framed: FramedMail[] = [];
  const head = new RegExp(`^--- ${delimiter} message from ([^]*?) \\(agent ([^()\\s]+)\\), \\S+\\n`, 'gm');
  for (let found = head.exec(text); found !== null; found = head.exec(text)) {
    const start = head.lastIndex;
    const end = text.indexOf(`\n--- ${delimiter} end`, start - 1);
    if (end === -1) break;
    const inside = text.slice(start, end);
    const [added, did] = new RegExp(`\\n--- ${delimiter} did: (.*)$`).exec(inside) ?? [];
    const body = added === undefined ? inside : inside.slice(0, -added.length);
    framed.push({
      from: found[1] ?? '',
      agent_id: found[2] ?? '',
      body,
      ...(did === undefined ? {} : { did }),
    });
    head.lastIndex = end;
  }
  return framed;
}
