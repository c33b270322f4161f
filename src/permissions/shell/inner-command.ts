/** Something else that a command runs, as far as its arguments show. */
export type InnerCommand =
  /** Another command, as words. */
  | { readonly words: readonly string[] }
  /** Shell text; `posix`: for a shell that may be another than bash. */
  | { readonly text: string; readonly posix?: boolean }
  /** Some of its arguments are evaluated as arithmetic, which runs substitutions in the values of variables. */
  | { readonly evaluates: true }
  /** Something that cannot be determined, described in a few words. */
  | { readonly hidden: string };

/** Analyses the arguments of one program, whose name is the first word. */
export type ReadArguments = (words: readonly string[]) => readonly InnerCommand[];

export function hidden(what: string): readonly InnerCommand[] {
  return [{ hidden: what }];
}

/** A table whose rows hold for several programs each, with spaces between their names. */
export function byProgram<Value>(rows: readonly (readonly [string, Value])[]): ReadonlyMap<string, Value> {
  return new Map(rows.flatMap(([names, value]) => names.split(' ').map((name) => [name, value] as const)));
}
