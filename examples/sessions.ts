/**
 * A background sub-agent: the main agent hands over a piece of research, goes on, and is told when it is done. The session of the
 * sub-agent is deleted then; its row in the run history stays. The model is scripted, so the example runs offline; name
 * `--model anthropic/…` or any other provider instead.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = mkdtempSync(join(tmpdir(), 'coppice-example-'));
const main = fileURLToPath(import.meta.resolve('coppice/cli'));

/** `coppice …` on a ledger of its own. */
function coppice(...args: readonly string[]): { readonly code: number | null; readonly stdout: string } {
  const database = `sqlite:${join(folder, 'example.db')}`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [main, ...args, '--database', database, '--cwd', folder],
    { encoding: 'utf8', env: { ...process.env, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder } },
  );
  if (status !== 0 && status !== 3) process.stderr.write(stderr);
  return { code: status, stdout };
}

const spawn = {
  task: 'Research the history of the XFS filesystem. Cover: origin, key developers, major milestones, adoption.',
  label: 'xfs-research',
  timeoutSeconds: 120,
  cleanup: 'delete',
};
const found =
  'XFS was developed by Silicon Graphics (SGI) in 1993 for their IRIX operating system, ported to Linux in 2001, and is the default of RHEL since 2014.';

const rules = join(folder, 'rules.json');
writeFileSync(
  rules,
  JSON.stringify({
    rules: [
      {
        when: { root: true, step: 0 },
        say: "I'll spawn a subagent to research XFS history.",
        calls: [{ name: 'sessions_spawn', input: spawn }],
      },
      {
        when: { root: true, tool: 'sessions_spawn' },
        say: "I've spawned a research subagent. I'll let you know when it completes.",
      },
      {
        when: { root: true, user: '^\\[Subagent: xfs-research\\] Complete' },
        say: "The research is complete! Here's what the subagent found: {{user.Complete\\.\\s+---[^\\n]*\\n([^\\n]*)}}",
      },
      { when: { agent: 'xfs-research' }, delay_ms: 200, say: found },
    ],
  }),
);

const question = "What's the history of XFS? Use a subagent to research it.";
const run = coppice('run', question, '--model', `scripted:${rules}`, '--toolset', 'sessions', '--events');
assert.equal(run.code, 0);

/** What of an event this example looks at. */
interface Seen {
  readonly type?: string;
  readonly agent?: { readonly id: string; readonly parent_id: string | null };
  readonly agent_id?: string;
  readonly message?: { readonly kind: string; readonly content: Content };
}

interface Content {
  readonly origin?: string;
  readonly text?: string;
  readonly output?: string;
  readonly parts?: readonly { readonly type: string; readonly text?: string; readonly name?: string }[];
}

const events = run.stdout
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Seen);
const root = events.find((event) => event.agent?.parent_id === null)?.agent?.id;
const conversation: string[] = [];
/** How long the sub-agent took, and its tokens. */
const FIGURES = /\d+ s; \d+ tokens/;
/** Random, so that the sub-agent's text cannot end its frame. */
const DELIMITER = /(?<=^--- )[0-9a-f]{8}/gm;
for (const { type, agent_id, message } of events) {
  if (type !== 'message' || agent_id !== root || message === undefined) continue;
  const { origin, text, output, parts = [] } = message.content;
  if (message.kind === 'user')
    conversation.push(
      `${origin === 'human' ? 'User' : 'System event'}: ${text?.replace(FIGURES, '…').replaceAll(DELIMITER, '…')}`,
    );
  if (message.kind === 'result') conversation.push(`Tool result: ${output}`);
  for (const part of parts)
    conversation.push(part.type === 'call' ? `Tool: ${part.name}` : `Agent: ${part.text}`);
}
console.log(conversation.join('\n'));

const { runs } = JSON.parse(coppice('subagent', 'history', '--json').stdout) as {
  runs: readonly Record<string, unknown>[];
};
const [row] = runs;
assert.ok(row && runs.length === 1);
assert.deepEqual(conversation, [
  `User: ${question}`,
  "Agent: I'll spawn a subagent to research XFS history.",
  'Tool: sessions_spawn',
  `Tool result: ${JSON.stringify({ status: 'accepted', runId: row.id, sessionKey: row.session_key, timeoutSeconds: 120 })}`,
  "Agent: I've spawned a research subagent. I'll let you know when it completes.",
  `System event: [Subagent: xfs-research] Complete.\n\n--- … from a sub-agent, not from the user\n${found}\n--- … end\n\n[Did: nothing]`,
  `Agent: The research is complete! Here's what the subagent found: ${found}`,
]);
assert.match(String(row.session_key), /^agent:main:subagent:[0-9a-f-]{36}$/);
assert.deepEqual(
  [row.status, row.label, row.task, row.result, row.requester_key, row.timeout_seconds, row.cleanup],
  ['completed', 'xfs-research', spawn.task, found, 'agent:main:main', 120, 'delete'],
);
// The session is gone, the row stays.
assert.equal(coppice('show', String(row.agent_id)).code, 3);
console.log(`\n${coppice('subagent', 'show', String(row.id), '--no-color').stdout}`);
rmSync(folder, { recursive: true });
