// This folder is the keys: the actions, their bindings, and their effects.
/** All actions with the ways to trigger them: a chord, the leader key and another key, a slash command. */
export const ACTIONS = [
  row('parent', ['ctrl+up', 'leader up'], '/agent NAME', 'go to the parent'),
  row('child', ['ctrl+down', 'leader down'], '/agent NAME', 'go to the first child'),
  row('previous_sibling', ['ctrl+left', 'leader left'], '/agent NAME', 'go to the previous sibling'),
  row('next_sibling', ['ctrl+right', 'leader right'], '/agent NAME', 'go to the next sibling'),
  ...([0, 1, 2, 3, 4, 5, 6, 7, 8, 9] as const).map((slot) =>
    row(
      `slot_${slot}` as const,
      [`alt+${slot}`, `leader ${slot}`],
      `/agent ${slot}`,
      slot === 0 ? 'go to main' : `go to slot ${slot}`,
    ),
  ),
  row('agents', ['leader a'], '/agents', 'list all agents'),
  row('trees', ['leader t'], '/trees', 'overview of all trees'),
  row('approvals', ['leader !'], '/approvals', 'answer what agents ask'),
  row('allow', ['leader y'], '/allow', 'allow the call that is asked about, once'),
  row('allow_rule', ['leader s'], '/allow SCOPE RULE', 'allow such calls from now on: shows the rule first'),
  row('edit_rule', ['leader i'], '/allow SCOPE RULE', 'write the rule that is shown'),
  row('deny', ['leader n'], '/deny', 'deny the call'),
  row('deny_saying', ['leader m'], '/deny WORDS', 'deny it with words for the agent'),
  row('view_asker', ['leader v'], null, 'go to the agent that asks'),
  row('whole', ['leader p'], null, 'print the call that is asked about, with nothing left out'),
  row('dashboard', ['leader w'], '/web', 'open the dashboard in the browser'),
  row('mode', ['shift+tab'], '/mode', 'next mode: ask, accept edits, plan only'),
  row('new', ['leader e'], '/new', 'begin another conversation; this one goes on'),
  row('resume', ['leader l'], '/resume', 'choose another conversation; this one goes on'),
  row('interrupt', ['escape'], null, 'interrupt the agent in view'),
  row('kill', ['leader k'], '/kill', 'kill the agent in view and its descendants'),
  row('reap', ['leader r'], '/reap', 'remove dead agents from the list'),
  row('capture', ['leader c'], '/capture', 'compose a task for a sub-agent'),
  row('fork', ['leader f'], '/fork', 'create a child, with what was captured'),
  row('unfold', ['ctrl+o', 'leader o'], null, 'open or close tool calls'),
  row('search_history', ['ctrl+r', 'leader h'], null, 'search what you sent before'),
  row('take_back', ['leader u'], null, 'take back the message queued last, to edit it'),
  row('edit_draft', ['ctrl+g', 'leader d'], null, 'write the draft in your editor ($VISUAL, $EDITOR)'),
  row('clear', ['ctrl+c'], null, 'clear the input; twice: quit'),
  row('suspend', ['ctrl+z', 'leader z'], null, 'suspend the program; fg continues it'),
  row('quit', ['leader q'], '/quit', 'quit'),
  row('keys', ['leader ?'], '/help', 'show the keys'),
  // The prefix key of two-key bindings.
  row('leader', ['ctrl+x'], null, 'waits for another key'),
];

/** An effect of a key other than writing text. */
export type Action = (typeof ACTIONS)[number]['action'];

/** `keys`: default bindings; `leader` stands for the leader key. */
function row<Name extends string>(
  action: Name,
  keys: readonly string[],
  slash: string | null,
  description: string,
) {
  return { action, keys, slash, description };
}
