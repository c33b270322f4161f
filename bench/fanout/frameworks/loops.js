import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Agent } from '@earendil-works/pi-agent-core';
import { streamSimple } from '@earendil-works/pi-ai/api/openai-completions';
import { isStepCount, jsonSchema, streamText, tool } from 'ai';

/** The same work in the loops of common frameworks, streaming: the root's tool runs a child's loop, with Coppice's own texts and tools. */

const systemOf = ({ messages: [first] }) => first.content;

/** Runs the root and its children. `loop` runs one conversation, given the functions of its tools by name. */
async function fanOut({ count, root, child }, loop) {
  const noop = async () => 'ok';
  const spawn = ({ task }) => loop(child, task, { noop, subagent_spawn: noop, subagent_delegate: noop });
  const said = await loop(root, `SPAWN ${count}`, { noop, subagent_spawn: spawn, subagent_delegate: noop });
  if (said !== 'all done') throw new Error(`wrong: ${said}`);
}

export function ai(work) {
  const provider = createOpenAICompatible({ name: 'local', baseURL: work.url, includeUsage: true });
  return fanOut(work, async (frame, prompt, does) => {
    const tools = Object.fromEntries(
      frame.tools.map(({ function: { name, description, parameters } }) => [
        name,
        tool({ description, inputSchema: jsonSchema(parameters), execute: does[name] }),
      ]),
    );
    const run = streamText({
      model: provider('m'),
      system: systemOf(frame),
      prompt,
      tools,
      stopWhen: isStepCount(10),
    });
    let text = '';
    for await (const part of run.textStream) text += part;
    return text;
  });
}

export function pi(work) {
  const model = {
    ...{ id: 'm', name: 'm', api: 'openai-completions', provider: 'local', baseUrl: work.url },
    ...{ reasoning: false, input: ['text'], contextWindow: 128_000, maxTokens: 32_000 },
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  };
  return fanOut(work, async (frame, prompt, does) => {
    const tools = frame.tools.map(({ function: { name, description, parameters } }) => ({
      ...{ name, description, parameters, label: name },
      execute: async (_id, input) => ({
        content: [{ type: 'text', text: await does[name](input) }],
        details: null,
      }),
    }));
    const agent = new Agent({
      initialState: { systemPrompt: systemOf(frame), model, tools },
      streamFn: streamSimple,
      getApiKey: () => 'none',
    });
    await agent.prompt(prompt);
    const { content, errorMessage } = agent.state.messages.at(-1);
    if (errorMessage !== undefined) throw new Error(errorMessage);
    return content.map(({ text = '' }) => text).join('');
  });
}
