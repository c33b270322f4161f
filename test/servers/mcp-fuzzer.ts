/**
 * An MCP server that sends random frames: complete and broken messages, answers to requests that nobody made, requests that it may not make. Its tool `fuzz`
 * ends when all its requests are answered, and reports answers that violate the specification; its tool `answer` answers with random values.
 */
import { createInterface } from 'node:readline';

/** Seeded random integers from 0, below `sides`. */
function dice(seed: number): (sides: number) => number {
  let state = seed >>> 0;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

type Dice = ReturnType<typeof dice>;

const WORDS = [
  '',
  'a',
  '__proto__',
  'constructor',
  '\u0000',
  '\u001b[2J',
  '\ud83d\ude00',
  '\u202e',
  'result',
  'x'.repeat(300),
  '-1',
  '{}',
];
const METHODS = [
  'ping',
  'roots/list',
  'sampling/createMessage',
  'elicitation/create',
  'tools/list',
  'initialize',
  'no/such',
  '',
  'notifications/progress',
  'tasks/get',
];
const NOTICES = [
  'notifications/progress',
  'notifications/cancelled',
  'notifications/message',
  'notifications/tools/list_changed',
  'notifications/no/such',
  'notifications/resources/updated',
  'notifications/elicitation/complete',
  'notifications/initialized',
];

function anything(roll: Dice, depth = 4): unknown {
  const word = () => WORDS[roll(WORDS.length)] ?? '';
  switch (roll(depth === 0 ? 7 : 10)) {
    case 0:
      return null;
    case 1:
      return roll(2) === 0;
    case 2:
      return roll(1_000) - 500;
    case 3:
      return 1e308 * (roll(3) - 1);
    case 4:
      return roll(2 ** 31) / 7;
    case 5:
    case 6:
      return word();
    case 7:
      return Array.from({ length: roll(4) }, () => anything(roll, depth - 1));
    default:
      return Object.fromEntries(Array.from({ length: roll(4) }, () => [word(), anything(roll, depth - 1)]));
  }
}

const KEYS = ['jsonrpc', 'id', 'method', 'params', 'result', 'error'];
const asked = new Map<string, string>();
const wrong: string[] = [];
let ids = 0;

/** A random id that no request waiting for an answer has. */
function strange(roll: Dice): unknown {
  const id = anything(roll);
  return typeof id === 'number' ? id + 1_000_000 : id;
}

/** A random frame as one line; a request that must be answered is recorded. */
function frame(roll: Dice): string {
  switch (roll(9)) {
    case 0: {
      ids += 1;
      const id = `fuzz-${ids}`;
      const method = METHODS[roll(METHODS.length)] ?? '';
      asked.set(id, method);
      const params =
        roll(2) === 0 ? {} : { params: { _meta: {}, [WORDS[roll(2) + 1] ?? '']: anything(roll) } };
      return JSON.stringify({ jsonrpc: '2.0', id, method, ...params });
    }
    case 1:
      return JSON.stringify({
        jsonrpc: '2.0',
        method: NOTICES[roll(NOTICES.length)],
        params: anything(roll),
      });
    case 2:
      return JSON.stringify({ jsonrpc: '2.0', id: strange(roll), result: anything(roll) });
    case 3:
      return JSON.stringify({
        jsonrpc: '2.0',
        id: roll(2) === 0 ? 100_000 + roll(9) : null,
        error: anything(roll),
      });
    case 4:
      return JSON.stringify(
        Object.fromEntries(
          KEYS.filter(() => roll(2) === 0).map((key) => [
            key,
            key === 'id' ? `other-${roll(99)}` : anything(roll),
          ]),
        ),
      );
    case 5: {
      const whole = JSON.stringify({
        jsonrpc: '2.0',
        method: 'notifications/message',
        params: { data: anything(roll) },
      });
      return whole.slice(0, roll(whole.length));
    }
    case 6:
      return JSON.stringify(anything(roll));
    case 7: {
      ids += 1;
      const id = `batch-${ids}`;
      asked.set(id, 'ping');
      return JSON.stringify([{ jsonrpc: '2.0', id, method: 'ping' }, anything(roll)]);
    }
    default:
      return Array.from({ length: roll(40) }, () => String.fromCharCode(roll(0x250)))
        .join('')
        .replaceAll(/[\n\r]/g, ' ');
  }
}

/** Checks an answer: a ping gets a result unless its parameters are invalid; a method that the client does not offer gets an error. */
function judge(
  id: string,
  answer: { readonly result?: unknown; readonly error?: { readonly code?: unknown } },
): void {
  const method = asked.get(id);
  if (method === undefined) return void wrong.push(`${id}: answered, and nobody asked`);
  asked.delete(id);
  const code = answer.error?.code;
  const right =
    method === 'ping'
      ? code === undefined || code === -32602
      : code === -32601 || code === -32602 || code === -32600;
  if (!right) wrong.push(`${method}: ${JSON.stringify(answer)}`);
}

const write = (message: object) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

async function fuzz(
  id: unknown,
  { seed = 1, frames = 1 }: { seed?: number; frames?: number },
): Promise<void> {
  const roll = dice(seed);
  for (let at = 0; at < frames; at += 1)
    if (!process.stdout.write(`${frame(roll)}\n`))
      await new Promise((resolve) => process.stdout.once('drain', resolve));
  for (let look = 0; asked.size > 0 && look < 500; look += 1)
    await new Promise((resolve) => setTimeout(resolve, 20));
  const unanswered = [...asked.values()];
  write({
    id,
    result: {
      content: [
        {
          type: 'text',
          text: JSON.stringify({
            wrong: wrong.slice(0, 10),
            unanswered: unanswered.slice(0, 10),
            asked: ids,
          }),
        },
      ],
    },
  });
}

function call(id: unknown, name: string, given: { readonly seed?: number; readonly frames?: number }): void {
  if (name === 'fuzz') return void fuzz(id, given);
  const roll = dice(given.seed ?? 1);
  const block = () => ({
    type: ['text', 'image', 'audio', 'resource', 'resource_link', 'no'][roll(6)],
    text: anything(roll),
    data: anything(roll),
    resource: anything(roll),
    uri: anything(roll),
    name: anything(roll),
    mimeType: anything(roll),
  });
  const results = [
    anything(roll),
    { content: anything(roll) },
    { content: [block(), block()] },
    {
      content: [{ type: 'text', text: WORDS[roll(WORDS.length)] }],
      isError: anything(roll),
      structuredContent: anything(roll),
    },
  ];
  const answer = roll(5) === 0 ? { error: anything(roll) } : { result: results[roll(results.length)] };
  write({ id, ...answer });
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, ...answer } = JSON.parse(line);
  if (method === undefined) return judge(String(id), answer);
  if (method === 'initialize')
    write({
      id,
      result: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'fuzzer', version: '1' },
      },
    });
  else if (method === 'tools/list')
    write({
      id,
      result: { tools: ['fuzz', 'answer'].map((name) => ({ name, inputSchema: { type: 'object' } })) },
    });
  else if (method === 'tools/call') call(id, params.name, params.arguments);
  else if (id !== undefined) write({ id, error: { code: -32601, message: 'unknown' } });
});
process.stdin.on('end', () => process.exit(0));
