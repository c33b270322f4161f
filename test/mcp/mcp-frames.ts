/** Frames that no client should send, made by mutating valid ones. The same seed gives the same frames. */

import { changedFrame, damagedFrame, ODD, pick, type Random, randomOf } from '../house/odd-frames.ts';

export const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'fuzz', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
};

const NOBODY = 'c0ffee00-0000-4000-8000-000000000000';

export class McpFrames {
  readonly #below: Random;
  #id = 1;

  constructor(seed: number) {
    this.#below = randomOf(seed);
  }

  /** Returns a line without its final line break; mutations may have inserted line breaks. */
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
        return damagedFrame(Buffer.from(JSON.stringify(frame)), this.#below);
      default:
        return Buffer.from(JSON.stringify(changedFrame(frame, this.#below)));
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

  #pick<Value>(from: readonly Value[]): Value {
    return pick(from, this.#below);
  }
}
