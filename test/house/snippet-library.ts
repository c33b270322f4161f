import * as library from '../../src/coppice.ts';

/**
 * `coppice` as the snippets of the documentation import it (snippet-hooks.ts): the model that they name is scripted, and the server that they ask is that of the
 * test.
 */

const RESULTS = ['{"score":4,"problems":["none"]}', '{"merge":true,"reason":"fine"}'];
const NAMED = ['anthropic/claude-sonnet-4-5', 'openai.responses/gpt-5', 'mini'];

const scripted = library.createScriptedModel(
  {
    rules: [
      ...RESULTS.map((result) => ({
        when: { user: result.includes('score') ? '"score"' : '"merge"' },
        calls: [{ name: 'submit_result', input: { result } }],
      })),
      { when: { user: 'shell', step: 0 }, calls: [{ name: 'bash', input: { command: 'rm -r build' } }] },
      { say: 'said' },
    ],
  },
  'snippets',
);

export const openCoppice: typeof library.openCoppice = (options) =>
  library.openCoppice({
    ...options,
    models: { ...options.models, ...Object.fromEntries(NAMED.map((name) => [name, scripted])) },
  });

export const openClient: typeof library.openClient = () => {
  const { SNIPPET_URL = '', SNIPPET_TOKEN = '' } = process.env;
  const client = library.openClient({ url: SNIPPET_URL, token: SNIPPET_TOKEN });
  return {
    ...client,
    // Streams of a server do not end by themselves.
    async *events(watch = {}) {
      for await (const event of client.events(watch)) {
        yield event;
        return;
      }
    },
  };
};

export const { createScriptedModel, createToolRegistry, defineTool, registerSubagentTools } = library;
