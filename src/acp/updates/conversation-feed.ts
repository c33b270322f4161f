import type { SessionUpdate, ToolCallContent } from '@agentclientprotocol/sdk';
import type { ModelDelta } from '../../models/model.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { typedText, withoutFrames } from '../../records/conversation/facts/message-facts.ts';
import type {
  AssistantContent,
  EventContent,
  PlacedMessage,
  ResultContent,
  UserContent,
} from '../../records/conversation/message.ts';
import { endOfText } from '../../records/text/cut-text.ts';
import { outputText } from '../../records/text/untrusted-text.ts';
import { clean } from '../../render/clean.ts';
import { outputContent, resultView, toolCallView } from './tool-call-view.ts';

/** Maximum characters shown of a running call's output: its end. */
const OUTPUT_MAX = 8_000;
/** Minimum time between two updates of the output of one call. */
const OUTPUT_MS = 250;

export interface FeedOptions {
  readonly agent: Pick<Agent, 'id' | 'config'>;
  readonly send: (update: SessionUpdate) => void;
  /** Whether the editor already shows this text because the person typed it there. */
  readonly isOwn: (text: string) => boolean;
  /** Whether a failure will be reported as the answer to a prompt. */
  readonly tellsFailures: () => boolean;
  readonly notices: boolean;
}

interface OpenCall {
  readonly id: string;
  readonly call_id: string;
  readonly name: string;
  readonly input: string;
  /** The agent that made the call: in a fork, it may be an ancestor. */
  readonly agent_id: string;
  readonly shown: readonly ToolCallContent[];
  output: string;
  timer: NodeJS.Timeout | null;
}

/** One agent's conversation as updates of a session: past messages, and the answer as it streams. */
export class ConversationFeed {
  readonly #options: FeedOptions;
  readonly #open: OpenCall[] = [];
  readonly #text: StreamedText;
  readonly #thought: StreamedText;
  /** Seq of the newest message that was sent or skipped. */
  #seq = 0;
  #message = 0;
  /** Whether the current answer began before this feed; its beginning is unknown, so it is sent only when complete. */
  #missed_beginning = false;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#text = new StreamedText((text) => this.#chunk('agent_message_chunk', text));
    this.#thought = new StreamedText((text) => this.#chunk('agent_thought_chunk', text));
  }

  /** Sends the conversation so far. `under_way`: the model is already answering. */
  replay(history: readonly PlacedMessage[], under_way: boolean): void {
    for (const message of history) this.#tell(message, false);
    this.#missed_beginning = under_way;
  }

  /** Like `replay`, but sends nothing. */
  skip(history: readonly PlacedMessage[], under_way: boolean): void {
    const last = history.findLastIndex(({ kind }) => kind === 'assistant');
    // Calls of the last answer may still be running, with their results to come.
    for (const message of history.slice(Math.max(0, last)))
      if (message.kind === 'assistant') this.#calls(message, false);
      else if (message.kind === 'result') this.#take(message.content.call_id);
    this.#seq = history.at(-1)?.seq ?? 0;
    this.#missed_beginning = under_way;
  }

  see(message: PlacedMessage): void {
    if (message.seq <= this.#seq) return;
    this.#tell(message, true);
    if (message.kind === 'assistant') this.#missed_beginning = false;
  }

  delta(delta: ModelDelta): void {
    if (delta.type === 'restart') {
      // The stream begins again, so nothing of it is missed.
      this.#missed_beginning = false;
      this.#text.restart();
      this.#thought.restart();
    } else if (!this.#missed_beginning && delta.type === 'text') this.#text.add(delta.text);
    else if (!this.#missed_beginning && delta.type === 'reasoning') this.#thought.add(delta.text);
  }

  output(call_id: string, text: string): void {
    const call = this.#find(call_id);
    if (call === undefined) return;
    call.output = endOfText(call.output + text, OUTPUT_MAX);
    call.timer ??= setTimeout(() => {
      call.timer = null;
      this.#options.send({
        sessionUpdate: 'tool_call_update',
        toolCallId: call.id,
        status: 'in_progress',
        content: outputContent(call.output),
      });
    }, OUTPUT_MS);
  }

  callId(call_id: string): string | null {
    return this.#find(call_id)?.id ?? null;
  }

  close(): void {
    for (const { timer } of this.#open) if (timer !== null) clearTimeout(timer);
    this.#open.length = 0;
  }

  #tell(message: PlacedMessage, live: boolean): void {
    this.#seq = message.seq;
    if (message.agent_id === this.#options.agent.id) this.#endInherited();
    switch (message.kind) {
      case 'user':
        return this.#user(message.content, live);
      case 'assistant':
        return this.#assistant(message, live);
      case 'result':
        return this.#result(message.content);
      case 'event':
        return this.#event(message.content, live);
      case 'capture':
        return;
    }
  }

  #user({ origin, text, images = [], facts = {} }: UserContent, live: boolean): void {
    this.#forgetAnswer();
    this.#message += 1;
    // Text from the runtime or from other agents is not shown as the person's.
    if (origin === 'mail' || origin === 'system')
      return this.#aside(withoutFrames(text, facts.frames, origin === 'mail'));
    if (live && origin === 'human' && this.#options.isOwn(text)) return;
    const labels = facts.attached?.labels.map((label) => `\n+ ${label}`).join('') ?? '';
    this.#chunk('user_message_chunk', `${typedText(text, facts.attached)}${labels}`);
    for (const { media_type, base64 } of images)
      this.#options.send({
        sessionUpdate: 'user_message_chunk',
        messageId: this.#message_id,
        content: { type: 'image', mimeType: media_type, data: base64 },
      });
    this.#message += 1;
  }

  #assistant(message: PlacedMessage & { readonly kind: 'assistant' }, live: boolean): void {
    this.#thought.finish(joined(message.content, 'reasoning'));
    this.#text.finish(joined(message.content, 'text'));
    this.#message += 1;
    this.#calls(message, live, (call, view) =>
      this.#options.send({ sessionUpdate: 'tool_call', toolCallId: call, status: 'in_progress', ...view }),
    );
  }

  #calls(
    { agent_id, seq, content }: PlacedMessage & { readonly kind: 'assistant' },
    live: boolean,
    show?: (id: string, view: ReturnType<typeof toolCallView>) => void,
  ): void {
    if (content.finish === 'refused') return;
    for (const [index, part] of content.parts.entries()) {
      if (part.type !== 'call') continue;
      // A model may give several calls the same id.
      const id = `${agent_id.slice(0, 8)}-${seq}-${index}`;
      const { name, input } = part.read ?? part;
      const view = toolCallView(name, input, this.#options.agent.config.cwd, live);
      const shown = view.content ?? [];
      this.#open.push({ id, call_id: part.id, name, input, agent_id, shown, output: '', timer: null });
      show?.(id, view);
    }
  }

  /** Calls of one message that share an id get their results in order. */
  #result(result: ResultContent): void {
    const call = this.#take(result.call_id);
    if (call === undefined) return;
    const read = { ...result, output: outputText(result) };
    this.#options.send({
      sessionUpdate: 'tool_call_update',
      toolCallId: call.id,
      status: result.status === 'ok' ? 'completed' : 'failed',
      ...resultView(call.name, call.input, this.#options.agent.config.cwd, read, call.shown),
    });
  }

  #event({ event, text }: EventContent, live: boolean): void {
    if (event === 'interrupted' || event === 'error') this.#forgetAnswer();
    const severity = SEVERITIES[event];
    if (severity === undefined || (live && event === 'error' && this.#options.tellsFailures())) return;
    // Notices are not kept with the conversation, so past events are shown as thoughts.
    if (!live || !this.#options.notices) return this.#aside(clean(text));
    this.#options.send({ sessionUpdate: 'notice', severity, title: clean(text) || event });
  }

  /** Closes inherited calls: a fork gets no results for calls that were open at its fork point. */
  #endInherited(): void {
    for (const call of this.#open.filter(({ agent_id }) => agent_id !== this.#options.agent.id)) {
      this.#open.splice(this.#open.indexOf(call), 1);
      this.#options.send({ sessionUpdate: 'tool_call_update', toolCallId: call.id, status: 'completed' });
    }
  }

  /** Discards the streamed text: an interrupted answer may leave no message. */
  #forgetAnswer(): void {
    this.#text.forget();
    this.#thought.forget();
  }

  #aside(text: string): void {
    this.#message += 1;
    this.#chunk('agent_thought_chunk', text);
    this.#message += 1;
  }

  #chunk(
    sessionUpdate: 'user_message_chunk' | 'agent_message_chunk' | 'agent_thought_chunk',
    text: string,
  ): void {
    if (text === '') return;
    this.#options.send({ sessionUpdate, messageId: this.#message_id, content: { type: 'text', text } });
  }

  get #message_id(): string {
    return `${this.#options.agent.id.slice(0, 8)}-${this.#message}`;
  }

  #find(call_id: string): OpenCall | undefined {
    return this.#open.find((call) => call.call_id === call_id);
  }

  #take(call_id: string): OpenCall | undefined {
    const call = this.#find(call_id);
    if (call === undefined) return undefined;
    this.#open.splice(this.#open.indexOf(call), 1);
    if (call.timer !== null) clearTimeout(call.timer);
    return call;
  }
}

/** Events that a person should read; the others show in their effects. */
const SEVERITIES: Partial<Readonly<Record<EventContent['event'], 'info' | 'warning' | 'error'>>> = {
  error: 'error',
  killed: 'warning',
  limit: 'warning',
  notice: 'info',
  'left-out': 'info',
  checkpoint: 'info',
};

function joined({ parts }: AssistantContent, type: 'text' | 'reasoning'): string {
  return parts.map((part) => (part.type === type ? part.text : '')).join('');
}

const BROKEN = '\n\n[The answer was interrupted and starts again.]\n\n';

/** Sends text as it arrives; what is sent cannot be taken back. After a restart, text that repeats what was already sent is not sent again. */
export class StreamedText {
  readonly #send: (text: string) => void;
  #sent = '';
  #now = '';
  #compares = false;

  constructor(send: (text: string) => void) {
    this.#send = send;
  }

  add(text: string): void {
    this.#now += text;
    if (this.#compares) return this.#catchUp();
    this.#sent = this.#now;
    if (text !== '') this.#send(text);
  }

  /** The stream broke: the whole text follows again. */
  restart(): void {
    this.#now = '';
    this.#compares = true;
  }

  /** Ends the text, which is now known in full: sends what is missing. */
  finish(whole: string): void {
    this.#now = whole;
    this.#catchUp();
    this.forget();
  }

  /** Discards the text: the answer was abandoned, and the next text is unrelated. */
  forget(): void {
    [this.#sent, this.#now, this.#compares] = ['', '', false];
  }

  #catchUp(): void {
    if (this.#sent.startsWith(this.#now)) return;
    const follows = this.#now.startsWith(this.#sent);
    this.#send(follows ? this.#now.slice(this.#sent.length) : `${BROKEN}${this.#now}`);
    this.#sent = this.#now;
    this.#compares = false;
  }
}
