import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DOOR_FLOOR, FLOORS, LIBRARY, PURE } from '../floor-table.ts';

/** Contents of each folder of src/. A folder without a line here makes the drawing fail. */
const WHAT: Readonly<Record<string, string>> = {
  [LIBRARY]: 'the public library: named exports, openCoppice; coppice/core: openCore',
  cli: 'the command line: commands, configuration, composing everything',
  tui: 'the terminal UI',
  cron: 'schedules: when a job is due, firing it, the tool for agents',
  mcp: 'other agent programs, over the Model Context Protocol: a client as an agent, durable tasks',
  acp: 'editors, over the Agent Client Protocol: sessions, updates, permission requests',
  channels: 'Telegram, webhooks, files, standard output; the outbox; chats',
  serve: 'the server: the HTTP API, its typed client, event streams, alerts, metrics, traces',
  trees:
    'what every door needs of a tree: open it, find its agents, wait until they rest, answer, lead it, documents, timeline',
  library: 'options, registries and callbacks of the public library',
  runtime: 'the executor: gather, group commit, perform; the only place where effects happen',
  documents: 'JSON documents that commands print and the server answers with',
  settings: 'what the configuration file and the library both take',
  store: 'the Store contract; SQLite and PostgreSQL lock, read, write, listen and tell the time',
  kernel:
    'transition: one agent, one event; turn, mailbox: what it does next; toolsets: the five vocabularies; ledger: what is admitted',
  models: 'wire protocols, provider packages, agent programs, the gate, the scripted model',
  workflows: 'scripts that orchestrate agents: reading them, the interpreter, replay, dry runs',
  tools: 'bash, read, write, patch, search, think',
  permissions: 'rules, the policy, paths and shell commands as rules see them, the text of a refusal',
  processes:
    'child processes: starting, marking, stopping, slots, environment, output; waiting, back-off, polling',
  render: 'text for people: colours, signs, tables, sizes, clean output',
  records: 'what things are: agents, conversations, runs, tools, errors',
};

/** Drawing of the floors of src/, from the top down, made from the table with which `npm run floors` checks imports. */
export function floorsDrawing(src: string): string {
  const there = Object.entries(FLOORS).filter(
    ([folder]) => folder === LIBRARY || existsSync(join(src, folder)),
  );
  const numbers = [...new Set(there.map(([, floor]) => floor))].toSorted((a, b) => b - a);
  const rows = numbers.flatMap((floor) =>
    there
      .filter(([, own]) => own === floor)
      .map(([folder], index) => {
        const what = WHAT[folder];
        if (what === undefined)
          throw new Error(`scripts/references/floors-drawing.ts has no line for src/${folder}`);
        const notes = [...(PURE.has(folder) ? ['pure'] : []), ...(floor === DOOR_FLOOR ? ['door'] : [])];
        const name = folder === LIBRARY ? '*.ts' : `${folder}/`;
        return `${index === 0 ? String(floor).padStart(2) : '  '}  ${name.padEnd(12)} ${notes.join(', ').padEnd(5)} ${what}`.trimEnd();
      }),
  );
  return `\`\`\`text\n${rows.join('\n')}\n\`\`\``;
}
