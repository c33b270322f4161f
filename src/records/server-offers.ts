import type { Attachment } from './conversation/attached-text.ts';

/** A prompt of an MCP server, which people call as `/SERVER:PROMPT`. All texts are the server's, on one line. */
export interface ServerPrompt {
  readonly server: string;
  /** As the server calls it. */
  readonly name: string;
  /** `SERVER:PROMPT`, as it is typed. */
  readonly called: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly required: boolean }[];
}

/** A resource of an MCP server, which people attach as `@SERVER:URI`. */
export interface ServerResource {
  readonly server: string;
  readonly uri: string;
  readonly description: string;
}

/** What MCP servers offer to people, beside their tools for models. */
export interface ServerOffers {
  readonly prompts: readonly ServerPrompt[];
  readonly resources: readonly ServerResource[];
  /** The server's text for a prompt, and what comes with it. Rejects with an Error that says why there is none. */
  prompt(
    prompt: ServerPrompt,
    given: Readonly<Record<string, string>>,
  ): Promise<{ readonly text: string; readonly attachments: readonly Attachment[] }>;
  /** A resource as attachments. Rejects with an Error that says why there are none. */
  resource(server: string, uri: string): Promise<readonly Attachment[]>;
}
