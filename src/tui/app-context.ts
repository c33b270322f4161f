import type { Agent, AgentConfig } from '../records/agent/agent.ts';
import type { ComposedText } from '../records/conversation/attached-text.ts';
import type { UiStyle } from '../render/style.ts';
import type { RuntimeFace } from '../runtime/runtime-face.ts';
import type { Store } from '../store/store.ts';
import type { AppOptions, LeaveMode } from './app-options.ts';
import type { LineEditor } from './composer/line-editor.ts';
import type { OwnCommands } from './composer/own-commands.ts';
import type { KeyBindings } from './keys/key-bindings.ts';
import type { Tone } from './state/entry.ts';
import type { UiEvent } from './state/ui-event.ts';
import type { UiState } from './state/ui-state.ts';
import type { Frame, Screen } from './terminal/screen.ts';

/** The overview of all trees, while it is open. */
interface TreesOverview {
  key(data: string): void;
  frame(height: number): Frame;
  /** The list as plain lines, once. */
  lines(): Promise<readonly string[]>;
}

/** The app, as its keys and commands see it. */
export interface AppContext {
  readonly runtime: RuntimeFace;
  readonly store: Store;
  readonly style: UiStyle;
  readonly bindings: KeyBindings;
  readonly screen: Screen;
  /** Nothing can be drawn: input and output are plain lines. */
  readonly line_mode: boolean;
  /** Where rules that are granted for good are kept. */
  readonly rules_file: string;
  /** Where output of the person's own commands is saved. */
  readonly output_folder: string;
  /** Workers lead the tree: events are read from the ledger, and leaving stops nothing. */
  readonly followed: boolean;
  readonly state: UiState;
  /** The editor of the agent in view. */
  readonly editor: LineEditor;
  readonly own_commands: OwnCommands;
  /** Where files that a message to this agent (null: the first prompt) mentions are looked for, and the configuration with its rules. */
  placeOf(agent_id: string | null): { readonly folder: string; readonly config: AgentConfig };
  /** The agent in view takes input; an ended agent does not. */
  readonly acceptsInput: boolean;
  /** The root's whole scrollback is shown on the full screen, as that of any other agent always is. */
  browsing: boolean;
  /** Lines by which the full screen is scrolled up. */
  scrolled: number;
  /** Typed letters go into the filter of the agents list. */
  filtering: boolean;
  /** The model that the next conversation begins with; null: the usual one. */
  next_model: string | null;
  dispatch(event: UiEvent): void;
  /** Shows a notice in the scrollback of the agent in view. */
  say(text: string, tone?: Tone): void;
  /** Runs something that may fail; a failure is shown as a notice. */
  attempt(work: () => Promise<void>): void;
  /** The same, one after the other: the ledger gets it in the order in which it was typed. */
  enqueue(work: () => Promise<void>): void;
  /** Starts a tree with the first prompt. */
  startTree(prompt: ComposedText): Promise<void>;
  /** Opens the tree of an agent, with this agent in view; null: an empty conversation. Agents at work in the tree that was in view go on in this process. */
  openTree(agent_id: string | null): Promise<void>;
  /** Agents at work in trees that were in view before. */
  readonly working_elsewhere: number;
  /** The folder of this window, without symbolic links. */
  readonly cwd: string;
  /** Conversations with what a list of them shows, newest first; of one folder, or of all. */
  readonly trees: AppOptions['trees'];
  /** Writes a tree into a file; resolves to its path. */
  readonly exportTree: AppOptions['exportTree'];
  /** What the person may choose a model from. */
  readonly models: AppOptions['models'];
  /** All trees of the ledger. */
  readonly overview: TreesOverview;
  /** Opens the dashboard in a browser; resolves to the link, or to how to get a server. */
  openDashboard(): Promise<string>;
  /** Reads the open approvals from the ledger again. */
  refresh(): void;
  /** Adds an agent before its event arrives. */
  addAgent(agent: Agent): void;
  leave(how: LeaveMode): void;
}
