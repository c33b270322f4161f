import type { CommandBuilder } from '../start/command-builder.ts';

/** `coppice approvals …` */
export function addApprovalsCommands({ sub, deferred }: CommandBuilder): void {
  const approvals = sub('approvals', 'Calls that wait for approval: list, allow, deny');
  sub('list', 'List calls that wait for approval', approvals).action(
    deferred(async (context) => (await import('./approvals-list.ts')).approvalsList(context)),
  );
  sub('allow', 'Allow this call', approvals)
    .argument('<id>', 'id or unique prefix')
    .option('--agent', 'and every later call of this tool by this agent')
    .action(
      deferred(async (context, id: string, { agent }: { agent?: boolean }) =>
        (await import('./approvals-answer.ts')).approvalsAnswer(context, id, {
          verdict: 'allow',
          scope: agent === true ? 'agent' : 'once',
          note: '',
        }),
      ),
    );
  sub('deny', 'Deny this call', approvals)
    .argument('<id>', 'id or unique prefix')
    .option('--say <text>', 'reason that the model is told', '')
    .action(
      deferred(async (context, id: string, { say }: { say: string }) =>
        (await import('./approvals-answer.ts')).approvalsAnswer(context, id, {
          verdict: 'deny',
          scope: 'once',
          note: say,
        }),
      ),
    );
}
