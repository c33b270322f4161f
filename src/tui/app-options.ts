import type { Agent, AgentConfig } from '../records/agent/agent.ts';
import type { UiStyle } from '../render/style.ts';
import type { ResumeOptions, RuntimeFace } from '../runtime/runtime-face.ts';
import type { Store } from '../store/store.ts';
import type { LeaveMode } from './app-context.ts';
import type { KeyBindings } from './keys/key-bindings.ts';
import type { Screen, ScreenListener } from './terminal/screen.ts';

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
  /** Starts a tree with the first prompt. */
  readonly start: (prompt: string) => Promise<Agent>;
  /** Of the conversation that a first prompt would start. */
  readonly config: () => AgentConfig;
  /** Opens the dashboard in a browser; resolves to the link, or to how to get a server. */
  readonly openDashboard: () => Promise<string>;
  /** The tree to reopen; null: a new one. */
  readonly root_id: string | null;
  /** What changes when it is reopened: its model, its limits. */
  readonly resume: ResumeOptions;
  /** Nothing can be drawn (`TERM=dumb`): input and output are plain lines. */
  readonly line_mode: boolean;
  readonly cwd: string;
  /** Holds what was sent from each folder (`PromptHistory`). */
  readonly history_folder: string;
  /** Always visible (`SCRIPTED DEMO`). */
  readonly banner: string | null;
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

export interface AppEnd {
  readonly how: LeaveMode;
  /** The tree in view. */
  readonly root_id: string | null;
  /** Others that were opened, and in which an agent was still at work. */
  readonly left: readonly string[];
}
