import type { Command } from 'commander';
import type { ProgramPart } from '../program-part.ts';

/** `coppice approvals …` */
export function addApprovalsCommands({ sub, choose }: ProgramPart): void {
  const approvals = sub('approvals', 'Calls that wait for you: list, allow, deny');
  const approval = (name: string, description: string): Command => sub(name, description, approvals);
  approval('list', 'What waits for an answer').action(
    choose(() => async (context) => (await import('./approvals-list.ts')).approvalsList(context)),
  );
  approval('allow', 'Let this very call run')
    .argument('<id>', 'id or unique prefix')
    .option('--agent', 'and every later call of this tool by this agent')
    .action(
      choose(
        (id: string, options: { agent?: boolean }) => async (context) =>
          (await import('./approvals-answer.ts')).approvalsAnswer(context, id, {
            verdict: 'allow',
            scope: options.agent === true ? 'agent' : 'once',
            note: '',
          }),
      ),
    );
  approval('deny', 'Refuse this call')
    .argument('<id>', 'id or unique prefix')
    .option('--say <text>', 'what the model is told', '')
    .action(
      choose(
        (id: string, options: { say: string }) => async (context) =>
          (await import('./approvals-answer.ts')).approvalsAnswer(context, id, {
            verdict: 'deny',
            scope: 'once',
            note: options.say,
          }),
      ),
    );
}
