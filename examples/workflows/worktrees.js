export const meta = {
  name: 'worktrees',
  description: 'Each part is changed in a git worktree of its own; at the end one agent merges the branches',
};

const changed = await parallel(
  (args?.parts ?? ['docs', 'tests']).map(
    (part) => () => agent(`Change ${part}; commit your work.`, { label: part, isolation: 'worktree' }),
  ),
);
return agent(`Merge the branches of these reports:\n${changed.filter(Boolean).join('\n')}`);
