/**
 * Generates frames that no editor should send, by mutating valid ones; an independent oracle derives the answer that the specification requires for each. The
 * same seed gives the same frames.
 */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { MESSAGE_DEPTH } from '../../src/processes/output/json-meter.ts';
import { changedFrame, damagedFrame, ODD, pick, type Random, randomOf } from '../house/odd-frames.ts';
import { until } from '../until.ts';

/** The methods that `coppice acp` answers. */
const METHODS: ReadonlySet<string> = new Set([
  'initialize',
  'session/new',
  'session/load',
  'session/resume',
  'session/list',
  'session/close',
  'session/set_mode',
  'session/set_config_option',
  'session/prompt',
]);

/** Error codes that answers to `METHODS` may have, besides results; answers to all other frames must match exactly. */
const CODES: ReadonlySet<number> = new Set([-32602, -32603, -32600, -32002, -32000, -32800]);

/** The answer that an agent must give to a line; null: none. */
type Expected = { readonly id: string; readonly code: number | 'any' } | null;

interface Answer {
  readonly id: unknown;
  readonly method?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

export function expectedAnswer(line: Buffer): Expected {
  const text = new TextDecoder().decode(line).trim();
  if (text === '') return null;
  if (depthOf(text) > MESSAGE_DEPTH) return { id: 'null', code: -32700 };
  let frame: unknown;
  try {
    frame = JSON.parse(text);
  } catch {
    return { id: 'null', code: -32700 };
  }
  const wrong: Expected = { id: 'null', code: -32600 };
  if (typeof frame !== 'object' || frame === null || Array.isArray(frame)) return wrong;
  const { jsonrpc, method, id } = frame as Record<string, unknown>;
  if (!('method' in frame)) return 'id' in frame || 'result' in frame || 'error' in frame ? null : wrong;
  if (jsonrpc !== '2.0' || typeof method !== 'string') return wrong;
  if (!('id' in frame)) return null;
  if (id !== null && typeof id !== 'string' && !Number.isFinite(id)) return wrong;
  return { id: JSON.stringify(id), code: METHODS.has(method) ? 'any' : -32601 };
}

/** Returns the deepest nesting outside strings. Also works for text that is not JSON, as far as its quotes are balanced. */
function depthOf(text: string): number {
  let [depth, deepest, quoted] = [0, 0, false];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (quoted && character === '\\') at += 1;
    else if (character === '"') quoted = !quoted;
    else if (!quoted && (character === '{' || character === '[')) deepest = Math.max(deepest, ++depth);
    else if (!quoted && (character === '}' || character === ']')) depth -= 1;
  }
  return deepest;
}

export class FrameFuzz {
  readonly #random: Random;
  readonly #cwd: string;
  readonly #sessions: readonly string[];
  #id = 1_000;

  constructor(seed: number, cwd: string, sessions: readonly string[]) {
    this.#random = randomOf(seed);
    this.#cwd = cwd;
    this.#sessions = sessions;
  }

  /** Returns a line without its final line break; mutations may have inserted line breaks. */
  next(): Buffer {
    const frame = this.#frame();
    const kind = this.#random(20);
    if (kind < 5) return Buffer.from(JSON.stringify(frame));
    if (kind < 11) return Buffer.from(JSON.stringify(changedFrame(frame, this.#random)));
    if (kind < 17) return damagedFrame(Buffer.from(JSON.stringify(frame)), this.#random);
    if (kind === 17) return Buffer.from(JSON.stringify(this.#pick(ODD)));
    if (kind === 18) return Buffer.from(JSON.stringify([frame]));
    // The frame itself adds one level.
    const depth = MESSAGE_DEPTH - 2 + this.#random(800);
    const params = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    return Buffer.from(`{"jsonrpc":"2.0","id":${this.#id++},"method":"session/new","params":${params}}`);
  }

  #frame(): Record<string, unknown> {
    const sessionId = this.#random(4) === 0 ? 'nobody' : this.#pick(this.#sessions);
    const cwd = this.#random(40) === 0 ? this.#cwd : '/nowhere/at/all';
    const prompt = [{ type: 'text', text: 'Hello' }];
    const requests: readonly (readonly [string, object])[] = [
      ['session/new', { cwd, mcpServers: [] }],
      ['session/load', { sessionId: 'nobody', cwd, mcpServers: [] }],
      ['session/resume', { sessionId: 'c0ffee00-0000-4000-8000-000000000000', cwd }],
      ['session/list', { cwd, cursor: null }],
      ['session/close', { sessionId: 'nobody' }],
      ['session/set_mode', { sessionId, modeId: this.#pick(['ask', 'accept', 'plan', 'yolo']) }],
      ['session/set_config_option', { sessionId, configId: 'thinking', value: 'low' }],
      ['session/prompt', { sessionId: this.#random(50) === 0 ? sessionId : 'nobody', prompt }],
      ['session/delete', { sessionId }],
      ['session/fork', { sessionId, cwd }],
      ['authenticate', { methodId: 'setup' }],
      ['fs/read_text_file', { sessionId, path: '/etc/passwd' }],
    ];
    const [method, params] = this.#pick(requests);
    switch (this.#random(8)) {
      case 0:
        return {
          jsonrpc: '2.0',
          method: this.#pick(['session/cancel', '$/cancel_request', 'session/none']),
          params,
        };
      case 1:
        return { jsonrpc: '2.0', id: this.#random(9), result: params };
      case 2:
        return { jsonrpc: '2.0', id: this.#random(9), error: { code: this.#random(9), message: 'no' } };
      default:
        return { jsonrpc: '2.0', id: this.#id++, method, params };
    }
  }

  #pick<Value>(from: readonly Value[]): Value {
    return pick(from, this.#random);
  }
}

/** The client end of a raw connection; checks that every line sent was answered as the specification says. */
export class RawEditor {
  readonly #child: ChildProcess;
  readonly #answers = new Map<string, Answer[]>();
  readonly #expected = new Map<string, (number | 'any')[]>();
  #waiting = 0;
  sent = 0;
  broken = 0;
  /** Lines sent since the last check, for failure messages. */
  readonly #newest: string[] = [];

  constructor(child: ChildProcess) {
    this.#child = child;
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      const lines = (text + piece).split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) this.#take(JSON.parse(line) as Answer);
    });
    // Drained, so that a full pipe does not block the program.
    child.stderr?.resume();
  }

  #take(answer: Answer): void {
    // An update or a request from the agent, not an answer.
    if (answer.method !== undefined) return;
    const key = JSON.stringify(answer.id);
    this.#answers.set(key, [...(this.#answers.get(key) ?? []), answer]);
    this.#waiting -= 1;
  }

  write(frame: Buffer): void {
    const lines = Buffer.concat([frame, Buffer.from('\n')]);
    for (let at = 0; at < lines.length; ) {
      const end = lines.indexOf(10, at);
      const line = lines.subarray(at, end);
      const expected = expectedAnswer(line);
      this.sent += 1;
      this.#newest.push(line.toString('utf8').slice(0, 300));
      if (expected !== null) {
        this.#waiting += 1;
        if (expected.code !== 'any') this.broken += 1;
        this.#expected.set(expected.id, [...(this.#expected.get(expected.id) ?? []), expected.code]);
      }
      at = end + 1;
    }
    this.#child.stdin?.write(lines);
  }

  /** Waits until everything is answered, and checks the answers. */
  async settled(): Promise<void> {
    await until(() => {
      assert.equal(this.#child.exitCode, null, `it has ended, after:\n${this.#newest.join('\n')}`);
      assert.equal(this.#child.signalCode, null, `it was ended, after:\n${this.#newest.join('\n')}`);
      return this.#waiting <= 0;
    });
    for (const [id, codes] of this.#expected) {
      const answers = this.#answers.get(id) ?? [];
      const got = answers.map(({ error }) => error?.code ?? 'result');
      assert.equal(got.length, codes.length, `answers to ${id}: ${got.join(', ')} for ${codes.join(', ')}`);
      const exact = codes.filter((code) => code !== 'any');
      for (const code of exact) {
        const at = got.indexOf(code);
        assert.notEqual(
          at,
          -1,
          `answers to ${id}: ${got.join(', ')} for ${codes.join(', ')}, after:\n${this.#newest.join('\n')}`,
        );
        got.splice(at, 1);
      }
      for (const code of got) assert.ok(code === 'result' || CODES.has(code), `an answer to ${id}: ${code}`);
    }
    assert.deepEqual(
      [...this.#answers.keys()].filter((id) => !this.#expected.has(id)),
      [],
    );
    this.#answers.clear();
    this.#expected.clear();
    this.#newest.length = 0;
  }

  /** Sends a request and returns its result; fails if the answer is an error. */
  async ask(method: string, params: object): Promise<Record<string, unknown>> {
    const id = `ask-${this.sent}`;
    this.#waiting += 1;
    this.sent += 1;
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    const key = JSON.stringify(id);
    await until(() => this.#answers.has(key) || this.#child.exitCode !== null);
    const [answer] = this.#answers.get(key) ?? [];
    this.#answers.delete(key);
    assert.ok(answer?.result !== undefined, `${method}: ${JSON.stringify(answer)}`);
    return answer.result as Record<string, unknown>;
  }
}

/** Sends at least `frames` frames in batches, and then runs an ordinary prompt. */
export async function fuzz(
  child: ChildProcess,
  cwd: string,
  seed: number,
  frames: number,
): Promise<RawEditor> {
  const raw = new RawEditor(child);
  await raw.ask('initialize', { protocolVersion: 1, clientCapabilities: {} });
  const sessions: string[] = [];
  for (let made = 0; made < 3; made += 1)
    sessions.push(String((await raw.ask('session/new', { cwd, mcpServers: [] })).sessionId));
  const made = new FrameFuzz(seed, cwd, sessions);
  while (raw.sent < frames) {
    for (let count = 0; count < 200; count += 1) raw.write(made.next());
    await raw.settled();
  }
  const { sessionId } = await raw.ask('session/new', { cwd, mcpServers: [] });
  const prompt = [{ type: 'text', text: 'Hello' }];
  assert.deepEqual(await raw.ask('session/prompt', { sessionId, prompt }), { stopReason: 'end_turn' });
  return raw;
}
