/**
 * Names that spans use: OpenTelemetry's semantic conventions 1.41.0, including those for generative AI, which are still in development. Names that the
 * conventions lack begin with `coppice.`.
 */
export const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.41.0';

export const ATTRIBUTE = {
  service_name: 'service.name',
  service_version: 'service.version',
  operation_name: 'gen_ai.operation.name',
  provider_name: 'gen_ai.provider.name',
  request_model: 'gen_ai.request.model',
  response_id: 'gen_ai.response.id',
  response_model: 'gen_ai.response.model',
  finish_reasons: 'gen_ai.response.finish_reasons',
  time_to_first_chunk: 'gen_ai.response.time_to_first_chunk',
  agent_id: 'gen_ai.agent.id',
  agent_name: 'gen_ai.agent.name',
  workflow_name: 'gen_ai.workflow.name',
  conversation_id: 'gen_ai.conversation.id',
  input_tokens: 'gen_ai.usage.input_tokens',
  output_tokens: 'gen_ai.usage.output_tokens',
  cached_tokens: 'gen_ai.usage.cache_read.input_tokens',
  cache_written_tokens: 'gen_ai.usage.cache_creation.input_tokens',
  reasoning_tokens: 'gen_ai.usage.reasoning.output_tokens',
  tool_name: 'gen_ai.tool.name',
  tool_call_id: 'gen_ai.tool.call.id',
  tool_arguments: 'gen_ai.tool.call.arguments',
  tool_result: 'gen_ai.tool.call.result',
  input_messages: 'gen_ai.input.messages',
  output_messages: 'gen_ai.output.messages',
  error_type: 'error.type',
  cost_usd: 'coppice.cost_usd',
  workflow_phase: 'coppice.workflow.phase',
  approval_ms: 'coppice.approval_ms',
  mail_kind: 'coppice.mail.kind',
} as const;

/** Providers whose name in the conventions differs from ours. */
const PROVIDERS: Readonly<Record<string, string>> = { google: 'gcp.gemini' };

/** Splits `anthropic/claude-x` into provider and model, named as in the conventions. */
export function providerAndModel(model: string): { readonly provider: string; readonly model: string } {
  const at = model.search(/[/:]/);
  const [provider, name] = at < 0 ? ['_OTHER', model] : [model.slice(0, at), model.slice(at + 1)];
  return { provider: PROVIDERS[provider] ?? provider, model: name };
}
