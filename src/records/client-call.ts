/** What a program outside asks the agent to call that stands for it (docs/mcp-server.md), as its letter says it. */
export interface ClientCall {
  /** Of the call, and of the letter: a uuid. */
  readonly id: string;
  readonly tool: string;
  /** The arguments as JSON. */
  readonly input: string;
}

const LETTER = /^([a-z_]{1,64}) (\{.*\}) \(call ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)$/s;

export function writeClientCall({ id, tool, input }: ClientCall): string {
  return `${tool} ${input} (call ${id})`;
}

/** Null: the text is something else, such as words of a person or a notice of mail. */
export function readClientCall(text: string): ClientCall | null {
  const [, tool = '', input = '', id = ''] = LETTER.exec(text) ?? [];
  return id === '' ? null : { id, tool, input };
}
