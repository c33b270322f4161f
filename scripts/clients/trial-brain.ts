import type { Answer, Exchange } from '../../test/servers/brain.ts';

/**
 * Model of the program under test, a function of the conversation alone. `TRIAL spawn`: three tasks in one call. `TRIAL fork`: three agents, then `wait`.
 * `TRIAL hold`: three tasks that take a while. `TRIAL collect`: `wait`, as after a restart. The last answer repeats what the agents said.
 */
export function trialBrain({ messages, body }: Exchange): Answer {
  const order = messages
    .filter(({ role }) => role === 'user')
    .map(({ text }) => /TRIAL (\w+)/.exec(text)?.[1])
    .findLast((found) => found !== undefined);
  const call = callsOf(body);
  const searches = new Set(
    messages.flatMap(({ calls }) => calls.filter(({ name }) => name === SEARCH).map(({ id }) => id)),
  );
  // Claude Code offers only the names of tools until they are searched for.
  if (order !== undefined && call === null && searches.size === 0 && offers(body, SEARCH))
    return { calls: [{ name: SEARCH, input: { query: `select:${DEFERRED}`, max_results: 8 } }] };
  // Requests for titles, summaries and the like offer no tools.
  if (order === undefined || call === null) return { text: 'A trial' };
  const outputs = messages.flatMap(({ results }) =>
    results.filter(({ id }) => !searches.has(id)).map(({ output }) => output.replaceAll('\\"', '"')),
  );
  const last = outputs.at(-1);
  if (last === undefined) return { text: 'I begin.', calls: beginning(order).map(call) };
  const ids = [...last.matchAll(/"agent_id":\s*"([0-9a-f-]{36})"/g)].map(([, id]) => id);
  const forked = outputs.flatMap(
    (output) => /"agents":.*?"agent_id":\s*"([0-9a-f-]{36})"/s.exec(output)?.[1] ?? [],
  );
  const open = /"status":\s*"running"|"timed_out":\s*true|"running":\s*\[/.test(last);
  if (open && order === 'collect') return { calls: [call(['wait', {}])] };
  if (open) return { calls: [call(['wait', { from_agents: ids }])] };
  if (order === 'fork' && !/"results":/.test(outputs.join('')))
    return { calls: [call(['wait', { from_agents: forked }])] };
  const said = [...outputs.join('\n').matchAll(/"(?:message|last_reply)":\s*"((?:slowly )?did \w+)"/g)].map(
    ([, text]) => text,
  );
  return { text: `COLLECTED ${[...new Set(said)].sort().join(', ') || last.slice(0, 500)}` };
}

const SEARCH = 'ToolSearch';
const DEFERRED = ['spawn_agents', 'fork', 'wait', 'list_agents']
  .map((tool) => `mcp__coppice__${tool}`)
  .join();

function offers(body: object, tool: string): boolean {
  return JSON.stringify(body).includes(`"name":"${tool}"`);
}

type Wanted = readonly [tool: string, input: object];

function beginning(order: string): Wanted[] {
  const tasks = (text: string) => ['a', 'b', 'c'].map((name) => `${text} ${name}`);
  switch (order) {
    case 'spawn':
      return [['spawn_agents', { tasks: tasks('TASK').map((task) => ({ task })) }]];
    case 'hold':
      return [['spawn_agents', { tasks: tasks('slow TASK').map((task) => ({ task })) }]];
    case 'fork':
      return tasks('TASK').map((prompt, index) => ['fork', { name: `worker-${index}`, prompt }]);
    default:
      return [
        ['list_agents', {}],
        ['wait', {}],
      ];
  }
}

/** Returns what makes calls under the client's tool names, which have a prefix or a namespace; null if the tools are not offered. */
function callsOf(body: object): ((wanted: Wanted) => NonNullable<Answer['calls']>[number]) | null {
  const found = /"name":"([\w-]*?)spawn_agents"/.exec(JSON.stringify(body));
  if (found === null) return null;
  const [, prefix = ''] = found;
  const { namespace } = namespaceOf(body) ?? {};
  return ([tool, input]) => ({
    name: `${prefix}${tool}`,
    input,
    ...(namespace === undefined ? {} : { namespace }),
  });
}

function namespaceOf(body: object): { readonly namespace: string } | undefined {
  const { tools } = body as { tools?: readonly { type?: string; name?: string; tools?: unknown }[] };
  const space = tools?.find(
    ({ type, tools: inner }) => type === 'namespace' && JSON.stringify(inner).includes('spawn_agents'),
  );
  return space?.name === undefined ? undefined : { namespace: space.name };
}
