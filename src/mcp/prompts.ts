import type { GetPromptResult, Prompt } from '@modelcontextprotocol/server';
import { invalidParams } from './tool-answer.ts';

const TELL = 'They know nothing of our conversation: say in each task what they need to know.';

/** Common tasks, which people choose in their client: what they are for, the text, and the argument that is put behind it. */
const PROMPTS: Readonly<Record<string, readonly [about: string, text: string, argument?: string]>> = {
  collect: [
    'Collect what your agents have to report',
    'Call list_agents with all. Call wait for those at work until all rest, then summarise for each what it found or changed, what failed, and what waits for my approval.',
  ],
  parallel: [
    'Split a task among agents that work at the same time',
    `Split this task into independent parts, and give all of them to one call of spawn_agents. ${TELL} Parts that change files must not share any. Then check the results against each other and report.`,
    'task',
  ],
  review: [
    'Review a change by several agents, and check each finding',
    `Review this change with one call of spawn_agents, one agent each for correctness, security and tests. ${TELL} Then give each finding to a fresh agent that tries to refute it, and report what stands, the worst first.`,
    'change',
  ],
};

export function promptList(): Prompt[] {
  return Object.entries(PROMPTS).map(([name, [description, , argument]]) => {
    return { name, description, arguments: argument ? [{ name: argument, required: true }] : [] };
  });
}

/** Throws for an unknown prompt, and without its argument. */
export function promptNamed(name: string, given: Readonly<Record<string, string>> = {}): GetPromptResult {
  const [description, text = '', argument] = (Object.hasOwn(PROMPTS, name) && PROMPTS[name]) || [];
  if (description === undefined) throw invalidParams('unknown prompt; prompts/list names all');
  const said = argument && given[argument]?.trim();
  if (argument && !said) throw invalidParams(`the prompt needs "${argument}"`);
  const content = { type: 'text' as const, text: argument ? `${text}\n\nThe ${argument}: ${said}` : text };
  return { description, messages: [{ role: 'user', content }] };
}
