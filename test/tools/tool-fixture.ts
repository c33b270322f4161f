import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Tool, ToolContext, ToolResult } from '../../src/records/tool.ts';
import { temporaryFolder } from '../temporary-folder.ts';

export interface Workspace extends ToolContext {
  /** All live output. */
  readonly live: string[];
  /** A folder beside the workspace, which nothing may reach. */
  readonly outside: string;
  readonly abort: (reason?: unknown) => void;
}

/** A fresh folder with a context for tools, removed after the test. */
export function makeWorkspace(env_allow: readonly string[] = []): Workspace {
  const base = temporaryFolder();
  const cwd = join(base, 'work');
  const outside = join(base, 'outside');
  mkdirSync(cwd);
  mkdirSync(outside);
  const controller = new AbortController();
  const live: string[] = [];
  return {
    cwd,
    outside,
    live,
    spill_dir: join(base, 'spill'),
    signal: controller.signal,
    agent: { id: 'a1', name: 'tester', root_id: 'a1' },
    env_allow,
    onOutput: (text) => live.push(text),
    abort: (reason) => controller.abort(reason),
  };
}

/** Runs a call as the runtime does: parse, then run. */
export async function call(tool: Tool, input: unknown, context: ToolContext): Promise<ToolResult> {
  const parsed = tool.parse(input);
  if (!parsed.ok) return { status: 'error', output: parsed.error };
  return tool.run(parsed.input, context);
}

/** Polls until the condition holds; returns false after the limit. */
export async function eventually(isTrue: () => boolean, limit_ms = 8000): Promise<boolean> {
  for (const deadline = performance.now() + limit_ms; performance.now() < deadline; ) {
    if (isTrue()) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return isTrue();
}
