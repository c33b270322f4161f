import type { NewMail } from '../../core/mail.ts';
import type { NewAgent } from '../../core/new-agent.ts';
import { runOutcome } from '../../core/run-outcome.ts';
import type { Step } from '../../core/step.ts';
import { storable } from '../../core/text.ts';
import { stepToken } from '../step-token.ts';

/** Steps as `coppice_commit` reads them: contents and states are texts in it, so that any character survives. */
export function encodeSteps(steps: readonly Step[]): string {
  return JSON.stringify(steps.map(encodeStep));
}

function encodeStep(step: Step): object {
  const run = runOutcome(step.state);
  return {
    ...step,
    token: stepToken(step),
    status: step.state.type,
    ...(run === null
      ? {}
      : { run: { status: run.status, result: kept(run.result), error: kept(run.error) } }),
    state: JSON.stringify(step.state),
    ...(step.config === undefined ? {} : { config: JSON.stringify(step.config) }),
    messages: step.messages.map(encodeMessage),
    create: step.create.map(encodeAgentObject),
    send: step.send.map(encodeMailObject),
    requests: step.requests.map(({ usage, ...rest }) => ({ ...rest, ...usage })),
    doing: kept(step.doing),
    reply: kept(step.reply),
  };
}

function kept(text: string | null): string | null {
  return text === null ? null : storable(text);
}

function encodeMessage({ kind, content }: Step['messages'][number]): object {
  return { kind, content: JSON.stringify(content) };
}

/** For functions that take an agent as a part of something. */
export function encodeAgentObject({ agent, messages, run }: NewAgent): object {
  const { config, state, name, ...rest } = agent;
  return {
    agent: {
      ...rest,
      name: storable(name),
      config: JSON.stringify(config),
      status: state.type,
      state: JSON.stringify(state),
    },
    messages: messages.map(encodeMessage),
    ...(run === undefined ? {} : { run }),
  };
}

export function encodeAgent(created: NewAgent): string {
  return JSON.stringify(encodeAgentObject(created));
}

export function encodeMailObject(mail: NewMail): object {
  return { ...mail, body: storable(mail.body), from_name: storable(mail.from_name) };
}

export function encodeMail(mail: NewMail): string {
  return JSON.stringify(encodeMailObject(mail));
}
