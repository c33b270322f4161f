import { join } from 'node:path';
import { environment, installed, newPlace, serverCommand, start } from './trial-place.ts';

const VERSION = '2.12.0';

/** Tries the command line of the MCP inspector, which opens a connection for each call. */
export async function tryInspector(into: string): Promise<boolean> {
  const folder = installed(into, 'inspector', `@modelcontextprotocol/inspector@${VERSION}`);
  const { home, work } = newPlace(into, 'inspector');
  const { command, args } = serverCommand(home);
  const call = async (...more: string[]): Promise<string> => {
    const inspector = start(
      join(folder, 'node_modules', '.bin', 'mcp-inspector'),
      ['--cli', command, ...args, ...more],
      { cwd: work, env: environment(home) },
    );
    const { stdout, stderr } = await inspector.ended;
    return `${stdout.replaceAll('\\"', '"')}${stderr}`;
  };
  let good = true;
  const see = (what: string, seen: string, expected: RegExp): void => {
    const passed = expected.test(seen);
    good &&= passed;
    console.log(
      `${passed ? 'ok  ' : 'FAIL'} inspector ${VERSION}: ${what}${passed ? '' : `\n${seen.slice(-600)}`}`,
    );
  };
  const tool = (name: string, ...given: string[]) =>
    call('--method', 'tools/call', '--tool-name', name, ...given.flatMap((one) => ['--tool-arg', one]));
  see('tools/list', await call('--method', 'tools/list'), /fork[\s\S]*spawn_agents[\s\S]*wait/);
  see('fork', await tool('fork', 'name=one', 'prompt=TASK one'), /"agent_id":"[0-9a-f-]{36}"/);
  see('wait, in a connection of its own', await tool('wait', 'timeout=20'), /did one/);
  const tasks = JSON.stringify(['TASK a', 'TASK b', 'slow TASK c'].map((task) => ({ task })));
  see('spawn_agents', await tool('spawn_agents', `tasks=${tasks}`), /did a[\s\S]*did b[\s\S]*slowly did c/);
  see('list_agents', await tool('list_agents', 'all=true'), /"name":"task-a"/);
  const listed = await call('--method', 'resources/list');
  const uri = /"uri": "(coppice:[^"]*)"/.exec(listed)?.[1] ?? '';
  see(
    'resources/read',
    await call('--method', 'resources/read', '--uri', uri),
    /text\/markdown[\s\S]*did \w/,
  );
  return good;
}
