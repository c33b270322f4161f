import { type AgentConfig, isAgentProgram } from './agent.ts';
import { framedName } from './agent-name.ts';
import type { Deeds, ToolCount } from './deeds.ts';
import type { AgentState } from './state.ts';

export function deedsOf(state: AgentState): Deeds | undefined {
  return 'turn' in state ? (state.turn.deeds ?? {}) : state.deeds;
}

/** Evidence that the agent's profile requires but that is missing. */
export function missingEvidence(
  { require = [] }: Pick<AgentConfig, 'require'>,
  deeds: Deeds = {},
): readonly string[] {
  return require.filter((_, place) => deeds.proved?.includes(place) !== true);
}

/** Maximum files, and commands, that the line names; other interfaces show all that are kept. */
const NAMED_MAX = 3;

/** Summarizes an agent's newest turn in one line, for models and people; undefined if it did nothing. */
export function deedsLine(
  { config, state }: { readonly config: AgentConfig; readonly state: AgentState },
  now: number,
): string | undefined {
  const deeds = deedsOf(state);
  if (deeds === undefined) return undefined;
  const missing = missingEvidence(config, deeds);
  const { calls = {}, files = [], children } = deeds;
  const is_program = isAgentProgram(config.model);
  const is_idle = Object.keys(calls).length + files.length + missing.length === 0;
  if (is_idle && !is_program && children === undefined) return undefined;
  const took = deeds.took_ms ?? ('turn' in state ? now - state.turn.started_at : 0);
  const time = `${Math.round(took / 1000)} s`;
  // A script makes its calls and costs nothing; its agents have lines of their own.
  if (config.workflow !== undefined) return [...childrenText(deeds), time].join('; ');
  return [
    is_program ? 'an agent program, whose calls are not counted' : callsText(deeds),
    ...filesText(deeds),
    ...commandsText(deeds),
    ...childrenText(deeds),
    ...(missing.length === 0 ? [] : [`required evidence missing: ${missing.map(framedName).join(', ')}`]),
    time,
    `${deeds.tokens ?? 0} tokens`,
  ].join('; ');
}

function callsText({ calls = {} }: Deeds): string {
  const all = Object.entries(calls);
  const sum = (key: keyof ToolCount) => all.reduce((total, [, count]) => total + count[key], 0);
  const [made, failed] = [sum('made'), sum('failed')];
  const each = all.map(([tool, count]) => `${named(tool)} ${count.made}`).join(', ');
  const head = `${made} tool ${made === 1 ? 'call' : 'calls'}`;
  return `${head}${failed === 0 ? '' : `, ${failed} failed`}${made === 0 ? '' : ` (${each})`}`;
}

function childrenText({ children, unanswered }: Deeds): string[] {
  if (children === undefined) return [];
  if (unanswered !== undefined) return [`${unanswered} of ${children} children had not answered`];
  return [`${children} ${children === 1 ? 'agent' : 'agents'} created`];
}

function filesText({ files = [], more_files = 0 }: Deeds): string[] {
  if (files.length === 0) return [];
  const count = files.length + more_files;
  const rest = count > NAMED_MAX ? ', …' : '';
  const head = `${count} ${count === 1 ? 'file' : 'files'} changed`;
  return [`${head}: ${files.slice(0, NAMED_MAX).map(named).join(', ')}${rest}`];
}

function commandsText({ commands = [], more_commands = 0 }: Deeds): string[] {
  if (commands.length === 0) return [];
  const ends = commands
    .slice(-NAMED_MAX)
    .map(
      ({ command, exit }) =>
        `\`${command.replaceAll('`', "'")}\` ${exit === null ? 'no exit code' : `exit ${exit}`}`,
    );
  return [
    `${commands.length + more_commands > NAMED_MAX ? 'last commands' : 'commands'}: ${ends.join(', ')}`,
  ];
}

/** A name that a model chose, quoted if it could be taken for another part of the line. */
function named(name: string): string {
  const framed = framedName(name);
  return /^[\p{L}\p{N}_./@+-]+$/u.test(framed) ? framed : `"${framed}"`;
}

/** Shortens a deeds line for a narrow row: whether evidence is missing, and the number of calls. */
export function deedsHead(line: string): string {
  const calls = line.slice(0, line.search(/ \(|;|$/));
  return line.includes('; required evidence missing: ') ? `evidence missing, ${calls}` : calls;
}
