import type { Agent, AgentConfig, Thinking } from '../records/agent/agent.ts';
import type { ComposedText } from '../records/conversation/attached-text.ts';
import type { CommandPlace } from '../trees/typed/called-text.ts';
import type { AppOptions, LeaveMode } from './app-options.ts';
import type { LineEditor } from './composer/line-editor.ts';
import type { ShellCommands } from './composer/shell-commands.ts';
import type { Tone } from './state/entry.ts';
import type { UiEvent } from './state/ui-event.ts';
import type { UiState } from './state/ui-state.ts';
import type { Frame, Screen } from './terminal/screen.ts';
import type { FindText } from './text/find-text.ts';

/** The overview of all trees, while it is open. */
interface TreesOverview {
  key(data: string): void;
  frame(height: number): Frame;
  /** Reads the list once and returns it as plain lines. */
  lines(): Promise<readonly string[]>;
}

/** Commands that are no commands of the program: files, workflows, skills and prompts of MCP servers. */
interface CalledCommands {
  place(to: string | null): CommandPlace;
  rows(): readonly { readonly label: string; readonly help: string }[];
  tellHidden(name: string): void;
  call(to: string | null, line: string): Promise<boolean>;
}

/** The part of the app that its keys and commands use. */
export interface AppContext extends Pick<AppOptions, 'runtime' | 'store' | 'unled' | 'style' | 'line_mode'> {
  readonly options: AppOptions;
  readonly screen: Screen;
  /** Whether workers lead the tree: events are then read from the ledger, and leaving stops nothing. */
  readonly followed: boolean;
  readonly state: UiState;
  /** The editor of the agent in view. */
  readonly editor: LineEditor;
  readonly own_commands: ShellCommands;
  readonly called: CalledCommands;
  /** The folder in which files mentioned in a message to this agent (null: in the first prompt) are looked up, and the configuration with its rules. */
  placeOf(agent_id: string | null): { readonly folder: string; readonly config: AgentConfig };
  /** Whether the agent in view takes input: not if it has ended, except in line mode. */
  readonly acceptsInput: boolean;
  /** Whether the root's whole scrollback is shown on the full screen, as that of any other agent always is. */
  browsing: boolean;
  /** Number of lines by which the full screen is scrolled up. */
  scrolled: number;
  /** The search in the scrollback in view; null: none is open. */
  find: FindText | null;
  /** Whether typed letters go into the filter of the agents list, instead of being commands. */
  filtering: boolean;
  /** Whether drafts have the commands of vim. */
  vim: boolean;
  /** The model with which the next conversation begins; null: the default. */
  next_model: string | null;
  /** How much it thinks; null: the default. */
  next_effort: Thinking | null;
  dispatch(event: UiEvent): void;
  /** Shows a notice in the scrollback of the agent in view; `now`: above all that has not ended there. */
  say(text: string, tone?: Tone | 'now'): void;
  /** Runs something that may fail; a failure is shown as a notice. */
  attempt(work: () => Promise<void>): void;
  /** Like `attempt`, but one piece of work after the other, so that the ledger gets what was typed in that order. */
  enqueue(work: () => Promise<void>): void;
  /** Starts a tree with the first prompt, or with a main agent that rests (null). `workflows`: the main agent has the tool `workflow`. */
  startTree(prompt: ComposedText | null, workflows?: boolean): Promise<void>;
  /** Opens the tree of an agent, with this agent in view; null: an empty conversation. Agents at work in the previous tree go on in this process. */
  openTree(agent_id: string | null): Promise<void>;
  /** Number of agents at work in trees that were in view before. */
  readonly working_elsewhere: number;
  /** All trees of the ledger. */
  readonly overview: TreesOverview;
  /** Reads the open approvals from the ledger again. */
  refresh(): void;
  /** Adds an agent before its event arrives. */
  addAgent(agent: Agent): void;
  leave(how: LeaveMode): void;
}
