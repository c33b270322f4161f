/** One call of a tool. */
export interface ToolCallRequest {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface ToolCallResult {
  readonly id: string;
  readonly name: string;
  readonly output: string;
  readonly isError: boolean;
}
