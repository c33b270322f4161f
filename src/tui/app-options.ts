import type { DocumentOf } from '../documents/shapes/all-documents.ts';
import type { Agent, AgentConfig, PermissionMode } from '../records/agent/agent.ts';
import type { ComposedText } from '../records/conversation/attached-text.ts';
import type { UiStyle } from '../render/style.ts';
import type { ResumeOptions, RuntimeFace } from '../runtime/runtime-face.ts';
import type { Store } from '../store/store.ts';
import type { KeyBindings } from './keys/key-bindings.ts';
import type { OverviewSource } from './overview/overview-state.ts';
import type { StatusScript } from './printing/status-script.ts';
import type { Screen, ScreenListener } from './terminal/screen.ts';
import type { MeterSettings } from './views/navigation/meters.ts';

export type ExportFormat = 'md' | 'html' | 'json';

/** A model that can be asked, and why it is listed. */
export interface ModelChoice {
  readonly name: string;
  readonly note: string;
}

export type TreeRow = DocumentOf<'coppice/trees/v1'>['trees'][number];

export interface AppOptions {
  readonly runtime: RuntimeFace;
  readonly store: Store;
  readonly style: UiStyle;
  readonly bindings: KeyBindings;
  readonly openScreen: (listener: ScreenListener) => Screen;
  /** Who leads a tree; null: those that are started here. */
  readonly leadOf: (root_id: string | null) => Promise<TreeLead>;
  /** Why nobody leads a tree that has work to do, and what would help; null: it is led, or at rest. */
  readonly unled: (root_id: string) => Promise<string | null>;
  /** All trees of the ledger. */
  readonly overview: OverviewSource;
  /** Starts a tree with the first prompt; `model`: instead of the usual one. */
  readonly start: (prompt: ComposedText, model: string | null, mode: PermissionMode) => Promise<Agent>;
  /** Of the conversation that a first prompt would start. */
  readonly config: () => AgentConfig;
  /** Conversations with what a list of them shows, newest first; of one folder, or of all. */
  readonly trees: (query: { readonly cwd?: string; readonly limit: number }) => Promise<readonly TreeRow[]>;
  /** Writes a tree into a file, by default a new one in this folder; resolves to its path. Rejects if there is such a file already. */
  readonly exportTree: (root_id: string, format: ExportFormat, file: string | null) => Promise<string>;
  /** What the person may choose a model from. */
  readonly models: () => readonly ModelChoice[];
  /** Opens the dashboard in a browser; resolves to the link, or to how to get a server. */
  readonly openDashboard: () => Promise<string>;
  /** The tree to reopen; null: a new one. */
  readonly root_id: string | null;
  /** The person chooses one first. */
  readonly picks: boolean;
  /** What changes when it is reopened: its model, its limits. */
  readonly resume: ResumeOptions;
  /** Nothing can be drawn (`TERM=dumb`): input and output are plain lines. */
  readonly line_mode: boolean;
  readonly cwd: string;
  /** Holds what was sent from each folder (`PromptHistory`). */
  readonly history_folder: string;
  /** Where rules that are granted for good are kept. */
  readonly rules_file: string;
  /** For the output of the person's own commands, where it is too long. */
  readonly output_folder: string;
  /** Always visible (`SCRIPTED DEMO`). */
  readonly banner: string | null;
  /** In the navigation line. */
  readonly meters: MeterSettings;
  /** Fills the last line; whoever made it closes it. */
  readonly status_script: StatusScript | null;
  /** Printed first. */
  readonly greeting: readonly string[];
  /** Sent as if the person had typed it. */
  readonly first: string | null;
}

/** Who leads a tree that is open in a window. */
export interface TreeLead {
  /** False: workers lead it, and this process never does. */
  readonly here: boolean;
  /** What the person is told of that. */
  readonly told: readonly string[];
}

/** How the UI was left. `detach`: running agents go on elsewhere; `setup`: another model is to be connected, for a new conversation. */
export type LeaveMode = 'quit' | 'detach' | 'kill' | 'hangup' | 'setup';

export interface AppEnd {
  readonly how: LeaveMode;
  /** The tree in view. */
  readonly root_id: string | null;
  /** Others that were opened, and in which an agent was still at work. */
  readonly left: readonly string[];
}
