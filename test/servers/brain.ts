/** One message of a request to a test server, in one shape for all protocols. */
export interface SeenMessage {
  readonly role: 'user' | 'assistant' | 'results';
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string }[];
  readonly results: readonly { readonly id: string; readonly output: string }[];
}

export interface Exchange {
  readonly index: number;
  /** The path of the request with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The exact request body. */
  readonly raw: string;
  readonly body: Record<string, unknown>;
  readonly system: string;
  readonly messages: readonly SeenMessage[];
  /** Why the server refused the request, as the real one would; null if it did not. */
  readonly refused: string | null;
}

export type Fault =
  | {
      readonly status: number;
      readonly headers?: Record<string, string>;
      readonly message?: string;
      /** The exact body, instead of the protocol's usual one. */
      readonly body?: unknown;
    }
  /** The connection is cut after this many events. */
  | { readonly cut_after: number }
  /** The event with this index (from 0) is not JSON. */
  | { readonly malformed_at: number }
  /** Nothing more is sent after this many events, and the connection stays open. */
  | { readonly stall_after: number };

export interface Answer {
  readonly text?: string;
  readonly reasoning?: string;
  /** An `input` that is text is sent unchanged, so it may be invalid JSON. `namespace`: the one in which the tool was offered (Responses API). */
  readonly calls?: readonly {
    readonly id?: string;
    readonly name: string;
    readonly namespace?: string;
    readonly input: unknown;
  }[];
  readonly usage?: {
    readonly input: number;
    readonly output: number;
    /** Null: the server reports no cache (Chat Completions and Messages only). */
    readonly cached?: number | null;
    readonly reasoning?: number;
  };
  /** Number of pieces into which the text is cut; default 3. */
  readonly pieces?: number;
  readonly delay_ms?: number;
  readonly fault?: Fault;
  /** Why the answer is incomplete: cut at the output limit, declined by the model, or blocked by a filter. Default: complete. */
  readonly finish?: 'length' | 'refused' | 'blocked';
}

export type Answerer = (exchange: Exchange) => Answer | Promise<Answer>;

export function pieces(text: string, count: number): string[] {
  const size = Math.max(1, Math.ceil(text.length / count));
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  );
}

export function argumentsOf(input: unknown): string {
  return typeof input === 'string' ? input : JSON.stringify(input);
}

/** Rules common to the conversations of all protocols: every call is answered exactly once, in the next message. */
export function refusalOf(messages: readonly SeenMessage[]): string | null {
  const seen = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const before = messages[index - 1];
    const open = before?.calls ?? [];
    if (open.length > 0 && message.role !== 'results')
      return `message ${index}: the calls before it are not answered`;
    if (message.role === 'results') {
      const ids = message.results.map((result) => result.id);
      if (new Set(ids).size !== ids.length) return `message ${index}: a call is answered twice`;
      const missing = open.find((call) => !ids.includes(call.id));
      if (missing !== undefined) return `message ${index}: call ${missing.id} has no result`;
      const stray = ids.find((id) => !open.some((call) => call.id === id));
      if (stray !== undefined) return `message ${index}: result ${stray} answers no call`;
    }
    for (const call of message.calls) {
      if (seen.has(call.id)) return `message ${index}: call id ${call.id} is used twice`;
      seen.add(call.id);
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(call.name)) return `message ${index}: bad function name ${call.name}`;
    }
  }
  if ((messages.at(-1)?.calls.length ?? 0) > 0) return 'the last calls are not answered';
  if (messages[0]?.role !== 'user') return 'the first message is not from the user';
  return null;
}
