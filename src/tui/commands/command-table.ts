import type { Fault, READERS } from './command-arguments.ts';

/** Default keys of an action, where `leader` stands for the leader key; and where they differ from those of its row, what help says and the command of the same effect. */
type ActionRow = readonly [keys: readonly string[], help?: string, slash?: string];

interface Row {
  /** Begins this group of the help. */
  readonly group?: string;
  /** What help and completion say; left out where nothing is typed, only pressed. */
  readonly help?: string;
  /** Arguments, for help. AGENT is a name, a slot, a number or the beginning of an id. */
  readonly usage?: string;
  readonly aliases?: readonly string[];
  /** Which arguments are completed with names of agents: the first, or all. */
  readonly completes?: 'agent' | 'agents';
  /** It is a command during a capture, too: it ends it, navigates or answers. Everything else is captured then. */
  readonly in_capture?: true;
  /** It needs an agent in view. */
  readonly at_agent?: true;
  /** Keys by action: the names that the configuration binds. */
  readonly keys?: Readonly<Record<string, ActionRow>>;
  /** The reader of the arguments; left out: there are none. Named, so that the configuration, which needs the keys, loads no readers. */
  readonly parse?: keyof typeof READERS;
}

const ROWS = {
  agent: {
    group: 'Go to',
    usage: 'NAME|NUMBER',
    help: 'go to an agent',
    parse: 'oneAgent',
    completes: 'agent',
    in_capture: true,
    keys: {
      parent: [['ctrl+up', 'leader up'], 'go to the parent', '/agent NAME'],
      child: [['ctrl+down', 'leader down'], 'go to the first child', '/agent NAME'],
      previous_sibling: [['ctrl+left', 'leader left'], 'go to the previous sibling', '/agent NAME'],
      next_sibling: [['ctrl+right', 'leader right'], 'go to the next sibling', '/agent NAME'],
      slot_0: [['alt+0', 'leader 0'], 'go to main', '/agent 0'],
      ...slotKeys(),
    },
  },
  agents: {
    help: 'all agents, as a tree',
    in_capture: true,
    keys: { agents: [['leader a'], 'list all agents'] },
  },
  trees: {
    help: 'all trees of the ledger: who waits for you, what is new, what is at work',
    in_capture: true,
    keys: { trees: [['leader t'], 'overview of all trees'] },
  },
  approvals: {
    group: 'Answers',
    help: 'what waits for your answer',
    in_capture: true,
    keys: { approvals: [['leader !'], 'answer what agents ask'] },
  },
  allow: {
    usage: '[SCOPE RULE | CHOICE | NAME=VALUE…]',
    help: 'allow the call that is asked about; SCOPE (turn, agent, session, always) grants the rule as well; a question is answered with a choice, its number, or the values of its form',
    parse: 'scopeAndRule',
    in_capture: true,
    keys: {
      allow: [['leader y'], 'allow the call that is asked about, once'],
      allow_rule: [['leader s'], 'allow such calls from now on: shows the rule first', '/allow SCOPE RULE'],
      allow_alike: [
        ['leader shift+y'],
        'allow all open calls that are like this one: shows them first',
        '/allow SCOPE RULE',
      ],
      allow_narrow: [
        ['leader shift+a'],
        'allow exactly such calls in this tree: shows the narrowest rule',
        '/allow SCOPE RULE',
      ],
      edit_rule: [['leader i'], 'write the rule that is shown', '/allow SCOPE RULE'],
    },
  },
  deny: {
    usage: '[WORDS]',
    help: 'deny it; the agent reads the words',
    parse: 'anyText',
    in_capture: true,
    keys: {
      deny: [['leader n'], 'deny the call'],
      deny_saying: [['leader m'], 'deny it with words for the agent', '/deny WORDS'],
    },
  },
  question: {
    keys: {
      view_asker: [['leader v'], 'go to the agent that asks'],
      whole: [['leader p'], 'print the call that is asked about, with nothing left out'],
    },
  },
  rules: {
    usage: '[remove ID]',
    help: 'rules that you granted in answers',
    parse: 'ruleToRemove',
    in_capture: true,
  },
  interrupt: {
    group: 'Agents',
    keys: { interrupt: [['escape'], 'interrupt the agent in view'] },
  },
  kill: {
    usage: '[idle|AGENT…]',
    help: 'kill agents and their descendants; idle: all idle agents',
    parse: 'anyAgents',
    completes: 'agents',
    at_agent: true,
    keys: { kill: [['leader k'], 'kill the agent in view and its descendants'] },
  },
  reap: { help: 'remove dead agents from the list', at_agent: true, keys: { reap: [['leader r']] } },
  capture: {
    help: 'write down a task without sending it; /fork hands it to a child',
    in_capture: true,
    at_agent: true,
    keys: { capture: [['leader c'], 'compose a task for a sub-agent'] },
  },
  fork: {
    help: 'create a child with the captured text, or an idle one; switches to it',
    parse: 'noTask',
    in_capture: true,
    at_agent: true,
    keys: { fork: [['leader f'], 'create a child, with what was captured'] },
  },
  cancel: { help: 'end the capture; its text stays in the scrollback', in_capture: true, at_agent: true },
  send: {
    usage: 'AGENT MESSAGE',
    help: 'write to an agent',
    parse: 'agentAndMessage',
    completes: 'agent',
    at_agent: true,
  },
  wait: {
    usage: 'SECONDS [AGENT…]',
    help: 'wait for the next message, or for all of these',
    parse: 'secondsAndAgents',
    completes: 'agents',
    at_agent: true,
  },
  retry: {
    usage: '[without-last]',
    help: 'ask again after an error, or leave out what was refused',
    parse: 'withoutLast',
    at_agent: true,
  },
  model: {
    group: 'How agents work',
    usage: '[NAME]',
    help: 'choose another model for the agent in view, and how much it thinks',
    aliases: ['models'],
    parse: 'anyText',
  },
  effort: { usage: '[off|low|medium|high]', help: 'how much the model thinks', parse: 'effortName' },
  mode: {
    usage: '[ask|accept|plan]',
    help: 'ask about changes, accept edits, or plan only',
    parse: 'modeName',
    keys: { mode: [['shift+tab'], 'next mode: ask, accept edits, plan only'] },
  },
  compact: {
    usage: '[WHAT TO KEEP]',
    help: 'summarise the older part of the conversation for its model',
    parse: 'anyText',
    at_agent: true,
  },
  diff: {
    group: 'What they did',
    help: 'what the agents changed in the folder, file by file',
  },
  undo: {
    usage: '[redo] [AGENT]',
    help: 'take back what agents changed in files since you last wrote; redo: put it back',
    parse: 'redoAndAgent',
    completes: 'agent',
  },
  workflow: {
    usage: '[TASK]',
    help: 'ask for a workflow that does it; alone: the newest run, by phase. Saved ones are commands: /NAME [ARGS]',
    parse: 'anyText',
    keys: { workflow: [['leader j'], 'the newest workflow run: phases, agents, actions'] },
  },
  tasks: { help: 'the task list that the agents share', aliases: ['todos'] },
  status: {
    group: 'What it uses',
    help: 'model, mode, folder, context, agents and use, on one page',
  },
  context: { help: 'what fills the context: system text, tools, conversation', at_agent: true },
  cost: { help: 'what was used, this turn and in all, by agent and model', aliases: ['usage'] },
  budget: {
    usage: '[AGENT] [usd=N] [tokens=N]',
    help: 'what may still be spent, or another budget',
    parse: 'agentAndAmounts',
    completes: 'agent',
  },
  find: {
    group: 'Conversations',
    usage: '[WORDS]',
    help: 'search in the scrollback of the agent in view',
    parse: 'anyText',
    at_agent: true,
    keys: { find: [['ctrl+f', 'leader /'], 'search in the scrollback: n older, N newer'] },
  },
  export: { usage: '[FORMAT] [FILE]', help: 'write the conversation to a file', parse: 'formatAndFile' },
  copy: {
    usage: '[code|output] [NUMBER]',
    help: 'copy the last answer, a code block of it, or the output of a command (1: the last)',
    parse: 'partToCopy',
    at_agent: true,
  },
  new: {
    help: 'begin another conversation; this one goes on',
    aliases: ['clear'],
    in_capture: true,
    keys: { new: [['leader e']] },
  },
  resume: {
    usage: '[ID|WORDS]',
    help: 'choose another conversation; this one goes on',
    aliases: ['continue', 'sessions'],
    parse: 'anyText',
    in_capture: true,
    keys: { resume: [['leader l']] },
  },
  rewind: {
    usage: '[NUMBER|WORDS]',
    help: 'go back to a message: another conversation as this one was then, which stays',
    aliases: ['checkpoint'],
    parse: 'anyText',
    at_agent: true,
    keys: { rewind: [['leader b'], 'go back to a message (also: Esc twice, with nothing written)'] },
  },
  draft: {
    group: 'The draft',
    keys: {
      unfold: [['ctrl+o', 'leader o'], 'open or close tool calls'],
      search_history: [['ctrl+r', 'leader h'], 'search what you sent before'],
      take_back: [['leader u'], 'take back the message queued last, to edit it'],
      redo: [['alt+z', 'ctrl+shift+z'], 'redo what Ctrl-_ undid in the draft'],
      paste_picture: [['ctrl+v'], 'attach the picture in the clipboard'],
      edit_draft: [['ctrl+g', 'leader d'], 'write the draft in your editor ($VISUAL, $EDITOR)'],
      clear: [['ctrl+c'], 'clear the input; twice: quit'],
      suspend: [['ctrl+z', 'leader z'], 'suspend the program; fg continues it'],
    },
  },
  vim: { help: 'edit drafts with commands of vim, or no longer' },
  setup: {
    group: 'The program',
    help: 'connect another model, in a new conversation',
    aliases: ['login', 'connect'],
  },
  mcp: {
    usage: '[login NAME]',
    help: 'the MCP servers that agents here use; login: log in to one in the browser',
    parse: 'serverToLogIn',
  },
  web: { help: 'open the dashboard in the browser', in_capture: true, keys: { dashboard: [['leader w']] } },
  quit: {
    help: 'leave; running agents may go on',
    aliases: ['exit', 'q'],
    in_capture: true,
    keys: { quit: [['leader q'], 'quit'] },
  },
  help: { help: 'keys and commands', in_capture: true, keys: { keys: [['leader ?'], 'show the keys'] } },
  // The prefix key of two-key bindings.
  leader: { keys: { leader: [['ctrl+x'], 'waits for another key'] } },
} as const satisfies Readonly<Record<string, Row>>;

type Rows = typeof ROWS;

/** A relative of the agent in view to which keys go. */
export type Direction = 'parent' | 'child' | 'previous_sibling' | 'next_sibling';

/** A slash command. */
export type CommandName = { [N in keyof Rows]: Rows[N] extends { help: string } ? N : never }[keyof Rows];

/** An effect of a key other than writing text. */
export type Action = { [N in keyof Rows]: Rows[N] extends { keys: infer K } ? keyof K : never }[keyof Rows];

/** An effect that only keys have. */
export type KeyAction = {
  [N in Exclude<keyof Rows, CommandName>]: keyof Rows[N]['keys'];
}[Exclude<keyof Rows, CommandName>];

/** What a command gets from its line. */
export type ArgumentsOf<N extends CommandName> = Rows[N] extends {
  parse: infer P extends keyof typeof READERS;
}
  ? Exclude<ReturnType<(typeof READERS)[P]>, Fault>
  : null;

/** Commands that need an agent in view. */
export type AtAgent = { [N in keyof Rows]: Rows[N] extends { at_agent: true } ? N : never }[keyof Rows];

type Named<N> = Row & { readonly name: N };
let group = '';
const TABLE: readonly (Named<keyof Rows> & { readonly group: string })[] = Object.entries<Row>(ROWS).map(
  ([name, row]) => {
    group = row.group ?? group;
    return { ...row, group, name: name as keyof Rows };
  },
);

/** The slash commands, in the order of help and completion (docs/tui.md). */
export const COMMANDS = TABLE.filter(
  (row): row is Named<CommandName> & { readonly group: string; readonly help: string } =>
    row.help !== undefined,
).map((row) => ({ ...row, usage: `/${row.name}${row.usage === undefined ? '' : ` ${row.usage}`}` }));

/** All that keys do: the name of the action, its default keys, the command of the same effect or null, and what help says. */
export const ACTIONS = TABLE.flatMap(({ name, group, help = '', keys = {} }) =>
  Object.entries(keys).map(([action, [chords, description = help, slash]]) => ({
    action: action as Action,
    group,
    command: help === '' ? null : (name as CommandName),
    keys: chords,
    slash: slash ?? (help === '' ? null : `/${name}`),
    description,
  })),
);

function slotKeys() {
  const rows = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((slot): [string, ActionRow] => [
    `slot_${slot}`,
    [[`alt+${slot}`, `leader ${slot}`], `go to slot ${slot}`, `/agent ${slot}`],
  ]);
  return Object.fromEntries(rows) as Record<`slot_${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9}`, ActionRow>;
}
