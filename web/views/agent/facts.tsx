import { completionLine } from '../../../src/records/conversation/facts/completion.ts';
import type { FanInRow, Frame, UserFacts } from '../../../src/records/conversation/facts/message-facts.ts';
import type { WaitResult } from '../../../src/records/conversation/facts/wait-row.ts';
import { endWord } from '../../../src/records/run/outcome.ts';
import { Markdown, PlainText } from '../../parts/markdown.tsx';
import { Status } from '../../parts/status.tsx';

interface ToldProps {
  readonly text: string;
  readonly facts: UserFacts;
  /** Whether a person wrote it, whose text is shown as it was typed. */
  readonly typed: boolean;
}

/** What an agent was told, by its facts: the text itself, with its frames, is what the model sees. */
export function Told({ text, facts: { attached, frames, fan_in }, typed }: ToldProps) {
  if (attached !== undefined)
    return (
      <>
        <PlainText text={text.slice(0, attached.typed)} />
        <ul class="dim" aria-label="Attached">
          {attached.labels.map((label, at) => (
            <li key={at}>{label}</li>
          ))}
        </ul>
      </>
    );
  if (fan_in !== undefined) return <Outcomes rows={fan_in} />;
  if (frames === undefined) return typed ? <PlainText text={text} /> : <Markdown text={text} />;
  return (
    <>
      {frames.map((frame, at) => (
        <Framed key={at} text={text} frame={frame} after={frames[at - 1]?.frame[1] ?? 0} />
      ))}
      <PlainText text={text.slice(frames.at(-1)?.frame[1] ?? 0).trim()} />
    </>
  );
}

interface FramedProps {
  readonly text: string;
  readonly frame: Frame;
  /** End of the frame before. */
  readonly after: number;
}

/** A text of somebody else, and the line of Coppice above it. */
function Framed({ text, frame: { frame, inside, letter }, after }: FramedProps) {
  const { completion, did } = letter ?? {};
  return (
    <>
      <PlainText text={text.slice(after, frame[0]).trim()} />
      {letter !== undefined && (
        <p class="dim">
          from <a href={`/agents/${letter.from_id}`}>{letter.from_name}</a>
        </p>
      )}
      <Markdown text={completion === undefined ? text.slice(...inside) : completionLine(completion)} />
      {did !== undefined && <p class="dim">What it did: {did}</p>}
    </>
  );
}

function Outcomes({ rows }: { readonly rows: readonly FanInRow[] }) {
  return (
    <table aria-label="Results of sub-agents">
      <tbody>
        {rows.map(({ agent_id, task, said, error_kind, limit, did }) => (
          <tr key={agent_id}>
            <th scope="row">
              <a href={`/agents/${agent_id}`}>{task}</a>
            </th>
            <td>
              <Status
                word={
                  error_kind !== undefined ? endWord(error_kind) : limit === undefined ? 'done' : 'cut_short'
                }
              />
            </td>
            <td>
              <Markdown text={[limit, said].filter(Boolean).join(': ')} />
            </td>
            <td class="dim">{did}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** How a wait ended, a row an agent. */
export function Waited({ rows, cut }: WaitResult) {
  return (
    <>
      <table aria-label="Agents waited for">
        <tbody>
          {rows.map(({ agent_id, name, status, message, last_reply, error, limit, did }) => (
            <tr key={agent_id}>
              <th scope="row">{name}</th>
              <td>
                <Status word={status} />
              </td>
              <td>
                <Markdown text={[error, limit, message ?? last_reply].filter(Boolean).join('\n\n')} />
              </td>
              <td class="dim">{did}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {cut !== null && <p class="dim">{cut === 'timeout' ? 'The time was over.' : 'It was interrupted.'}</p>}
    </>
  );
}
