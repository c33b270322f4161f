import { z } from 'zod';
import type { Agent } from '../../../src/records/agent/agent.ts';
import type { Ask, AskScope } from '../../../src/records/conversation/ask.ts';
import type { Tool } from '../../../src/records/tool.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { until } from '../../until.ts';
import { type Play, type Stage, type StageOptions, setStage } from '../stage.ts';

const NONE = { allow: [], ask: [], deny: [] };
/** Rules of these tests: `act` and `look` need approval, `act:forbidden*` is denied, everything else runs. */
export const RULES = { cli: { allow: ['*'], ask: ['act', 'look'], deny: ['act:forbidden*'] }, config: NONE };

/** Agent and argument of one run of `act` or `look`. */
export interface Deed {
  readonly agent: string;
  readonly what: string;
}

export interface ApprovalStage extends Stage {
  /** Runs of the tools, in order; only approved calls may be in it. */
  readonly deeds: Deed[];
  /** Resolves with the open questions of the tree, once there are `count`. */
  asked(root: Agent, count?: number): Promise<readonly Ask[]>;
  allow(ask: Ask | undefined, scope?: AskScope, rule?: string): Promise<void>;
  deny(ask: Ask | undefined, note?: string): Promise<void>;
}

export interface ApprovalOptions extends Partial<Omit<StageOptions, 'tools' | 'database'>> {
  readonly deeds?: Deed[];
}

/** `act` runs alone and is never repeated; `look` may run beside others. Both record their argument. */
function actors(deeds: Deed[]): Tool[] {
  const tool = (name: string, side_by_side: boolean): Tool =>
    defineTool({
      name,
      description: 'Writes down what it was given.',
      input: z.strictObject({ what: z.string() }),
      side_by_side,
      idempotent: false,
      subject: ({ what }) => what,
      run: async ({ what }, { agent, signal }) => {
        deeds.push({ agent: agent.name, what });
        if (what.startsWith('hang'))
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        return `did ${what}`;
      },
    }) as Tool;
  return [tool('act', false), tool('look', true)];
}

/** A stage with tools that need approval. */
export async function approvalStage(
  play: Play,
  database: string | undefined,
  { deeds = [], ...options }: ApprovalOptions = {},
): Promise<ApprovalStage> {
  const on = await setStage(play, {
    can_ask: true,
    tools: actors(deeds),
    ...options,
    config: { permissions: RULES, ...options.config },
    database,
  });
  return withApprovals(on, deeds);
}

/** Adds the approval functions to a stage; needed again after `Stage.reopen`, which returns a plain stage. */
export function withApprovals(on: Stage, deeds: Deed[]): ApprovalStage {
  return {
    ...on,
    deeds,
    async asked(root, count = 1) {
      let open: readonly Ask[] = [];
      await until(async () => {
        open = await on.store.asks({ root_id: root.id, open: true });
        return open.length === count;
      }, `${count} open questions`);
      return open;
    },
    allow: (ask, scope = 'once', rule) =>
      on.runtime.answer(ask?.id ?? '', { verdict: 'allow', scope, rule, note: '' }),
    deny: (ask, note = '') => on.runtime.answer(ask?.id ?? '', { verdict: 'deny', scope: 'once', note }),
  };
}
