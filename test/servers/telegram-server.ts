import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { TelegramBook } from './telegram-book.ts';
import { TelegramUpdates } from './telegram-updates.ts';
import { granted, refusal, type TelegramAnswer } from './telegram-wire.ts';

/** Scripted fault in a call of a method. */
export type TelegramFault =
  | { readonly type: 'flood'; readonly retry_after: number }
  | {
      readonly type: 'error';
      readonly status: number;
      readonly description: string;
      readonly parameters?: object;
    }
  /** The answer is an HTML page, as from a proxy in front of the server. */
  | { readonly type: 'page'; readonly status: number }
  /** The connection breaks before or after the call is carried out. */
  | { readonly type: 'drop'; readonly when: 'before' | 'after' }
  | { readonly type: 'hang' }
  /** The call is carried out and answered after a delay. */
  | { readonly type: 'slow'; readonly ms: number };

/** One call as it was received. */
export interface TelegramCall {
  readonly method: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Time of receipt in milliseconds, monotonic. */
  readonly at: number;
  /** HTTP status of the answer; 0 if there was none. */
  status: number;
}

const TOKEN = '4242:Secret_token-of-the-test';
const BOT = { id: 4242, is_bot: true, first_name: 'Copse', username: 'copse_bot' };

/** The part of the Bot API that the channel uses, over HTTP. */
export class TelegramServer {
  readonly token = TOKEN;
  readonly bot = BOT;
  readonly book = new TelegramBook();
  readonly updates = new TelegramUpdates();
  /** All calls but `getUpdates`. */
  readonly calls: TelegramCall[] = [];
  readonly polls: TelegramCall[] = [];
  /** Calls that were made before a `retry_after` had passed. */
  readonly hasty: TelegramCall[] = [];
  commands: unknown = null;
  #url = '';
  #held_until = 0;
  readonly #faults = new Map<string, TelegramFault[]>();
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  static async start(): Promise<TelegramServer> {
    const server = new TelegramServer();
    server.#server.on('connection', (socket) => {
      server.#sockets.add(socket);
      socket.on('close', () => server.#sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    server.#url = `http://127.0.0.1:${(server.#server.address() as AddressInfo).port}`;
    return server;
  }

  get url(): string {
    return this.#url;
  }

  fail(method: string, fault: TelegramFault, times = 1): void {
    const faults = this.#faults.get(method) ?? [];
    this.#faults.set(method, [...faults, ...Array<TelegramFault>(times).fill(fault)]);
  }

  /** Calls of one method, oldest first. */
  called(method: string): readonly TelegramCall[] {
    return this.calls.filter((call) => call.method === method);
  }

  /** Breaks all connections, as a network failure does. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.updates.close();
    this.drop();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = performance.now();
    const [, token, method = ''] = /^\/bot([^/]+)\/(\w+)$/.exec(request.url ?? '') ?? [];
    const body = readBody(request.headers['content-type'] ?? '', await textOf(request));
    const call: TelegramCall = { method, body, at, status: 0 };
    (method === 'getUpdates' ? this.polls : this.calls).push(call);
    const reply = ({ status, body: answer }: TelegramAnswer) => {
      call.status = status;
      if (typeof answer === 'string') response.writeHead(status, { 'content-type': 'text/html' }).end(answer);
      else response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    };
    if (token !== TOKEN) return reply(refusal(401, 'Unauthorized'));
    if (method !== 'getUpdates' && method !== 'getMe' && at < this.#held_until) this.hasty.push(call);
    const fault = this.#faults.get(method)?.shift();
    if (fault?.type === 'slow') await sleep(fault.ms);
    if (fault === undefined || fault.type === 'slow')
      return reply(await this.#answer(method, body, response));
    if (fault.type === 'hang') return;
    if (fault.type === 'drop') {
      if (fault.when === 'after') await this.#answer(method, body, response);
      request.socket.destroy();
    } else if (fault.type === 'page') reply({ status: fault.status, body: '<html>Bad Gateway</html>' });
    else if (fault.type === 'error') reply(refusal(fault.status, fault.description, fault.parameters));
    else {
      if (method !== 'getUpdates') this.#held_until = performance.now() + fault.retry_after * 1000;
      const { retry_after } = fault;
      reply(refusal(429, `Too Many Requests: retry after ${retry_after}`, { retry_after }));
    }
  }

  async #answer(
    method: string,
    body: Readonly<Record<string, unknown>>,
    response: ServerResponse,
  ): Promise<TelegramAnswer> {
    switch (method) {
      case 'getMe':
        return granted(BOT);
      case 'getUpdates':
        return await this.updates.poll(body, response);
      case 'sendMessage':
        return this.book.send(body);
      case 'editMessageText':
        return this.book.edit(body);
      case 'sendChatAction':
        return this.book.knows(body.chat_id) ? granted(true) : refusal(400, 'Bad Request: chat not found');
      case 'answerCallbackQuery':
        return this.updates.answered(String(body.callback_query_id))
          ? granted(true)
          : refusal(400, 'Bad Request: query is too old and response timeout expired or query ID is invalid');
      case 'setMyCommands':
        return this.#setCommands(body.commands);
      default:
        return refusal(404, 'Not Found');
    }
  }

  #setCommands(commands: unknown): TelegramAnswer {
    const fine =
      Array.isArray(commands) &&
      commands.every(
        ({ command, description }) =>
          /^[a-z0-9_]{1,32}$/.test(command) && description.length >= 1 && description.length <= 256,
      );
    if (!fine) return refusal(400, 'Bad Request: BOT_COMMAND_INVALID');
    this.commands = commands;
    return granted(true);
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Parses JSON, or a form whose fields hold JSON unless they are plain text. */
function readBody(type: string, text: string): Record<string, unknown> {
  if (type.startsWith('application/json'))
    return JSON.parse(text === '' ? '{}' : text) as Record<string, unknown>;
  const form: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(text))
    form[name] = /^[[{]|^(?:true|false|-?\d+)$/.test(value) && name !== 'text' ? JSON.parse(value) : value;
  return form;
}
