/** Ways in which models and other programs write the call `bash {"command": "ls"}` as text. */
export const FORMS: readonly string[] = [
  // Claude, MiniMax, Grok, Seed, DeepSeek 3.2, and Claude's with names of other programs.
  '<function_calls>\n<invoke name="Bash">\n<parameter name="command">ls</parameter>\n</invoke>\n</function_calls>',
  '<minimax:tool_call>\n<invoke name="bash">\n<parameter name="command">ls</parameter>\n</invoke>\n</minimax:tool_call>',
  '<xai:function_call name="bash">\n<parameter name="command">ls</parameter>\n</xai:function_call>',
  '<seed:tool_call><function=bash><parameter=command>ls</parameter></function></seed:tool_call>',
  '<｜DSML｜function_calls>\n<｜DSML｜invoke name="bash">\n<｜DSML｜parameter name="command" string="true">ls</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
  '<longcat_tool_call>bash\n<longcat_arg_key>command</longcat_arg_key>\n<longcat_arg_value>ls</longcat_arg_value>\n</longcat_tool_call>',
  // DeepSeek 3 and 3.1, Kimi.
  '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>bash\n```json\n{"command": "ls"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>bash<｜tool▁sep｜>{"command": "ls"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  '<|tool_calls_section_begin|><|tool_call_begin|>functions.Bash:0<|tool_call_argument_begin|>{"command": "ls"}<|tool_call_end|><|tool_calls_section_end|>',
  // gpt-oss, with and without its tokens.
  '<|channel|>analysis<|message|>Look.<|end|><|start|>assistant<|channel|>commentary to=functions.bash <|constrain|>json<|message|>{"command": "ls"}<|call|>',
  '<|start|>assistant to=functions.bash<|channel|>commentary json<|message|>{"command": "ls"}<|call|>',
  'assistantcommentary to=functions.bash json{"command":"ls"}',
  'to=bash {"command":"ls"}',
  // Mistral, Phi, Granite, Nemotron, Jamba, Command A, InternLM, EXAONE.
  '[TOOL_CALLS]bash[ARGS]{"command": "ls"}',
  '[TOOL_CALLS]bash[CALL_ID]abc123456[ARGS]{"command": "ls"}',
  '<|tool_call|>[{"type":"function","function":{"name":"bash","arguments":{"command":"ls"}}}]<|/tool_call|>',
  'functools[{"name": "bash", "arguments": {"command": "ls"}}]',
  '<TOOLCALL>[{"name": "bash", "arguments": {"command": "ls"}}]</TOOLCALL>',
  '<tool_calls>[{"name": "bash", "arguments": {"command": "ls"}}]</tool_calls>',
  '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "bash", "parameters": {"command": "ls"}}]<|END_ACTION|>',
  '<|action_start|><|plugin|>{"name": "bash", "parameters": {"command": "ls"}}<|action_end|>',
  '<tool_call>{"name": "bash", "arguments": {"command": "ls"}}</tool_call>[|endofturn|]',
  // FunctionGemma, Apertus, Command R.
  '<start_function_call>call:bash{command:<escape>ls<escape>}<end_function_call>',
  '<|tools_prefix|>[{"bash": {"command": "ls"}}]<|tools_suffix|>',
  'Plan: I look.\nAction: ```json\n[{"tool_name": "bash", "parameters": {"command": "ls"}}]\n```',
  // Llama, Gemma, OLMo and LFM, as in a program.
  '[bash(command="ls")]',
  'Let me look first.\n[bash(command="ls", timeout=None)]',
  '```tool_code\nprint(default_api.bash(command="ls"))\n```',
  "```python\nbash(command='ls')\n```",
  '<function_calls>bash(command="ls")</function_calls>',
  '<|tool_call_start|>[bash(command="ls")]<|tool_call_end|>',
  '<tool_code>bash({"command": "ls"})</tool_code>',
  // As the examples of our own errors show it.
  'bash {"command": "ls"}',
  'bash({"command": "ls"});',
  'slash.bash {"command": "ls"}',
  'I see the fault. Now I will look at it:\n\n{"name": "bash", "arguments": {"command": "ls"}}',
  'I see the fault. Now I will look at it:\n\nbash(command="ls")',
  // What prompts teach: ReAct, Cline, OpenAI.
  'Thought: I look.\nAction: bash\nAction Input: {"command": "ls"}\nObservation:',
  'Action: bash\nAction Input: ls',
  'Tool: bash\nInput: {"command": "ls"}',
  'Action: bash\nArguments: {"command": "ls"}',
  'Let me look first.\n\n<execute_command>\n<command>ls</command>\n<requires_approval>false</requires_approval>\n</execute_command>',
  '<bash><command>ls</command></bash>',
  '{"function_call": {"name": "bash", "arguments": "{\\"command\\": \\"ls\\"}"}}',
];
