import type { DocumentOf } from '../documents/shapes/all-documents.ts';
import type { ScriptTrust } from '../models/workflow/saved-scripts.ts';
import type { UiStyle } from '../render/style.ts';
import type { ResumeOptions, RuntimeFace } from '../runtime/runtime-face.ts';
import type { ReadSources } from '../trees/find-agent.ts';
import type { Root } from '../trees/open-tree.ts';
import type { CommandShell } from '../trees/typed/command-shell.ts';
import type { ExportFormat } from './commands/command-arguments.ts';
import type { KeyBindings } from './keys/keys-config.ts';
import type { Screen, ScreenListener } from './terminal/screen.ts';
import type { MeterSettings } from './views/navigation/meters.ts';

/** A model that can be chosen, and a note that says why it is listed. */
export interface ModelChoice {
  readonly name: string;
  readonly note: string;
}

export type TreeRow = DocumentOf<'coppice/trees/v1'>['trees'][number];

export interface AppOptions extends ReadSources {
  readonly runtime: RuntimeFace;
  readonly style: UiStyle;
  readonly bindings: KeyBindings;
  readonly openScreen: (listener: ScreenListener) => Screen;
  /** Labels of the workers that lead the trees which are started here; null: this process leads them. */
  readonly placement: readonly string[] | null;
  /** Configuration and limits of a conversation that a first prompt starts; `model`: null for the default. */
  readonly begin: (model: string | null) => Root;
  /** Which workflows of the folder the person trusts. */
  readonly trust: ScriptTrust;
  /** Why a skill of this name that the folder has is not called; null if it has none. */
  readonly uncalled: (name: string) => string | null;
  /** How shell commands in the text of called commands run. */
  readonly shell: CommandShell;
  /** Where a line goes that the person adds to the instructions of the folder; and adds it, returning what to say. */
  readonly notes: { readonly place: () => string; readonly add: (line: string) => string };
  /** Writes a tree into a file (null: a new one in this folder) and resolves to its path. Rejects if the file exists. */
  readonly exportTree: (root_id: string, format: ExportFormat, file: string | null) => Promise<string>;
  /** The models that the person may choose from. */
  readonly models: () => readonly ModelChoice[];
  /** Opens the dashboard in a browser; resolves to the link, or to a text that says how to start a server. */
  readonly openDashboard: () => Promise<string>;
  /** The MCP servers of the folder; with a name, logs in to that one, once the page that is told has been visited. */
  readonly mcp: (name: string | null, tell: (text: string) => void) => Promise<string>;
  /** The tree to reopen; null: begin a new one. */
  readonly root_id: string | null;
  /** Whether the person first chooses a tree from a list. */
  readonly picks: boolean;
  /** Changes to make to the tree when it is reopened: its model, its limits. */
  readonly resume: ResumeOptions;
  /** Whether nothing can be drawn (`TERM=dumb`): input and output are plain lines. */
  readonly line_mode: boolean;
  /** Canonical path of the folder in which the UI was started. */
  readonly cwd: string;
  /** The folder in which the history of prompts is kept, and what the person has seen. */
  readonly data_folder: string;
  /** The file with the rules that are granted for good. */
  readonly rules_file: string;
  /** The folder in which long output of the person's own commands is saved. */
  readonly output_folder: string;
  /** Text that is always visible (`SCRIPTED DEMO`); null: none. */
  readonly banner: string | null;
  /** Whether the draft has the commands of vim. */
  readonly vim: boolean;
  /** Meters in the navigation line. */
  readonly meters: MeterSettings;
  /** Lines that are printed first. */
  readonly greeting: readonly string[];
  /** Text that is submitted as if the person had typed it. */
  readonly first: string | null;
}

/** How the UI was left. `detach`: running agents go on in another process; `setup`: another model is to be connected, for a new conversation. */
export type LeaveMode = 'quit' | 'detach' | 'kill' | 'hangup' | 'setup';

export interface AppEnd {
  readonly how: LeaveMode;
  /** The tree in view. */
  readonly root_id: string | null;
  /** Roots of other trees that were opened and in which an agent was still at work. */
  readonly left: readonly string[];
}
