import type { ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import type { ResultFacts, UserFacts } from '../../../src/records/conversation/facts/message-facts.ts';
import type { WaitResult } from '../../../src/records/conversation/facts/wait-row.ts';
import type { Image } from '../../../src/records/conversation/message.ts';
import { count, dollars, duration } from '../../data/amounts.ts';
import { EXPORTED } from '../../data/exported.ts';
import { UUID } from '../../data/texts.ts';
import { Button } from '../../parts/button.tsx';
import { Revealed } from '../../parts/fold-button.tsx';
import { Markdown } from '../../parts/markdown.tsx';
import { isDiff, Output } from '../../parts/output.tsx';
import { Status } from '../../parts/status.tsx';
import { When } from '../../parts/when.tsx';
import { pretty } from '../approvals.tsx';
import type { Place } from '../past/go-back.tsx';
import type { FullAgent, Message, ModelRequest } from './agent.tsx';
import { Told, Waited } from './facts.tsx';

type Assistant = Extract<Message, { kind: 'assistant' }>;
type Result = Extract<Message, { kind: 'result' }>;
type Call = Extract<Assistant['content']['parts'][number], { type: 'call' }>;

const SUBJECT_SHOWN = 160;
const ORIGINS: Readonly<Record<string, string>> = {
  human: 'you',
  mail: 'mail',
  system: 'runtime',
  identity: 'who it is',
  task: 'task',
};

export interface MessageProps {
  readonly index: number;
  readonly at: (index: number) => Message | undefined;
  readonly agent: FullAgent;
  readonly requests: readonly ModelRequest[];
  /** Whether the link of the page names this message. */
  readonly linked: boolean;
  /** Ids of the folds that a person has toggled; they are kept while the message is out of view. */
  readonly opened: ReadonlySet<string>;
  readonly onToggle: (id: string) => void;
  /** Asks how the tree is to be taken back there; null: this session may not. */
  readonly onBack: ((place: Place) => void) | null;
}

/** One message as a person sees it. A result is shown with its call, so its own item is empty. */
export function MessageView(props: MessageProps) {
  const { index, at, agent } = props;
  const message = at(index);
  if (message === undefined) return <p class="coming">…</p>;
  if (message.kind === 'result') {
    if (ownerOf(at, index, message) !== null) return null;
    return (
      <Frame {...props} message={message} who={message.content.name}>
        <ResultOutput {...message.content} />
      </Frame>
    );
  }
  if (message.kind === 'event' && message.content.event === 'waited')
    return (
      <Frame {...props} message={message} who="wait">
        <Waited {...(message.content.data as WaitResult)} />
      </Frame>
    );
  if (message.kind === 'event')
    return (
      <p class={`event ${message.content.event}`} data-row tabIndex={-1}>
        {message.content.event === 'error' || message.content.event === 'killed' ? '✗' : '·'}{' '}
        {message.content.text}
      </p>
    );
  if (message.kind === 'capture') return <p class="capture">{message.content.text}</p>;
  if (message.kind === 'user')
    return (
      <Frame {...props} message={message} who={ORIGINS[message.content.origin] ?? 'user'}>
        <Told
          text={message.content.text}
          facts={(message.content.facts ?? {}) as UserFacts}
          typed={message.content.origin === 'human'}
        />
        <Pictures images={message.content.images} />
      </Frame>
    );
  const { parts, finish, reason } = message.content;
  const request = message.agent_id === agent.id ? requestOf(props.requests, message.at) : null;
  return (
    <Frame {...props} message={message} who={message.agent_id === agent.id ? agent.name : 'ancestor'}>
      {parts.map((part, at_part) =>
        part.type === 'call' ? (
          <CallView
            key={part.id}
            {...props}
            call={part}
            unanswered={unanswered(message, agent)}
            result={resultOf(at, index, agent.messages, part.id)}
          />
        ) : part.type === 'reasoning' ? (
          <Fold
            key={at_part}
            id={`${message.seq} ${at_part}`}
            {...props}
            title={<span class="dim">Reasoning</span>}
          >
            <div class="dim">
              <Markdown text={part.text} />
            </div>
          </Fold>
        ) : (
          <Markdown key={at_part} text={part.text} />
        ),
      )}
      {finish !== undefined && (
        <p class="bad">
          {finish === 'length' ? 'Cut off at the output limit' : finish}
          {reason === undefined ? '' : ` (${reason})`}
        </p>
      )}
      {request !== null && <Usage request={request} />}
    </Frame>
  );
}

interface FrameProps extends Pick<MessageProps, 'agent' | 'linked' | 'onBack'> {
  readonly message: Message;
  readonly who: string;
  readonly children: ComponentChildren;
}

function Frame({ message, who, agent, linked, onBack, children }: FrameProps) {
  const inherited = message.agent_id === agent.id ? '' : ' inherited';
  return (
    <article
      class={`message ${message.kind}${inherited}${linked ? ' linked' : ''}`}
      data-row
      tabIndex={-1}
      aria-label={`Message ${message.seq}, ${who}`}
    >
      <p class="who">
        <strong>{who}</strong>
        {inherited !== '' && <span class="badge">inherited</span>}
        {message.kind === 'assistant' && EXPORTED === null && (
          <a data-key="w" href={`/trees/${agent.root_id}?agent=${message.agent_id}&why=${message.seq}`}>
            Why
          </a>
        )}
        {onBack !== null && (
          <Button
            does="Go back…"
            class="quiet"
            data-key="b"
            onClick={() => onBack(placeOf(message, agent))}
          />
        )}
        <a href={`/agents/${agent.id}?seq=${message.seq}`} title="permanent link">
          <When at={message.at} />
        </a>
      </p>
      {children}
    </article>
  );
}

/** A message that an agent inherited is gone back to, and edited, where it was written. */
function placeOf({ agent_id, seq }: Message, { id, root_id, name }: FullAgent): Place {
  return { root_id, agent_id, seq, who: agent_id === id ? name : 'an ancestor' };
}

interface CallProps extends Pick<MessageProps, 'agent' | 'opened' | 'onToggle' | 'onBack'> {
  readonly call: Call;
  /** Status of a call that has no result. */
  readonly unanswered: string;
  readonly result: Result | null;
}

function CallView({ call, result, unanswered, agent, onBack, ...folds }: CallProps) {
  const { status, output } = result?.content ?? {};
  const changes = output !== undefined && isDiff(output);
  const { name, input } = call.read ?? call;
  return (
    <Fold
      id={call.id}
      {...folds}
      unfolded={changes}
      title={
        <>
          <code class="tool">{name}</code> <span class="subject">{subjectOf(input)}</span>{' '}
          {call.read !== undefined && <span class="dim">({call.read.changes.join('; ')}) </span>}
          <Status word={status ?? unanswered} />
        </>
      }
    >
      {!changes && <Output text={pretty(input)} />}
      {result !== null && <ResultOutput {...result.content} />}
      <Pictures images={result?.content.images} />
      {onBack !== null && result !== null && (
        <Button does="Go back…" class="quiet" onClick={() => onBack(placeOf(result, agent))} />
      )}
    </Fold>
  );
}

function ResultOutput({ output, did, facts }: Result['content']) {
  const { waited } = (facts ?? {}) as ResultFacts;
  return (
    <>
      {waited === undefined ? <Output text={output} /> : <Waited {...waited} />}
      {did !== undefined && <p class="dim">What it did: {did}</p>}
    </>
  );
}

interface FoldProps extends Pick<MessageProps, 'opened' | 'onToggle'> {
  readonly id: string;
  readonly title: ComponentChildren;
  /** Whether it is open until a person folds it. */
  readonly unfolded?: boolean;
  readonly children: ComponentChildren;
}

/** Not a `details` element: the open state must survive while the message is out of view. */
function Fold({ id, title, unfolded = false, opened, onToggle, children }: FoldProps) {
  const open = useContext(Revealed) || opened.has(id) !== unfolded;
  return (
    <div class={open ? 'call open' : 'call'}>
      <button type="button" class="summary" aria-expanded={open} onClick={() => onToggle(id)}>
        <span aria-hidden="true">{open ? '▾' : '▸'}</span> {title}
      </button>
      {open && <div class="inside">{children}</div>}
    </div>
  );
}

/** Only of types that cannot contain a script. */
function Pictures({ images = [] }: { readonly images: readonly Image[] | undefined }) {
  return images.map(({ media_type, base64 }, at) =>
    /^image\/(png|jpeg|gif|webp)$/.test(media_type) ? (
      <img
        key={at}
        class="picture"
        src={`data:${media_type};base64,${base64}`}
        alt={`${at + 1} of ${images.length}`}
      />
    ) : (
      <p key={at} class="dim">
        a picture of the type {media_type}
      </p>
    ),
  );
}

function Usage({ request: { usage, duration_ms } }: { readonly request: ModelRequest }) {
  const { input, output, cached, cost_usd } = usage;
  return (
    <p class="usage">
      <span>{count(input)} in</span>
      {cached > 0 && input > 0 && <span>{Math.round((100 * cached) / input)} % cached</span>}
      <span>{count(output)} out</span>
      {dollars(cost_usd) !== '' && <span>{dollars(cost_usd)}</span>}
      <span>{duration(duration_ms)}</span>
    </p>
  );
}

/** Request that a message answers: the newest one that began before the message was written. */
function requestOf(requests: readonly ModelRequest[], at: number): ModelRequest | null {
  return requests.findLast(({ started_at }) => started_at <= at) ?? null;
}

function unanswered(message: Assistant, agent: FullAgent): string {
  if (message.agent_id !== agent.id) return 'inherited';
  if (agent.ended_at !== null || agent.state === 'idle') return 'unanswered';
  return agent.pending_approval === null ? 'running' : 'waiting';
}

/** Result of a call. Results follow the message that made the calls, before the next one of the model. */
function resultOf(at: MessageProps['at'], index: number, end: number, call_id: string): Result | null {
  for (let next = index + 1; next < end; next += 1) {
    const message = at(next);
    if (message === undefined || message.kind === 'assistant') return null;
    if (message.kind === 'result' && message.content.call_id === call_id) return message;
  }
  return null;
}

/** Message with the call of this result; null if it is not loaded. */
function ownerOf(at: MessageProps['at'], index: number, result: Result): Message | null {
  for (let before = index - 1; before >= 0; before -= 1) {
    const message = at(before);
    if (message === undefined) return null;
    if (message.kind !== 'assistant') continue;
    const { parts } = message.content;
    return parts.some((part) => part.type === 'call' && part.id === result.content.call_id) ? message : null;
  }
  return null;
}

/** Values of a call's arguments in one line, with the beginnings of ids. */
export function subjectOf(input: string): string {
  let text = input;
  try {
    const values = Object.values(JSON.parse(input) as object).map((value) =>
      typeof value === 'string' ? value : JSON.stringify(value),
    );
    text = values.join(' · ');
  } catch {
    // Not JSON: shown as the model wrote it.
  }
  const line = text
    .replace(UUID, '$1')
    .replace(/\s+/g, ' ')
    .slice(0, SUBJECT_SHOWN + 1);
  return line.length > SUBJECT_SHOWN ? `${line.slice(0, SUBJECT_SHOWN)}…` : line;
}
