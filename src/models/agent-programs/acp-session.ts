import {
  type CreateTerminalRequest,
  RequestError,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type TerminalOutputResponse,
} from '@agentclientprotocol/sdk';
import * as z from 'zod';
import type { PromptMessage } from '../../records/conversation/prompt-message.ts';
import type { HostAnswer, HostExit, HostTerminal, ModelHost } from '../model-host.ts';
import { chosenOption, type PermissionUse, permissionUses, type ToolCallFacts } from './acp-permission.ts';
import type { AcpTurn } from './acp-turn.ts';
import { type AcpTokens, addTokens, sessionCost } from './acp-usage.ts';

const MAX_TERMINALS = 32;
const MAX_CALLS = 1000;
/** Maximum uses of one call; all of them must be allowed. */
const MAX_USES = 200;
/** Maximum characters of a call's arguments that are shown with an approval; longer ones are replaced by the call's title. */
const MAX_INPUT = 60_000;
const OUTPUT_BYTES = 256 * 1024;
const MAX_OUTPUT_BYTES = 1024 * 1024;
const REFUSED = -32603;
const NOT_FOUND = -32002;

/** Validates only the fields in use, because programs send newer kinds of updates. */
const update = z.looseObject({
  sessionUpdate: z.string(),
  content: z.unknown().optional(),
  messageId: z.unknown().optional(),
});
const call = z.looseObject({ toolCallId: z.string(), title: z.string().nullish() });

/**
 * One agent's session in an agent program. The program's requests are answered only during a prompt, by the host of that prompt; at other times
 * everything is refused.
 */
export class AcpSession {
  readonly id: string;
  /** Number of messages of the agent's conversation that the program knows, not counting its own answer, and the newest of them. */
  seen = 0;
  #newest = '';
  /** The current prompt; settles when it was answered or abandoned. Never rejects. */
  busy: Promise<void> = Promise.resolve();
  /** Whether the session is unusable: the next prompt needs a new one. */
  ended = false;
  /** US dollars of all prompts so far, null if the program does not report them, and how much of it has been counted. */
  #tokens: AcpTokens | null = null;
  /** Whether people were told that tokens are estimated. */
  estimated = false;
  #cost_usd: number | null = null;
  #counted_usd = 0;
  /** The latest refusal of a use in this prompt. */
  refused: string | null = null;
  #turn: AcpTurn | null = null;
  #host: ModelHost | null = null;
  readonly #terminals = new Map<string, HostTerminal>();
  readonly #calls = new Map<string, ToolCallFacts>();
  #terminal_count = 0;

  constructor(id: string) {
    this.id = id;
  }

  /** Records the conversation that the program has answered. */
  knows(messages: readonly PromptMessage[]): void {
    this.seen = messages.length;
    this.#newest = JSON.stringify(messages.at(-1));
  }

  /** Whether the conversation continues the one that the program knows. */
  continues(messages: readonly PromptMessage[]): boolean {
    if (this.seen === 0) return true;
    return this.seen < messages.length && JSON.stringify(messages[this.seen - 1]) === this.#newest;
  }

  beginTurn(turn: AcpTurn, host: ModelHost): void {
    this.#turn = turn;
    this.#host = host;
    this.refused = null;
  }

  /** Refuses everything from now on, and stops the program's commands. */
  async endTurn(): Promise<void> {
    this.#turn = null;
    this.#host = null;
    this.#calls.clear();
    await Promise.all([...this.#terminals.values()].map((terminal) => terminal.kill()));
  }

  /** Returns the US dollars spent since the previous call, including interrupted and failed prompts; null if the program has never reported any. */
  takeCost(): number | null {
    if (this.#cost_usd === null) return null;
    const spent = Math.max(this.#cost_usd - this.#counted_usd, 0);
    this.#counted_usd = this.#cost_usd;
    return spent;
  }

  /** Returns the tokens reported with updates since the previous call; null if there were none. */
  takeTokens(): AcpTokens | null {
    const tokens = this.#tokens;
    this.#tokens = null;
    return tokens;
  }

  /** Closes the session permanently. */
  async end(): Promise<void> {
    this.ended = true;
    await this.endTurn();
    this.#terminals.clear();
  }

  update(params: unknown): void {
    const turn = this.#turn;
    const parsed = update.safeParse(params);
    if (!parsed.success) return;
    const { sessionUpdate } = parsed.data;
    if (sessionUpdate === 'usage_update') this.#cost_usd = sessionCost(params) ?? this.#cost_usd;
    this.#tokens = addTokens(this.#tokens, params);
    if (turn === null) return;
    if (sessionUpdate === 'agent_message_chunk') turn.message(parsed.data);
    else if (sessionUpdate === 'agent_thought_chunk') turn.thought(parsed.data);
    else if (sessionUpdate === 'tool_call' || sessionUpdate === 'tool_call_update') {
      const known = call.safeParse(params);
      if (!known.success) return;
      const { toolCallId, title } = known.data;
      this.#remember(toolCallId, known.data as ToolCallFacts);
      turn.call(toolCallId, title ?? 'tool');
    }
  }

  /** Later updates of a call are merged into earlier ones. */
  #remember(id: string, facts: ToolCallFacts): ToolCallFacts {
    const said = Object.entries(facts).filter(([, value]) => value !== undefined && value !== null);
    const known = { ...this.#calls.get(id), ...(Object.fromEntries(said) as ToolCallFacts) };
    if (this.#calls.size < MAX_CALLS || this.#calls.has(id)) this.#calls.set(id, known);
    return known;
  }

  /** Resolves when rules or a person have decided, or the prompt has ended. */
  async permission({ toolCall, options }: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    const host = this.#host;
    if (host === null) return { outcome: { outcome: 'cancelled' } };
    const facts = this.#remember(toolCall.toolCallId, toolCall);
    // Some programs announce a call only by its permission request.
    this.#turn?.call(toolCall.toolCallId, facts.title ?? 'tool');
    const uses = permissionUses(facts);
    const refused =
      uses.length > MAX_USES
        ? `a call may touch at most ${MAX_USES} files, and this one names ${uses.length}`
        : await firstRefusal(host, uses, facts);
    if (this.#host !== host) return { outcome: { outcome: 'cancelled' } };
    if (refused !== null) this.#refuse(refused);
    return { outcome: chosenOption(options, refused === null) };
  }

  async readFile(path: string, line: number | undefined, limit: number | undefined): Promise<string> {
    return this.#allowed(await this.#open().readFile(path, line, limit)).text;
  }

  async writeFile(path: string, text: string): Promise<void> {
    this.#allowed(await this.#open().writeFile(path, text));
  }

  async createTerminal(request: CreateTerminalRequest): Promise<string> {
    if (this.#terminals.size >= MAX_TERMINALS) this.#dropEnded();
    if (this.#terminals.size >= MAX_TERMINALS)
      throw new RequestError(REFUSED, `there are ${MAX_TERMINALS} terminals already: release some`);
    const host = this.#open();
    const { terminal } = this.#allowed(
      await host.startCommand({
        command: request.command,
        args: request.args ?? [],
        cwd: request.cwd ?? null,
        env: Object.fromEntries((request.env ?? []).map(({ name, value }) => [name, value])),
        output_bytes: Math.min(request.outputByteLimit ?? OUTPUT_BYTES, MAX_OUTPUT_BYTES),
      }),
    );
    // The prompt may have ended while the command was starting.
    if (this.#host !== host) {
      await terminal.kill();
      throw new RequestError(REFUSED, 'the prompt has ended');
    }
    this.#terminal_count += 1;
    const id = `terminal-${this.#terminal_count}`;
    this.#terminals.set(id, terminal);
    return id;
  }

  terminalOutput(id: string): TerminalOutputResponse {
    const { text, truncated, exit } = this.terminal(id).output();
    return { output: text, truncated, exitStatus: exit === null ? null : exitStatus(exit) };
  }

  async releaseTerminal(id: string): Promise<void> {
    const terminal = this.terminal(id);
    this.#terminals.delete(id);
    await terminal.kill();
  }

  /** Releases ended terminals, which programs often forget to do. */
  #dropEnded(): void {
    for (const [id, terminal] of this.#terminals)
      if (terminal.output().exit !== null) this.#terminals.delete(id);
  }

  /** Throws for a terminal that the program does not have. */
  terminal(id: string): HostTerminal {
    const terminal = this.#terminals.get(id);
    if (terminal === undefined) throw new RequestError(REFUSED, `there is no terminal "${id}"`);
    return terminal;
  }

  #open(): ModelHost {
    if (this.#host === null) throw new RequestError(REFUSED, 'no prompt is under way in this session');
    return this.#host;
  }

  #allowed<T extends object>(answer: HostAnswer<T>): T {
    if (answer.ok) return answer;
    // Programs distinguish missing from forbidden files by the code.
    if (/: no such file$/.test(answer.error))
      throw new RequestError(NOT_FOUND, `Resource not found: ${answer.error}`);
    this.#refuse(answer.error);
    throw new RequestError(REFUSED, answer.error);
  }

  #refuse(sentence: string): void {
    this.refused = sentence;
    this.#turn?.refuse(sentence);
  }
}

/** Returns the first refusal, null if all uses are allowed. Uses are checked in turn: after a refusal, nobody is asked about the rest. */
async function firstRefusal(
  host: ModelHost,
  uses: readonly PermissionUse[],
  facts: ToolCallFacts,
): Promise<string | null> {
  const all = JSON.stringify(facts.rawInput ?? {});
  const input = all.length > MAX_INPUT || all === '{}' ? JSON.stringify({ title: facts.title ?? '' }) : all;
  for (const use of uses) {
    const diff = facts.content?.find((part) => part.type === 'diff' && part.path === use.subject);
    const change =
      diff?.type === 'diff' ? { change: { before: diff.oldText ?? '', after: diff.newText } } : {};
    const refused = await host.permit({ ...use, input, ...change });
    if (refused !== null) return refused;
  }
  return null;
}

export function exitStatus({ code, signal }: HostExit): { exitCode: number | null; signal: string | null } {
  return { exitCode: code, signal };
}
