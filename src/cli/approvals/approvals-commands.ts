import type { AskScope } from '../../records/conversation/ask.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { CommandBuilder } from '../start/command-builder.ts';
import { collect } from '../start/option-values.ts';

/** Scopes of an answer that grants a rule; without one, only this call is allowed. */
const SCOPES = {
  turn: 'grant a rule to this agent, until its turn ends',
  agent: 'grant a rule to this agent, until it ends; without --rule: the whole tool',
  session: 'grant a rule to every agent of its tree',
  always: 'grant a rule to every agent in its folder, for good',
} as const;

type AllowFlags = Partial<Record<keyof typeof SCOPES, boolean>> & {
  readonly rule?: string;
  readonly value?: readonly string[];
};

/** `coppice approvals …` */
export function addApprovalsCommands({ sub, deferred, imported }: CommandBuilder): void {
  const approvals = sub('approvals', 'Calls that wait for approval: list, show, allow, deny, rules');
  const list = imported(async () => (await import('./approvals-list.ts')).approvalsList);
  approvals.helpCommand(true).action(list);
  sub('list', 'List calls that wait for approval', approvals).action(list);
  sub('show', 'Show one of them with nothing left out', approvals)
    .argument('<id>', 'id or unique prefix')
    .action(imported(async () => (await import('./approvals-list.ts')).approvalsShow));
  const allow = sub('allow', 'Allow this call, or answer this question', approvals)
    .argument('<id>', 'id or unique prefix')
    .argument('[answer]', 'of a question: a choice, its number, or the one value that it needs');
  for (const [scope, description] of Object.entries(SCOPES)) allow.option(`--${scope}`, description);
  allow.option('--value <name=value>', "value of a field of the question's form (repeatable)", collect);
  allow.option('--rule <rule>', 'the rule that is granted, such as "bash:git status *"').action(
    deferred(async (context, id: string, answer: string | undefined, flags: AllowFlags) =>
      (await import('./approvals-answer.ts')).approvalsAnswer(context, id, {
        verdict: 'allow',
        scope: scopeOf(flags),
        rule: flags.rule,
        note: '',
        ...{ answer, values: flags.value },
      }),
    ),
  );
  sub('deny', 'Deny this call', approvals)
    .argument('<id>', 'id or unique prefix')
    .option('--say <text>', 'reason that the model reads', '')
    .option('--dismiss', 'dismiss a question without a decision')
    .action(
      deferred(async (context, id: string, { say, dismiss }: { say: string; dismiss?: boolean }) =>
        (await import('./approvals-answer.ts')).approvalsAnswer(context, id, {
          verdict: 'deny',
          scope: 'once',
          note: say,
          dismissed: dismiss,
        }),
      ),
    );
  const rules = sub('rules', 'Rules that were granted in answer to approvals: list, remove', approvals);
  sub('list', 'List the rules that still hold', rules).action(
    imported(async () => (await import('./approvals-rules.ts')).rulesList),
  );
  sub('remove', 'Take back a rule: calls ask again', rules)
    .argument('<id>', 'id or unique prefix')
    .action(imported(async () => (await import('./approvals-rules.ts')).rulesRemove));
}

function scopeOf(flags: AllowFlags): AskScope {
  const named = (Object.keys(SCOPES) as (keyof typeof SCOPES)[]).filter((scope) => flags[scope] === true);
  const [scope = 'once'] = named;
  const all = named.map((one) => `--${one}`).join(' and ');
  if (named.length > 1) throw new CoppiceError('E_USAGE', `${all}: only one of them`);
  if (scope === 'once' && flags.rule !== undefined)
    throw new CoppiceError('E_USAGE', '--rule needs one of --turn, --agent, --session and --always');
  return scope;
}
