import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { tool as langTool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { isStepCount, jsonSchema, streamText, tool } from 'ai';

/** The same work in the loops of common frameworks, streaming: the root's tool runs a child's loop, with Coppice's own texts and tools. */

const systemOf = ({ messages: [first] }) => first.content;

/** Runs the root and its children. `loop` runs one conversation, given the functions of its tools by name. */
async function fanOut({ count, root, child }, loop) {
  const noop = async () => 'ok';
  const spawn = ({ task }) => loop(child, task, { noop, subagent_spawn: noop, subagent_delegate: noop });
  await loop(root, `SPAWN ${count}`, { noop, subagent_spawn: spawn, subagent_delegate: noop });
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

export function langgraph(work) {
  const llm = new ChatOpenAI({
    model: 'm',
    apiKey: 'none',
    streaming: true,
    configuration: { baseURL: work.url },
  });
  return fanOut(work, async (frame, prompt, does) => {
    const tools = frame.tools.map(({ function: { name, description, parameters } }) =>
      langTool((input) => does[name](input), { name, description, schema: parameters }),
    );
    const agent = createReactAgent({ llm, tools, prompt: systemOf(frame) });
    let last;
    const parts = await agent.stream(
      { messages: [{ role: 'user', content: prompt }] },
      { streamMode: ['messages', 'values'], recursionLimit: 50 },
    );
    for await (const [mode, value] of parts) if (mode === 'values') last = value;
    return last.messages.at(-1).content;
  });
}
