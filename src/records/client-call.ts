/** A tool call that an outside program requests from the agent that represents it (docs/mcp-server.md), as encoded in a letter. */
export interface ClientCall {
  /** UUID of both the call and the letter. */
  readonly id: string;
  readonly tool: string;
  /** The arguments as JSON. */
  readonly input: string;
}

const LETTER = /^([a-z_]{1,64}) (\{.*\}) \(call ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)$/s;

export function writeClientCall({ id, tool, input }: ClientCall): string {
  return `${tool} ${input} (call ${id})`;
}

/** Returns null if the text is something else, such as a person's message or a notice of mail. */
export function readClientCall(text: string): ClientCall | null {
  const [, tool = '', input = '', id = ''] = LETTER.exec(text) ?? [];
  return id === '' ? null : { id, tool, input };
}
