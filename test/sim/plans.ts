import { DEFAULT_TERMS, type ToolsetTerms } from '../../src/kernel/toolsets/toolset-terms.ts';
import type { AgentConfig } from '../../src/records/agent/agent.ts';
import type { Limits } from '../../src/records/agent/limits.ts';
import type { Random } from './random.ts';

const VOCABULARIES: readonly (readonly string[])[] = [
  ['process'],
  ['slash'],
  ['fanout'],
  ['sessions'],
  ['delegate'],
  ['process', 'fanout'],
  ['process', 'sessions', 'delegate'],
  ['slash', 'fanout', 'sessions'],
  ['process', 'fanout', 'sessions', 'delegate'],
];

/** Parameters with which one tree starts. */
export interface TreePlan {
  readonly prompt: string;
  readonly config: AgentConfig;
  readonly limits: Partial<Limits>;
}

export function planTree(random: Random, beside: readonly string[], asks: readonly string[]): TreePlan {
  const toolsets = random.pick(VOCABULARIES);
  const ask = random.chance(0.5) ? ['guarded'] : [];
  return {
    prompt: `begin with ${toolsets.join(' and ')}`,
    config: {
      model: 'sim/mind',
      thinking: 'off',
      system: 'You are simulated.',
      toolsets: [...toolsets, ...beside],
      tools: ['count', 'guarded', 'look'],
      cwd: '/',
      permissions: {
        cli: { allow: ['*'], ask: [...ask, ...asks], deny: [] },
        config: { allow: [], ask: [], deny: [] },
      },
    },
    limits: {
      depth: random.between(1, 3),
      children: random.between(2, 8),
      live: random.between(4, 24),
      total: random.between(6, 60),
      turns: random.between(3, 12),
      run_ms: random.between(20, 300) * 1_000,
      tokens: random.chance(0.2) ? random.between(500, 5_000) : null,
    },
  };
}

/** Toolset terms that all processes of a run share. `runs`: upper bound for the maximum of concurrent background runs per tree. */
export function planTerms(random: Random, runs: number): Pick<ToolsetTerms, 'subagents' | 'delegation'> {
  const { subagents, delegation } = DEFAULT_TERMS;
  return {
    subagents: { ...subagents, max_concurrent: random.between(1, runs) },
    delegation: { ...delegation, max_depth: random.between(1, 2), servers: ['sim'], default_server: 'sim' },
  };
}
