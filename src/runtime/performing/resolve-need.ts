import { closeSync, fstatSync, readSync, statSync } from 'node:fs';
import type { Need, NeedAnswer, WorldNeed } from '../../kernel/toolsets/toolset.ts';
import type { Model } from '../../models/model.ts';
import type { WorkflowHost } from '../../models/workflow-host.ts';
import { decide } from '../../permissions/decide.ts';
import { isCovered } from '../../permissions/grants/grant.ts';
import { containPath, openContained } from '../../permissions/path-containment.ts';
import { refuseForeignOutput } from '../../permissions/path-guard.ts';
import { policyOf } from '../../permissions/policy.ts';
import { creationRuling } from '../../permissions/refusal.ts';
import {
  isScriptPath,
  scriptHash,
  scriptSubject,
  WORKFLOW_PERMISSION,
} from '../../permissions/tool-permission.ts';
import { touchedPaths } from '../../permissions/touched-paths.ts';
import { treeOutput, worktreeFolder } from '../../processes/output/spill-folder.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { estimateOf, fanOutText } from '../../records/agent/estimate.ts';
import { errorText } from '../../records/coppice-error.ts';
import { storable } from '../../records/text/text.ts';
import type { Store } from '../../store/store.ts';
import { BUILT_IN_PERMISSIONS } from '../../tools/built-in-permissions.ts';
import { makeWorktree } from '../worktree/git-worktree.ts';
import { type GrantContext, grantsFor, mayAsk } from './asking/approvals.ts';
import type { EarlierRuns } from './earlier-run.ts';

/** Maximum bytes of a file that is prepended to a task. */
const MAX_FILE = 256 * 1024;

export interface NeedContext {
  readonly workflows?: WorkflowHost | undefined;
  /** Rejects with a `CoppiceError`. */
  readonly openModel: (name: string) => Promise<Model>;
  readonly earlier: () => Promise<EarlierRuns>;
  /** Folder of worktrees and spilled output. */
  readonly spill_dir: string;
}

/** Resolves what a call needs from outside the ledger, under the agent's permissions. Never rejects. */
export async function resolveNeed(agent: Agent, need: WorldNeed, context: NeedContext): Promise<NeedAnswer> {
  try {
    switch (need.type) {
      case 'model':
        await context.openModel(need.name);
        return { ok: true, text: need.name };
      case 'folder':
        return folder(need.base, need.path);
      case 'file':
        return file(agent, need.base, need.path, context.spill_dir);
      case 'workflow':
        return await workflowWithin(agent, need, context);
      case 'worktree':
        return await worktree(agent, need, context);
      case 'earlier': {
        const { worktree: wanted } = need;
        return await (await context.earlier()).answer(need, agent.id, async () =>
          wanted === null ? { ok: true, text: '' } : worktree(agent, wanted, context),
        );
      }
    }
  } catch (error) {
    return { ok: false, error: errorText(error) };
  }
}

async function worktree(
  { id: agent_id }: Agent,
  { base, id }: { readonly base: string; readonly id: string },
  { spill_dir }: NeedContext,
): Promise<NeedAnswer> {
  const made = await makeWorktree(base, worktreeFolder(spill_dir), `${agent_id.slice(0, 8)}-${id}`);
  return made.ok ? { ok: true, text: made.worktree.path, worktree: made.worktree } : made;
}

/** A workflow that a script runs: as whoever allowed the run saw it; any other one only where a rule allows it (docs/workflows.md#consent). */
async function workflowWithin(
  { config }: Agent,
  { base, name }: Extract<WorldNeed, { type: 'workflow' }>,
  { workflows }: NeedContext,
): Promise<NeedAnswer> {
  const refused = (error: string) => ({ ok: false, error }) as const;
  if (workflows === undefined) return refused('this program runs no workflows');
  const policy = policyOf(config);
  if (isScriptPath(name)) {
    const { relative } = containPath(base, name);
    const touched = touchedPaths(BUILT_IN_PERMISSIONS.read, name, base);
    const { verdict, rule } = decide(policy, BUILT_IN_PERMISSIONS.read, relative, touched);
    if (verdict !== 'allow') return refused(`${name} may not be read: ${rule}`);
  }
  const shown = config.workflow?.within?.find(({ wanted }) => wanted === name);
  const found = shown ?? (await workflows.load(name, base));
  const subject = scriptSubject(found.name, scriptHash(found.script));
  const { verdict, rule } = decide(policy, WORKFLOW_PERMISSION, subject);
  if (verdict === 'deny') return refused(`the workflow ${name} was denied by the rule ${rule}`);
  // A function of a program names what the program itself wants to run.
  if (shown === undefined && verdict === 'ask' && config.workflow?.program !== true)
    return refused(
      `nobody saw the workflow ${name} before this run began, and no rule allows it: name it in the script as a text, or allow it with the rule workflow:${found.name}`,
    );
  const { description, script } = found;
  return { ok: true, text: JSON.stringify({ name: found.name, description, script }) };
}

function folder(base: string, path: string): NeedAnswer {
  const place = containPath(base, path);
  if (!place.exists || !statSync(place.absolute).isDirectory())
    return { ok: false, error: `${path} is not a folder` };
  return { ok: true, text: place.absolute };
}

function file(agent: Agent, base: string, path: string, spill_dir: string): NeedAnswer {
  const place = containPath(base, path);
  refuseForeignOutput(place, { cwd: base, spill_dir: treeOutput(spill_dir, agent.root_id) });
  const { verdict, rule } = decide(
    policyOf(agent.config),
    BUILT_IN_PERMISSIONS.read,
    place.relative,
    touchedPaths(BUILT_IN_PERMISSIONS.read, path, base),
  );
  if (verdict !== 'allow') return { ok: false, error: `${path} may not be read: ${rule}` };
  const descriptor = openContained(place);
  try {
    const { size } = fstatSync(descriptor);
    if (!fstatSync(descriptor).isFile()) return { ok: false, error: `${path} is not a file` };
    if (size > MAX_FILE)
      return { ok: false, error: `${path} has ${size} bytes; at most ${MAX_FILE} can be read first` };
    const bytes = Buffer.alloc(size);
    const length = readSync(descriptor, bytes, 0, size, 0);
    const text = bytes.subarray(0, length);
    if (text.includes(0)) return { ok: false, error: `${path} is not a text file` };
    return { ok: true, text: storable(text.toString('utf8')) };
  } finally {
    closeSync(descriptor);
  }
}

/** Whether a call may create its agents. The answer's text is empty if it may; otherwise it is the estimated use, for the question to a person. */
export async function mayCreate(
  agent: Agent,
  { call, planned }: Extract<Need, { type: 'creation' }>,
  context: GrantContext & { readonly store: Pick<Store, 'grants' | 'pastAgents'> },
): Promise<NeedAnswer> {
  const ruling = creationRuling(policyOf(agent.config), call.name);
  const allowed = { ok: true, text: '' } as const;
  if (ruling === null) return allowed;
  const asked = { tool: call.name, subject: '', subject_kind: 'agents' as const };
  const rules = ruling.type === 'ask' ? ruling.rules : [];
  if (isCovered(await grantsFor(agent, context), rules, asked)) return allowed;
  if (!mayAsk(agent, context)) return { ok: false, error: ruling.why };
  const estimated = planned.map(async (kind) => ({
    ...kind,
    estimate: estimateOf(await context.store.pastAgents(kind)),
  }));
  return { ok: true, text: fanOutText(await Promise.all(estimated)) };
}
