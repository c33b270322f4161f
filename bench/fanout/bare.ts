/** A minimal loop: `fetch`, decode, split, parse, assemble; nothing is stored, everything is sent as soon as it is ready. */

type Message = Record<string, unknown>;
type Call = { readonly id: string; readonly name: string; readonly arguments: string };

export interface Work {
  readonly url: string;
  readonly count: number;
  /** Request bodies of a root and of a child as Coppice sent them, whose messages are replaced. */
  readonly root: Message;
  readonly child: Message;
}

async function ask(
  url: string,
  frame: Message,
  messages: readonly Message[],
): Promise<{ text: string; calls: Call[] }> {
  const response = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...frame, messages }),
  });
  const decoder = new TextDecoder();
  let [buffer, text] = ['', ''];
  const calls: Call[] = [];
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    buffer += decoder.decode(part, { stream: true });
    for (let end = buffer.indexOf('\n\n'); end >= 0; end = buffer.indexOf('\n\n')) {
      const data = buffer.slice(6, end);
      buffer = buffer.slice(end + 2);
      if (data === '[DONE]') continue;
      const delta = JSON.parse(data).choices[0]?.delta ?? {};
      text += delta.content ?? '';
      for (const call of delta.tool_calls ?? []) calls.push({ id: call.id, ...call.function });
    }
  }
  return { text, calls };
}

function said(text: string, calls: readonly Call[]): Message {
  const tool_calls = calls.map(({ id, name, arguments: input }) => ({
    id,
    type: 'function',
    function: { name, arguments: input },
  }));
  return { role: 'assistant', content: text === '' ? null : text, tool_calls };
}

const result = (id: string, content: string): Message => ({ role: 'tool', tool_call_id: id, content });

/** A child's loop: asks until there is no call left. */
async function loop({ url, child }: Work, messages: Message[]): Promise<string> {
  for (;;) {
    const { text, calls } = await ask(url, child, messages);
    if (calls.length === 0) return text;
    messages.push(said(text, calls), ...calls.map(({ id }) => result(id, 'ok')));
  }
}

/** Runs a tree: the root asks once, its children work concurrently, their results go back to it. */
export async function bare(work: Work, kind: 'FORK' | 'SPAWN'): Promise<void> {
  const { url, count, root, child } = work;
  const [system] = root.messages as Message[];
  const first = [system as Message, { role: 'user', content: `${kind} ${count}` }];
  const { calls } = await ask(url, root, first);
  const own = (child.messages as Message[]).slice(0, 1);
  const shared =
    kind === 'SPAWN'
      ? own
      : [
          ...first,
          said('', calls),
          ...calls.map(({ id }) =>
            result(
              id,
              'You are a fork of the agent that made this call. Its result goes to that agent, not to you.',
            ),
          ),
        ];
  const results: Message[] = [];
  await Promise.all(
    calls.map(async ({ id }, index) => {
      const content =
        kind === 'SPAWN' ? `You are now c${index}: count` : `You are now "c${index}". Your task: count`;
      results[index] = result(id, await loop(work, [...shared, { role: 'user', content }]));
    }),
  );
  if (kind === 'SPAWN') await ask(url, root, [...first, said('', calls), ...results]);
}
