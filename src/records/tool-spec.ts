/** What a model is told of one tool. `input` is a JSON Schema of type `object`. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly input: Readonly<Record<string, unknown>>;
}
