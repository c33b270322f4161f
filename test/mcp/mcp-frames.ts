/** Frames that no client should send, made from those that clients do send. Each seed gives the same frames. */

export const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'fuzz', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
};

const ODD: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  1.5,
  '',
  'x',
  '\ud800',
  '\0',
  '../..',
  '__proto__',
  [],
  {},
  [[]],
  { toString: 1 },
  'a'.repeat(5_000),
];
const NOBODY = 'c0ffee00-0000-4000-8000-000000000000';

export class McpFrames {
  #state: number;
  #id = 1;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** A line without its end; damage may have put ends of lines into it. */
  next(): Buffer {
    const frame = this.#frame();
    switch (this.#below(10)) {
      case 0:
        return Buffer.from(JSON.stringify(frame));
      case 1:
        return Buffer.from(JSON.stringify(this.#pick(ODD)));
      case 2:
        return Buffer.from(JSON.stringify([frame]));
      case 3: {
        const depth = 190 + this.#below(800);
        return Buffer.from(
          `{"jsonrpc":"2.0","id":${this.#id},"method":"tools/call","params":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`,
        );
      }
      case 4:
      case 5:
      case 6:
        return this.#damaged(Buffer.from(JSON.stringify(frame)));
      default:
        return Buffer.from(JSON.stringify(this.#changed(frame)));
    }
  }

  #frame(): Record<string, unknown> {
    const call = (name: string, input: object): readonly [string, object] => [
      'tools/call',
      { name, arguments: input },
    ];
    const task = this.#pick([`tree.${NOBODY}`, `call.${NOBODY}.1.${NOBODY}`, 'x']);
    const [method, params] = this.#pick<readonly [string, object]>([
      ['server/discover', {}],
      [
        'initialize',
        { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
      ],
      ['tools/list', {}],
      ['resources/list', {}],
      ['resources/read', { uri: `coppice://agents/${NOBODY}/transcript` }],
      ['tasks/get', { taskId: task }],
      [
        'tasks/update',
        { taskId: task, inputResponses: { [NOBODY]: { action: 'accept', content: { decision: 'deny' } } } },
      ],
      ['tasks/cancel', { taskId: task }],
      ['prompts/list', {}],
      ['subscriptions/listen', { notifications: { taskIds: [task] } }],
      call('list_agents', {}),
      call('wait', { timeout: 0, from_agents: [NOBODY] }),
      call('send', { to: NOBODY, message: 'hello' }),
      call('kill', { agent_id: NOBODY }),
      call('start_tree', { prompt: '', cwd: '/nowhere' }),
      call('spawn_agents', { tasks: [{ task: 'x', profile: 'none such' }] }),
    ]);
    const id = this.#id++;
    const kind = this.#below(8);
    if (kind === 0)
      return {
        jsonrpc: '2.0',
        method: this.#pick(['notifications/cancelled', 'notifications/none']),
        params: { requestId: this.#below(id) },
      };
    if (kind === 1) return { jsonrpc: '2.0', id: this.#below(9), result: params };
    return { jsonrpc: '2.0', id, method, params: { ...params, _meta: META } };
  }

  /** One value, anywhere in it, is another, gone or new. */
  #changed(frame: Record<string, unknown>): unknown {
    const copy = structuredClone(frame);
    for (let place: Record<string, unknown> = copy; ; ) {
      const keys = Object.keys(place);
      const key = keys.length === 0 ? 'new' : this.#pick(keys);
      const below = place[key];
      if (typeof below === 'object' && below !== null && this.#below(3) > 0) {
        place = below as Record<string, unknown>;
        continue;
      }
      if (this.#below(3) === 0) delete place[key];
      else place[key] = this.#pick(ODD);
      return copy;
    }
  }

  /** Bytes are flipped, left out or doubled. */
  #damaged(frame: Buffer): Buffer {
    const bytes = [...frame];
    for (let times = 1 + this.#below(4); times > 0; times -= 1) {
      const at = this.#below(bytes.length);
      const how = this.#below(3);
      if (how === 0) bytes[at] = this.#below(256);
      else if (how === 1) bytes.splice(at, 1 + this.#below(20));
      else bytes.splice(at, 0, ...bytes.slice(at, at + this.#below(20)));
    }
    return Buffer.from(bytes);
  }

  #pick<Value>(from: readonly Value[]): Value {
    return from[this.#below(from.length)] as Value;
  }

  /** Mulberry32. */
  #below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }
}
