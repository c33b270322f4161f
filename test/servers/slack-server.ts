import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { until } from '../until.ts';

export interface SlackCall {
  readonly method: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any;
}

interface SlackFault {
  readonly status?: number;
  readonly error?: string;
  readonly retry_after?: number;
  readonly how?: 'drop' | 'hang';
}

/** What was posted, as Slack keeps it. */
export interface SlackMessage {
  readonly channel: string;
  readonly thread_ts?: string;
  readonly ts: string;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly metadata?: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  attachments: any[];
}

export const SLACK_BOT = 'U0BOT';
const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** The part of Slack's Web API and of Socket Mode that the channel uses, over real HTTP and a real WebSocket. */
export class SlackServer {
  readonly bot_token = 'xoxb-bot-secret-of-the-test';
  readonly app_token = 'xapp-app-secret-of-the-test';
  readonly calls: SlackCall[] = [];
  readonly messages: SlackMessage[] = [];
  readonly acknowledged: string[] = [];
  readonly #faults: SlackFault[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #connections: Socket[] = [];
  #opened = 0;
  #time = 1_700_000_000;
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  static async start(): Promise<SlackServer> {
    const server = new SlackServer();
    server.#server.on('connection', (socket) => {
      server.#sockets.add(socket);
      socket.on('close', () => server.#sockets.delete(socket)).on('error', () => undefined);
    });
    server.#server.on('upgrade', (request, socket) => server.#upgrade(request, socket as Socket));
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/api`;
  }

  /** Number of connections that were opened so far. */
  get opened(): number {
    return this.#opened;
  }

  get connected(): boolean {
    return this.#connections.length > 0;
  }

  /** The next `chat.postMessage` fails. */
  fail(fault: SlackFault): void {
    this.#faults.push(fault);
  }

  time(): string {
    this.#time += 1;
    return `${this.#time}.000100`;
  }

  /** A person writes; resolves to the `ts` of the message. */
  write(user: string, channel: string, text: string, more: object = {}): string {
    const ts = this.time();
    const kind = channel.startsWith('D') ? { channel_type: 'im' } : { channel_type: 'channel' };
    this.event({ type: 'message', user, channel, text, ts, ...kind, ...more });
    return ts;
  }

  event(event: object, event_id = `Ev${randomUUID()}`): string {
    return this.envelope('events_api', { type: 'event_callback', event_id, event });
  }

  /** A person presses the button with this label. */
  press(user: string, message: SlackMessage, label: RegExp): string {
    const [block] = message.attachments[0].blocks;
    // biome-ignore lint/suspicious/noExplicitAny: as above
    const button = block.elements.find((one: any) => label.test(one.text.text));
    return this.envelope('interactive', {
      type: 'block_actions',
      user: { id: user },
      channel: { id: message.channel },
      message: { ts: message.ts, thread_ts: message.thread_ts, text: message.text },
      actions: [
        { type: 'button', block_id: block.block_id, action_id: button.action_id, value: button.value },
      ],
    });
  }

  envelope(type: string, payload: object, envelope_id: string = randomUUID()): string {
    this.#send({ envelope_id, type, payload, accepts_response_payload: false });
    return envelope_id;
  }

  /** Tells the client to connect anew, as Slack does every few hours. */
  disconnect(): void {
    this.#send({ type: 'disconnect', reason: 'refresh_requested' });
    this.#connections.pop();
  }

  /** The network drops the connection. */
  drop(): void {
    for (const socket of this.#connections.splice(0)) socket.destroy();
  }

  async untilConnected(): Promise<void> {
    await until(() => this.connected, 'the channel is connected');
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += chunk;
    const method = (request.url ?? '').replace('/api/', '');
    const body = JSON.parse(text || '{}');
    this.calls.push({ method, body });
    const answer = (status: number, document: object, headers = {}) =>
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(document));
    const token = method === 'apps.connections.open' ? this.app_token : this.bot_token;
    if (request.headers.authorization !== `Bearer ${token}`)
      return void answer(200, { ok: false, error: 'invalid_auth' });
    const fault = method === 'chat.postMessage' ? this.#faults.shift() : undefined;
    if (fault?.how === 'hang') return;
    if (fault?.how === 'drop') return void response.destroy();
    if (fault !== undefined)
      return void answer(
        fault.status ?? 200,
        { ok: false, error: fault.error ?? 'fatal_error' },
        fault.retry_after === undefined ? {} : { 'retry-after': String(fault.retry_after) },
      );
    if (method === 'auth.test')
      return void answer(200, { ok: true, user: 'copse', user_id: SLACK_BOT, team: 'Acme' });
    if (method === 'apps.connections.open')
      return void answer(200, {
        ok: true,
        url: this.url.replace('http', 'ws').replace('/api', '/link?ticket=1'),
      });
    if (method === 'chat.postMessage') {
      if (!/^[CDU]0/.test(body.channel)) return void answer(200, { ok: false, error: 'channel_not_found' });
      const message = { ...body, ts: this.time(), attachments: body.attachments ?? [] } as SlackMessage;
      this.messages.push(message);
      return void answer(200, { ok: true, channel: message.channel, ts: message.ts });
    }
    if (method === 'chat.update') {
      const found = this.messages.find(({ ts }) => ts === body.ts);
      if (found === undefined) return void answer(200, { ok: false, error: 'message_not_found' });
      Object.assign(found, { text: body.text, attachments: body.attachments });
      return void answer(200, { ok: true });
    }
    answer(200, { ok: false, error: 'unknown_method' });
  }

  #upgrade(request: IncomingMessage, socket: Socket): void {
    const key = createHash('sha1').update(`${request.headers['sec-websocket-key']}${MAGIC}`).digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${key}\r\n\r\n`,
    );
    this.#opened += 1;
    this.#connections.push(socket);
    const leave = () => {
      const index = this.#connections.indexOf(socket);
      if (index >= 0) this.#connections.splice(index, 1);
    };
    let buffer = Buffer.alloc(0);
    socket.on('close', leave).on('data', (chunk: Buffer) => {
      buffer = Buffer.concat([buffer, chunk]);
      for (let frame = frameIn(buffer); frame !== null; frame = frameIn(buffer)) {
        buffer = buffer.subarray(frame.length);
        if (frame.opcode === 8) {
          leave();
          socket.end();
        } else if (frame.opcode === 1) this.acknowledged.push(JSON.parse(frame.text).envelope_id);
      }
    });
    this.#send({ type: 'hello', num_connections: 1 });
  }

  #send(document: object): void {
    const data = Buffer.from(JSON.stringify(document));
    const head =
      data.length < 126
        ? Buffer.from([0x81, data.length])
        : Buffer.from([0x81, 126, data.length >> 8, data.length & 255]);
    this.#connections.at(-1)?.write(Buffer.concat([head, data]));
  }
}

/** The first frame of a client, which masks its frames; null if it has not arrived. Long frames do not occur. */
function frameIn(
  buffer: Buffer,
): { readonly opcode: number; readonly length: number; readonly text: string } | null {
  if (buffer.length < 2) return null;
  const short = (buffer[1] as number) & 127;
  const start = short === 126 ? 4 : 2;
  if (buffer.length < start + 4) return null;
  const size = short === 126 ? buffer.readUInt16BE(2) : short;
  if (buffer.length < start + 4 + size) return null;
  const mask = buffer.subarray(start, start + 4);
  const data = buffer
    .subarray(start + 4, start + 4 + size)
    .map((byte, index) => byte ^ (mask[index % 4] as number));
  return { opcode: (buffer[0] as number) & 15, length: start + 4 + size, text: Buffer.from(data).toString() };
}
