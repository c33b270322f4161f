import { z } from 'zod';
import { THINKING } from '../../records/agent/agent.ts';
import { ASK_SCOPES } from '../../records/conversation/ask.ts';
import type { DeepReadonly } from '../../records/deep-readonly.ts';
import { OUTCOMES } from '../../records/run/outcome.ts';

/** Parts that several documents share. Each field says what it means; a test compares them with the program's output. */
export const text = (meaning: string) => z.string().describe(meaning);
export const maybe = (meaning: string) => z.string().nullable().describe(meaning);
export const number = (meaning: string) => z.number().describe(meaning);
export const maybeNumber = (meaning: string) => z.number().nullable().describe(meaning);
export const yes = (meaning: string) => z.boolean().describe(meaning);
export const time = (meaning: string) => z.iso.datetime().describe(meaning);
export const maybeTime = (meaning: string) => z.iso.datetime().nullable().describe(meaning);
export const texts = (meaning: string) => z.array(z.string()).describe(meaning);
export const oneOf = <const Names extends readonly [string, ...string[]]>(meaning: string, ...names: Names) =>
  z.enum(names).describe(meaning);
export const group = <Shape extends z.ZodRawShape>(meaning: string, shape: Shape) =>
  z.strictObject(shape).describe(meaning);
export const maybeGroup = <Shape extends z.ZodRawShape>(meaning: string, shape: Shape) =>
  z.strictObject(shape).nullable().describe(meaning);
export const list = <Shape extends z.ZodRawShape>(meaning: string, shape: Shape) =>
  z.array(z.strictObject(shape)).describe(meaning);

export const image = z.strictObject({
  media_type: text('such as `image/png`'),
  base64: text('the picture'),
});

/** How something stands; `records/run/outcome.ts` makes all of it. */
export const outcome = {
  outcome: oneOf('how it stands or ended, in one word: [outcomes](guarantees.md#outcomes)', ...OUTCOMES),
  outcome_text: text('the same in words, on one line: what it waits for, which limit, why it failed'),
  how_on: text(
    'the end of `outcome_text` where a person can let it go on: what to do, with the command',
  ).optional(),
};

export const run = z
  .strictObject({
    id: text('uuid'),
    source: oneOf(
      'who asked for it: a timer, an agent in the background, an agent that awaits it',
      'cron',
      'subagent',
      'delegate',
    ),
    status: oneOf('its status', 'queued', 'running', 'completed', 'failed', 'timeout', 'cancelled'),
    label: maybe('its label; for a timer, the name of the job'),
    task: text('what it was told to do'),
    agent_id: text('its agent; the row stays when the conversation is deleted'),
    root_id: text('the tree of its agent'),
    session_key: text('readable address of its conversation'),
    requester_key: text('session key of who asked for it'),
    model: text('`provider/model`'),
    thinking: oneOf('how much it reasons', ...THINKING),
    timeout_seconds: maybeNumber('its own time limit'),
    cleanup: oneOf('what happens to its conversation', 'delete', 'keep'),
    deliver: texts('targets that are told how it ended'),
    job_id: maybe('the job that started it'),
    result: maybe('its last text'),
    error: maybe('why it failed; of a completed one, the limit that cut it short'),
    ...outcome,
    created_at: time('when it was created'),
    started_at: maybeTime('when it began'),
    finished_at: maybeTime('when it ended'),
    duration_ms: maybeNumber('from start to end'),
  })
  .meta({ id: 'run' });

export const approval = z
  .strictObject({
    id: text('the id with which it is answered'),
    agent_id: text('the agent that asks'),
    agent_name: text('its name'),
    root_id: text('its tree'),
    tool: text('the tool that it wants to call'),
    subject: text(
      'what rules match: the command, the path, the address; of a call that creates agents, how many and what they will probably use',
    ),
    subject_kind: z
      .enum(['command', 'path', 'folder', 'url', 'text', 'agents', 'script', 'question'])
      .nullable()
      .describe(
        'how rules match it; `question`: a tool asks something while it runs, and no rule answers it; null in rows of older versions',
      ),
    input: text(
      'the arguments, as the model wrote them; of a question, `{asker, message, fields, url, call}` as JSON',
    ),
    difference: maybe(
      'what the call would change in a file, as a unified diff; of a workflow, what it would do, and its script as added lines',
    ),
    cwd: text('the folder'),
    rule: text('why it is asked, such as `ask(bash:rm *)`'),
    asked_at: time('when it was asked'),
    verdict: z
      .enum(['allow', 'deny', 'void'])
      .nullable()
      .describe('the answer; `void`: the call went away unanswered'),
    scope: z
      .enum(ASK_SCOPES)
      .nullable()
      .describe(
        'this call; or what is granted, to this agent until its turn or it itself ends, to its tree, or in its folder for good',
      ),
    granted: maybe('the rule that an `allow` granted; null with another scope than `once`: the whole tool'),
    note: maybe('what the model was told with a `deny`; with an `allow` of a question, the values as JSON'),
    shown: text('digest of what a person is shown of it, for their answer'),
  })
  .meta({ id: 'approval' });

export const grantedRule = z
  .strictObject({
    id: text('the id with which it is removed; that of the approval'),
    rule: text('what is allowed, such as `bash:git status *`'),
    scope: z.enum(ASK_SCOPES).exclude(['once']).describe('how far it reaches'),
    agent_id: maybe('the agent; null: not only one'),
    agent_name: maybe('its name'),
    root_id: maybe('the tree; null: every tree in the folder'),
    folder: text('where it was granted; rules about paths, and those granted for good, hold only there'),
    asked_by: text('the rules that had asked; other rules that ask still do'),
    granted_by: text('who granted it'),
    granted_at: time('when'),
  })
  .meta({ id: 'granted_rule' });

export const job = z
  .strictObject({
    id: text('uuid'),
    name: text('unique in the ledger'),
    schedule: z
      .discriminatedUnion('type', [
        z.strictObject({ type: z.literal('cron'), expression: z.string(), tz: z.string() }),
        z.strictObject({ type: z.literal('every'), every_seconds: z.number() }),
        z.strictObject({ type: z.literal('at'), at: z.iso.datetime() }),
      ])
      .describe('`{type: "cron", expression, tz}`, `{type: "every", every_seconds}` or `{type: "at", at}`'),
    task: text('what is done each time; of a workflow, what it says of itself'),
    workflow: maybe('name of the workflow that its runs carry out, as its script was when it was given'),
    args: maybe('JSON of the value that the script sees as `args`'),
    session: oneOf('a fresh conversation each time, or an event in the main one', 'isolated', 'main'),
    session_key: maybe('of its isolated conversations'),
    root_id: maybe('the tree whose agent made it, or whose main session gets the event'),
    created_by: text('session key of who made it; `you` for a person'),
    model: text('`provider/model`'),
    thinking: oneOf('how much its agent reasons', ...THINKING),
    profile: maybe('the profile of its agent'),
    toolsets: texts('how its agent works with others'),
    cwd: text('its folder'),
    allow: texts('rules of its own that allow'),
    deny: texts('rules of its own that deny'),
    timeout_seconds: maybeNumber('the longest a run may take'),
    deliver: texts('targets that get its results'),
    once: yes('disabled after it fired once'),
    cleanup: oneOf('what happens to the conversation of a run', 'delete', 'keep'),
    overlap: oneOf('what happens if it is due while a run of it is in progress', 'skip', 'queue'),
    enabled: yes('whether it fires'),
    next_at: maybeTime('when it is due next'),
    created_at: time('when it was made'),
    updated_at: time('when it was changed'),
  })
  .meta({ id: 'job' });

export const delivery = z
  .strictObject({
    id: text('follows from its cause: `run-…`, `reply-…`, `ask-…`, `notice-…`'),
    kind: oneOf('what it reports', 'run', 'reply', 'ask', 'notice', 'alert'),
    target: text('where it goes'),
    status: oneOf('its status', 'pending', 'delivered', 'failed'),
    attempts: number('tries so far'),
    error: maybe('why the last try failed'),
    about: maybe('the run or the approval that it is about; null for a reply'),
    outcome: maybe('the outcome of the tree whose result it brings; null for other kinds'),
    outcome_text: maybe('the same in words'),
    text: maybe('of an alert: what it says, as Markdown; null for other kinds'),
    agent_id: text('the agent that it comes from'),
    root_id: text('its tree'),
    created_at: time('when it was created'),
    next_at: maybeTime('when it is tried next, while pending'),
    ended_at: maybeTime('when it was delivered or given up'),
  })
  .meta({ id: 'delivery' });

export const profile = z
  .strictObject({
    name: text('its name'),
    description: text('when to use it; may be empty'),
    model: maybe('null here and below: the same as for the agent that creates it'),
    thinking: z.enum(THINKING).nullable().describe('how much it reasons'),
    toolsets: z.array(z.string()).nullable().describe('how it works with others'),
    tools: z.array(z.string()).nullable().describe('the only tools it may have'),
    deny_tools: texts('tools it may not have'),
    parameters: texts('parameters that its model is sent besides the usual ones'),
    system: maybe('its system prompt'),
    instructions: yes('its agents get the instructions of the project and the user'),
    skills: z.array(z.string()).nullable().describe('the only skills they have'),
    turns: maybeNumber('model requests of one turn'),
    run_ms: maybeNumber('time of one turn'),
    budget: maybeGroup('what one of its agents and the agents below it may spend', {
      tokens: number('tokens, without input read from a cache').optional(),
      usd: number('US dollars').optional(),
      seconds: number('time by the clock').optional(),
    }),
    permissions: group('its rules', {
      allow: texts('rules that allow'),
      ask: texts('rules that ask'),
      deny: texts('rules that deny'),
    }),
    require: texts('evidence that its work must bring'),
    source: text('`config`, `built in`, or the file'),
  })
  .meta({ id: 'profile' });

export const jobRun = z.strictObject({
  instant: time('when it was due, or asked for'),
  manual: yes('asked for with `cron run`'),
  outcome: oneOf('the outcome', 'fired', 'queued', 'skipped'),
  missed: number('missed instants that it makes up for'),
  fired_at: time('when it was noticed'),
  run: run.nullable().describe('null for an event, and for what led to nothing'),
});

export const worker = z.strictObject({
  id: text('uuid'),
  host: text('its machine'),
  pid: number('its process'),
  role: oneOf('what it is for', 'run', 'serve', 'worker'),
  labels: texts('what trees may ask for'),
  draining: yes('told to take nothing more'),
  state: oneOf('`gone`: its process is dead, its lease not yet over', 'works', 'draining', 'gone'),
  agents: number('agents that it leads'),
  started_at: time('when it began; 1970 where that is not known'),
  expires_at: time('when its lease ends unless it is renewed'),
});

export type ApprovalDocument = DeepReadonly<z.infer<typeof approval>>;
export type DeliveryDocument = DeepReadonly<z.infer<typeof delivery>>;
export type JobDocument = DeepReadonly<z.infer<typeof job>>;
export type JobRunDocument = DeepReadonly<z.infer<typeof jobRun>>;
export type RunDocument = DeepReadonly<z.infer<typeof run>>;
export type WorkerDocument = DeepReadonly<z.infer<typeof worker>>;

interface DocumentShape {
  /** Commands that print the document. */
  readonly by?: readonly string[];
  /** Fields in addition to `schema`. */
  readonly shape?: z.ZodObject;
  /** Name of a part whose keys the document has, too; they are documented there. */
  readonly like?: string;
}

/** Documents by the value of their `schema`. */
export type DocumentShapes = Readonly<Record<string, DocumentShape>>;

export const error = z.strictObject({
  code: text('stable; see below'),
  message: text('what is wrong, for people'),
  hint: maybe('what to do next'),
  retryable: yes('the same command may succeed later without any change'),
});

export const attached = group('what a person attached, which follows in the text', {
  typed: number('length of what they wrote, in UTF-16 code units'),
  labels: z.array(z.string()).readonly().describe('what each attachment is'),
});

const status = z.literal('idle');
const partial = z.string().exactOptional();

/** The completion in a letter; it may have more fields. */
export const completion = z
  .discriminatedUnion('success', [
    z.looseObject({ status, success: z.literal(true), summary: z.string() }),
    z.looseObject({ status, success: z.literal(false), error: z.string(), partial }),
  ])
  .describe('the report that the letter is');

export const facts = z
  .unknown()
  .describe('what the text is made of ([facts](ledger.md#facts)); never sent to a model');
