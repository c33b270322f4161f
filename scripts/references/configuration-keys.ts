import { limits } from '../../src/documents/shapes/agent-parts.ts';
import { DEFAULT_TERMS } from '../../src/kernel/toolsets/toolset-terms.ts';
import { DEFAULT_LIMITS, DEFAULT_SPENDING_LIMITS, type Limits } from '../../src/records/agent/limits.ts';
import { ACTIONS } from '../../src/tui/commands/command-table.ts';

export interface KeyText {
  readonly meaning: string;
  /** What holds when the key is left out, as JSON where it is a value. */
  readonly default?: string;
}

const { runs, subagents } = DEFAULT_TERMS;

const LIMITS: Readonly<Record<string, KeyText>> = {
  limits: { meaning: 'limits of the trees that such an agent begins' },
  ...Object.fromEntries(
    Object.entries(limits.shape).map(([name, { description = '' }]) => [
      `limits.${name}`,
      {
        meaning: description,
        default: `${{ ...DEFAULT_LIMITS, ...DEFAULT_SPENDING_LIMITS }[name as keyof Limits]}`,
      },
    ]),
  ),
};

const PERMISSIONS: Readonly<Record<string, KeyText>> = {
  permissions: { meaning: 'rules for tool calls ([permissions](permissions.md))' },
  'permissions.allow': { meaning: 'rules that allow without asking' },
  'permissions.ask': { meaning: 'rules that ask a person' },
  'permissions.deny': { meaning: 'rules that deny; they take precedence over the others' },
};

const QUOTA = '[quota](providers.md#a-quota-is-a-pause)';
const THINKING = 'how much the model reasons before it answers';
const TOOLSETS =
  'how agents work with others: `process`, `slash`, `fanout`, `sessions`, `delegate`, `workflow`, `tasks`';

/** Every key of the configuration by its path; `NAME` stands for a name of yours. A test checks that these are exactly the keys of the schema. */
export const CONFIGURATION_KEYS: Readonly<Record<string, KeyText>> = {
  $schema: { meaning: 'the JSON Schema of this file, for editors; not read by the program' },
  model: {
    meaning: '`provider/model` of agents that name none ([models](providers.md))',
    default: 'by the first key that is set: Anthropic, OpenAI, Google',
  },
  database: {
    meaning:
      '`sqlite:PATH` or `postgres://…` ([the ledger](ledger.md)); `--database` and `DATABASE_URL` take precedence',
    default: '`coppice.db` in the data folder',
  },
  env_allow: { meaning: 'further environment variables that tools may see; never keys of providers' },

  sandbox: { meaning: 'the [sandbox](sandbox.md) of the commands of agents' },
  'sandbox.mode': { meaning: 'what they may write, read and reach', default: '`"workspace"`' },
  'sandbox.hosts': {
    meaning:
      'what they may reach by HTTP and HTTPS: `example.com`, `*.example.com`, `*`, each with `:PORT` for that port only',
    default: 'no network',
  },
  'sandbox.write': { meaning: 'further folders that they may write in: absolute, or `~/…`' },
  'sandbox.read': {
    meaning: 'further folders that they may read: in home folders, or with `strict` anywhere',
  },
  'sandbox.unprotect': {
    meaning:
      'files and folders of the agent’s folder that [editors and tools run by themselves](sandbox.md#what-runs-by-itself) and that agents may write all the same, such as `.vscode` or `.claude/hooks`',
  },
  'sandbox.hide': { meaning: 'further files and folders that they may not read' },
  'sandbox.sockets': { meaning: 'whether they may use sockets of the file system', default: '`false`' },
  web: { meaning: 'what agents may do on [the web](web.md)' },
  'web.private_hosts': {
    meaning:
      'hosts that `web_fetch` may ask although they are private: `wiki.corp.example`, `*.corp.example`, an address, each with `:PORT` for that port only',
    default: 'none',
  },
  agentHooks: {
    meaning: "commands that run at points of an agent's work ([hooks](hooks.md)); `NAME` is a point",
  },
  'agentHooks.NAME': { meaning: 'groups of hooks' },
  'agentHooks.NAME[].matcher': {
    meaning: 'regular expression for the whole name of a tool',
    default: 'every tool',
  },
  'agentHooks.NAME[].hooks': { meaning: 'the hooks of the group' },
  'agentHooks.NAME[].hooks[].type': { meaning: '`command`' },
  'agentHooks.NAME[].hooks[].command': { meaning: 'a shell command' },
  'agentHooks.NAME[].hooks[].timeout': { meaning: 'seconds after which it is stopped', default: '60' },
  'web.robots': { meaning: 'whether `robots.txt` is followed', default: '`true`' },
  'web.search': { meaning: 'the service that `web_search` asks', default: 'no such tool' },
  'web.search.type': { meaning: 'which kind it is' },
  'web.search.baseURL': { meaning: 'where it is', default: 'where the service is; `searxng` needs it' },
  'web.search.apiKeyEnv': {
    meaning: 'the environment variable with its key',
    default: '`BRAVE_API_KEY`, `TAVILY_API_KEY`; none for `searxng`',
  },
  'sandbox.limits': {
    meaning: 'what all processes of one command may use, also without a sandbox; `null`: no limit',
  },
  'sandbox.limits.memory_mb': { meaning: 'memory, in MB', default: "half of the machine's" },
  'sandbox.limits.processes': { meaning: 'processes and their threads at once', default: '`2048`' },
  'sandbox.limits.cpu_seconds': {
    meaning: 'CPU time',
    default: 'no limit but the time limit of the command',
  },
  'sandbox.limits.disk_mb': {
    meaning: 'what it writes to disk, and what the `/tmp` of a tree may hold, in MB',
    default: "half of what is free on the disk of the agent's folder, with what `/tmp` holds; at least 1 GB",
  },
  'sandbox.limits.files': {
    meaning: 'files and folders that the `/tmp` of a tree may hold',
    default: '`100000`',
  },
  'sandbox.limits.folder_mb': {
    meaning: "what the agent's folder may hold, in MB, with what was there before",
    default: 'no limit',
  },

  providers: { meaning: 'providers of models by name; the name of a built-in one changes that one' },
  'providers.NAME': { meaning: 'a provider: its models are `NAME/MODEL`' },
  'providers.NAME.type': { meaning: 'the protocol that it speaks' },
  'providers.NAME.baseURL': { meaning: 'its address', default: "the provider's own" },
  'providers.NAME.apiKeyEnv': { meaning: 'environment variable that holds the key', default: 'no key' },
  'providers.NAME.headers': { meaning: 'HTTP headers of every request, by name' },
  'providers.NAME.headers.NAME': { meaning: 'one header' },
  'providers.NAME.maxConcurrent': {
    meaning: 'maximum requests at once, per process, key and model',
    default: 'as many as [the provider takes](providers.md#rate-limits-and-accounts), up to 1,024',
  },
  'providers.NAME.siblingsWait': {
    meaning:
      "forks that begin together let the first one's answer begin, at most 5 s ([why](providers.md#caches))",
    default: '`true` for `anthropic`, `openai` and `google` on other machines',
  },
  'providers.NAME.probeSeconds': {
    meaning: `pauses between tries of a provider that takes no requests and names no time (${QUOTA})`,
    default: 'a minute, doubled up to an hour',
  },
  'providers.NAME.probeSeconds.first': { meaning: 'the first one' },
  'providers.NAME.probeSeconds.most': { meaning: 'the longest' },
  'providers.NAME.quirks': {
    meaning: 'what its server does not take ([what is learnt](providers.md#what-a-server-does-not-take))',
  },
  'providers.NAME.quirks.omit': {
    meaning:
      'paths of fields that are left out of requests, such as `stream_options` or `messages.reasoning_content`',
    default: 'none, and what was learnt',
  },
  'providers.NAME.quirks.userAfterResults': {
    meaning: 'whether a message of the user may follow results directly',
    default: '`true`',
  },
  'providers.NAME.quirks.systemRole': {
    meaning: 'whether messages may have the role `system`',
    default: '`true`',
  },
  'providers.NAME.quirks.toolDescriptionMax': {
    meaning: 'maximum characters of the description of a tool; longer ones are cut',
  },
  'providers.NAME.models': { meaning: 'what is known of single models, by name' },
  'providers.NAME.models.NAME': { meaning: 'one model' },
  'providers.NAME.models.NAME.contextWindow': { meaning: 'tokens that fit, input and output together' },
  'providers.NAME.models.NAME.quirks': {
    meaning:
      'what this model does not take, beside that ([what is learnt](providers.md#what-a-server-does-not-take))',
  },
  'providers.NAME.models.NAME.quirks.omit': {
    meaning:
      'paths of fields that are left out of requests, such as `stream_options` or `messages.reasoning_content`',
    default: 'none, and what was learnt',
  },
  'providers.NAME.models.NAME.quirks.userAfterResults': {
    meaning: 'whether a message of the user may follow results directly',
    default: '`true`',
  },
  'providers.NAME.models.NAME.quirks.systemRole': {
    meaning: 'whether messages may have the role `system`',
    default: '`true`',
  },
  'providers.NAME.models.NAME.quirks.toolDescriptionMax': {
    meaning: 'maximum characters of the description of a tool; longer ones are cut',
  },
  'providers.NAME.models.NAME.price': {
    meaning: 'US dollars per million tokens ([prices](prices.md)); takes precedence over the built-in table',
  },
  'providers.NAME.models.NAME.price.input': { meaning: 'input' },
  'providers.NAME.models.NAME.price.output': { meaning: 'output' },
  'providers.NAME.models.NAME.price.cached': { meaning: 'input read from a cache', default: 'as `input`' },
  'providers.NAME.models.NAME.price.cacheWrite': {
    meaning: 'input written to a cache',
    default: 'as `input`',
  },
  'providers.NAME.models.NAME.price.long': { meaning: 'the price of long requests, where it differs' },
  'providers.NAME.models.NAME.price.long.over': { meaning: 'applies above this many input tokens' },
  'providers.NAME.models.NAME.price.long.input': { meaning: 'input of such a request' },
  'providers.NAME.models.NAME.price.long.output': { meaning: 'output of such a request' },
  'providers.NAME.models.NAME.price.long.cached': { meaning: 'input of such a request, read from a cache' },

  acp: { meaning: 'agent programs by name, as models `acp:NAME` ([ACP](acp.md))' },
  'acp.NAME': { meaning: 'a program that speaks the Agent Client Protocol on its standard streams' },
  'acp.NAME.command': { meaning: 'the program; found on `PATH`' },
  'acp.NAME.args': { meaning: 'its arguments' },
  'acp.NAME.env': { meaning: 'variables set for it, by name' },
  'acp.NAME.env.NAME': { meaning: 'one variable' },
  'acp.NAME.envAllow': { meaning: 'names of environment variables that are passed on to it, keys included' },
  'acp.NAME.maxSessions': { meaning: 'prompts at once; the others wait', default: '8' },
  mcp: { meaning: 'servers whose tools agents may use ([MCP](mcp.md))' },
  'mcp.servers': { meaning: 'servers by name, which is the prefix of their tools: `NAME__TOOL`' },
  'mcp.servers.NAME': { meaning: 'a program that speaks MCP on its standard streams, or an address' },
  'mcp.servers.NAME.command': { meaning: 'the program; found on `PATH`; this or `url` is required' },
  'mcp.servers.NAME.args': { meaning: 'its arguments' },
  'mcp.servers.NAME.env': { meaning: 'variables set for it, by name' },
  'mcp.servers.NAME.env.NAME': { meaning: 'one variable' },
  'mcp.servers.NAME.envAllow': { meaning: 'names of environment variables that are passed on to it' },
  'mcp.servers.NAME.sandbox': { meaning: '`off`: without a sandbox, with all your rights' },
  'mcp.servers.NAME.hosts': { meaning: 'hosts that it may reach besides those that commands may reach' },
  'mcp.servers.NAME.writable': { meaning: 'paths that it may write to besides those of commands' },
  'mcp.servers.NAME.sockets': {
    meaning: 'whether it may use sockets of the file system, as browsers do',
    default: '`sandbox.sockets`',
  },
  'mcp.servers.NAME.limits': { meaning: 'what it may use, with everything that it starts; `null`: no limit' },
  'mcp.servers.NAME.limits.memory_mb': { meaning: 'memory, in MB', default: "half of the machine's" },
  'mcp.servers.NAME.limits.processes': { meaning: 'processes and their threads at once', default: '`2048`' },
  'mcp.servers.NAME.limits.cpu_seconds': { meaning: 'CPU time in seconds', default: 'none' },
  'mcp.servers.NAME.limits.disk_mb': { meaning: 'what it writes, in MB', default: 'none' },
  'mcp.servers.NAME.perAgent': {
    meaning: 'each agent has a server of its own ([more](mcp.md#servers-while-they-run))',
    default: '`false`: the agents of a tree share it',
  },
  'mcp.servers.NAME.url': { meaning: 'the address, for Streamable HTTP' },
  'mcp.servers.NAME.headers': { meaning: 'headers of every request to it, by name' },
  'mcp.servers.NAME.headers.NAME': { meaning: 'one header' },
  'mcp.servers.NAME.headersEnv': { meaning: 'headers whose values are in environment variables' },
  'mcp.servers.NAME.headersEnv.NAME': { meaning: 'the name of the variable' },
  'mcp.servers.NAME.timeoutSeconds': {
    meaning: 'how long a call may go on without a result or progress',
    default: '120',
  },
  'mcp.servers.NAME.startTimeoutSeconds': { meaning: 'from its start to its greeting', default: '30' },
  'mcp.direct': {
    meaning: 'maximum tools of servers that are described from the start; with more, agents search for them',
    default: '30',
  },
  'acp.NAME.mcpServers': {
    meaning: 'names of `mcp.servers` that are passed to it and that it uses directly',
    default: '`[]`',
  },
  'acp.NAME.startTimeoutSeconds': { meaning: 'from its start to its answer to `initialize`', default: '30' },
  'acp.NAME.sandbox': {
    meaning: '`"off"`: this program has all your rights ([its sandbox](acp.md#sandbox))',
    default: 'the sandbox of commands',
  },
  'acp.NAME.hosts': {
    meaning: 'hosts that it may reach besides `sandbox.hosts`, in the same form',
    default: 'the servers of [known programs](acp.md#sandbox); needed for all others',
  },
  'acp.NAME.writable': {
    meaning: 'folders and files in which it keeps its login and its sessions: absolute, or `~/…`',
    default: 'those of known programs',
  },
  'acp.NAME.price': {
    meaning: 'US dollars per million of the tokens that it reports ([more](acp.md#what-it-costs))',
    default: 'the cost that it reports',
  },
  'acp.NAME.price.input': { meaning: 'input' },
  'acp.NAME.price.output': { meaning: 'output' },
  'acp.NAME.price.cached': { meaning: 'input read from a cache', default: 'as `input`' },
  'acp.NAME.price.cacheWrite': { meaning: 'input written to a cache', default: 'as `input`' },
  'acp.NAME.price.long': { meaning: 'the price of long prompts, where it differs' },
  'acp.NAME.price.long.over': { meaning: 'applies above this many input tokens' },
  'acp.NAME.price.long.input': { meaning: 'input of such a prompt' },
  'acp.NAME.price.long.output': { meaning: 'output of such a prompt' },
  'acp.NAME.price.long.cached': { meaning: 'input of such a prompt, read from a cache' },
  'acp.NAME.sockets': {
    meaning: 'whether it may use sockets of the file system',
    default: '`sandbox.sockets`',
  },
  'acp.NAME.limits': { meaning: 'what it may use, with everything that it starts; `null`: no limit' },
  'acp.NAME.limits.memory_mb': { meaning: 'memory, in MB', default: "half of the machine's" },
  'acp.NAME.limits.processes': { meaning: 'processes and their threads at once', default: '`2048`' },
  'acp.NAME.limits.cpu_seconds': { meaning: 'CPU time in seconds', default: 'none' },
  'acp.NAME.limits.disk_mb': { meaning: 'what it writes, in MB', default: 'none' },

  merge: { meaning: '[`coppice merge`](worktrees.md#merging)' },
  'merge.test': { meaning: 'a shell command that must succeed after each merge', default: 'none: no test' },
  'merge.timeout_seconds': { meaning: 'how long it may take', default: '600' },
  instructions: { meaning: 'files with [instructions](instructions.md) for agents' },
  'instructions.files': {
    meaning: 'their names; in each folder, the first one counts',
    default: '["AGENTS.md"]',
  },

  skills: { meaning: '[skills](instructions.md#skills) for agents' },
  'skills.folders': {
    meaning: 'where they are, in each folder of a project',
    default: '[".agents/skills", ".claude/skills"]',
  },

  agents: { meaning: 'how agents are set up: `defaults`, and profiles by name' },
  'agents.defaults': { meaning: 'for agents that you start without a profile' },
  'agents.defaults.model': { meaning: '`provider/model`; takes precedence over `model`' },
  'agents.defaults.fallback': {
    meaning: `models that answer, in this order, while the provider of \`model\` takes no requests (${QUOTA})`,
    default: 'none',
  },
  'agents.defaults.thinking': { meaning: THINKING, default: '"off"' },
  'agents.defaults.toolsets': { meaning: TOOLSETS, default: '["process"]' },
  'agents.defaults.tools': { meaning: 'the only tools they have', default: 'all' },
  'agents.defaults.skills': {
    meaning: 'the only [skills](instructions.md#skills) that any agent has',
    default: 'all',
  },
  'agents.defaults.instructions': {
    meaning: 'false: no agent gets [instructions](instructions.md)',
    default: 'true',
  },
  'agents.defaults.system': { meaning: 'their system prompt', default: 'a short one' },
  ...below('agents.defaults', LIMITS),
  ...below('agents.defaults', PERMISSIONS),
  'agents.defaults.subagents': { meaning: 'background runs (`sessions_spawn`)' },
  'agents.defaults.subagents.allowAgents': {
    meaning: 'profiles that a background run may name; `main` for none',
    default: 'all',
  },
  'agents.defaults.subagents.model': {
    meaning: 'model of background runs that name none',
    default: 'that of the agent that asks',
  },
  'agents.defaults.subagents.models': {
    meaning:
      'models that agents may choose for those they create, besides those of their ancestors and of profiles; `provider/*` for all of one',
    default: 'those that the configuration names, and known ones of providers with a key',
  },
  'agents.defaults.subagents.maxConcurrent': {
    meaning: 'background runs of one tree at work at once; more are queued',
    default: `${subagents.max_concurrent}`,
  },
  'agents.defaults.subagents.parameters': {
    meaning: '[parameters](vocabularies.md#what-a-model-is-sent) that models are sent besides the usual ones',
    default: 'none',
  },
  'agents.NAME': { meaning: 'a [profile](profiles.md); keys left out are as in whoever creates the agent' },
  'agents.NAME.description': { meaning: 'when to use it, for models and people' },
  'agents.NAME.model': { meaning: '`provider/model`, or `inherit`' },
  'agents.NAME.fallback': { meaning: 'as in `agents.defaults`', default: "the creator's" },
  'agents.NAME.thinking': { meaning: THINKING },
  'agents.NAME.toolsets': { meaning: TOOLSETS },
  'agents.NAME.tools': { meaning: 'the only tools it may have' },
  'agents.NAME.deny_tools': { meaning: 'tools that it may not have' },
  'agents.NAME.require': {
    meaning: '[evidence](profiles.md#required-evidence) that its work must bring, at most 8 pieces',
  },
  'agents.NAME.parameters': {
    meaning:
      '[parameters](vocabularies.md#what-a-model-is-sent) that its model is sent besides the usual ones',
    default: 'none',
  },
  'agents.NAME.skills': { meaning: 'the only [skills](instructions.md#skills) it has', default: 'all' },
  'agents.NAME.instructions': { meaning: 'whether it gets [instructions](instructions.md)', default: 'true' },
  'agents.NAME.system': { meaning: 'its system prompt' },
  'agents.NAME.turns': { meaning: 'model requests of one turn; takes precedence over `limits.turns`' },
  'agents.NAME.timeout_seconds': { meaning: 'time of one turn; takes precedence over `limits.run_ms`' },
  'agents.NAME.budget': {
    meaning: 'what one agent of the profile and the agents below it may spend ([budgets](budgets.md))',
  },
  'agents.NAME.budget.tokens': { meaning: 'tokens, without input read from a cache' },
  'agents.NAME.budget.usd': { meaning: 'US dollars' },
  'agents.NAME.budget.seconds': { meaning: 'elapsed time since its creation' },
  ...below('agents.NAME', LIMITS),
  ...below('agents.NAME', PERMISSIONS),

  context: {
    meaning: 'how conversations are kept within the windows of their models ([context](context.md))',
  },
  'context.share': { meaning: 'share of the window that may be filled before room is made', default: '0.8' },
  'context.model': { meaning: 'the model that writes summaries', default: 'that of the agent' },

  runs: {
    meaning:
      'isolated runs (on timers, background, delegated) at work at once in one process; more are queued',
  },
  'runs.maxConcurrent': { meaning: 'all together', default: 'half of the free memory, 1 MB each' },
  'runs.perSource': { meaning: 'of each kind' },
  'runs.perSource.cron': { meaning: 'runs on timers', default: `${runs.per_source.cron}` },
  'runs.perSource.subagent': { meaning: 'background runs', default: 'as all' },
  'runs.perSource.delegate': { meaning: 'delegated runs', default: 'as all' },

  server: { meaning: 'the HTTP interface of `coppice serve` ([HTTP API](http-api.md))' },
  'server.listen': { meaning: '`HOST:PORT` or `PORT`', default: '`127.0.0.1:4747`, or a free port' },
  'server.hosts': {
    meaning: 'further exact values of `Host` that it answers to, for example behind a proxy',
  },
  'server.search': {
    meaning:
      'whether conversations may be [searched](dashboard.md#finding); the first search builds an index',
    default: '`true`',
  },
  'server.tls': { meaning: 'TLS' },
  'server.tls.cert': { meaning: 'file of the certificate, in PEM' },
  'server.tls.key': { meaning: 'file of its key, in PEM' },
  'server.traces': { meaning: 'spans of agents for OpenTelemetry ([traces](operations.md#traces))' },
  'server.traces.endpoint': {
    meaning: 'address of a collector that takes OTLP over HTTP; `/v1/traces` is added',
    default: '`OTEL_EXPORTER_OTLP_ENDPOINT`, or no traces',
  },
  'server.traces.headersEnv': {
    meaning: 'environment variable with headers of each request: `name=value,…`',
    default: '`OTEL_EXPORTER_OTLP_HEADERS`',
  },
  'server.traces.contents': {
    meaning: 'also what was said: prompts, answers, arguments, results',
    default: 'false',
  },
  alerts: {
    meaning: 'rules for what people are alerted to ([alerts](operations.md#alerts)); read by `coppice serve`',
  },
  'alerts[].when': { meaning: 'the condition' },
  'alerts[].after_minutes': {
    meaning: 'with `waits-for-person`: how long a call may wait before the alert',
    default: '0',
  },
  'alerts[].usd': { meaning: 'with `cost`, which needs it: US dollars of one tree' },
  'alerts[].to': { meaning: 'where alerts go, one or more: [targets](channels.md) such as `telegram:42`' },
  channels: {
    meaning: 'where results go and people write ([channels](channels.md)); read by `coppice serve`',
  },
  'channels.telegram': { meaning: 'a bot ([Telegram](telegram.md))' },
  'channels.telegram.tokenEnv': {
    meaning: 'environment variable that holds its token',
    default: '"TELEGRAM_BOT_TOKEN"',
  },
  'channels.telegram.allow': { meaning: 'numeric ids of the people who may write to it', default: 'nobody' },
  'channels.telegram.apiRoot': { meaning: 'a Bot API server of your own' },
  'channels.telegram.profile': { meaning: 'profile of the conversations of its chats' },
  'channels.telegram.model': { meaning: 'their model' },
  'channels.telegram.cwd': { meaning: 'their folder', default: 'that of `coppice serve`' },
  'channels.slack': { meaning: 'an app ([Slack](slack.md))' },
  'channels.slack.botTokenEnv': {
    meaning: 'environment variable that holds its bot token',
    default: '"SLACK_BOT_TOKEN"',
  },
  'channels.slack.appTokenEnv': {
    meaning: 'environment variable that holds its app-level token',
    default: '"SLACK_APP_TOKEN"',
  },
  'channels.slack.allow': {
    meaning: 'ids of the people who may write to it, such as `U0123ABCD`',
    default: 'nobody',
  },
  'channels.slack.apiRoot': { meaning: "the address of the Web API, if not Slack's own" },
  'channels.slack.profile': { meaning: 'profile of the conversations of its threads' },
  'channels.slack.model': { meaning: 'their model' },
  'channels.slack.cwd': { meaning: 'their folder', default: 'that of `coppice serve`' },
  'channels.webhook': { meaning: 'signed HTTP requests, by name: `webhook:NAME` ([webhooks](webhooks.md))' },
  'channels.webhook.NAME': { meaning: 'one address' },
  'channels.webhook.NAME.url': { meaning: 'where it is' },
  'channels.webhook.NAME.secretEnv': { meaning: 'environment variable that holds the secret' },
  'channels.file': { meaning: 'files that results are appended to, by name: `file:NAME`' },
  'channels.file.NAME': { meaning: 'an absolute path' },

  hooks: {
    meaning:
      'webhooks that other programs send to, by name ([webhooks in](webhooks.md#webhooks-in)); read by `coppice serve`',
  },
  'hooks.NAME': { meaning: 'one webhook: `POST /v1/hooks/NAME`' },
  'hooks.NAME.signature': { meaning: 'how its deliveries are [signed](webhooks.md#signatures)' },
  'hooks.NAME.secretEnv': { meaning: 'environment variable that holds the secret' },
  'hooks.NAME.header': {
    meaning: 'with `hmac`: the header with the signature',
    default: '"X-Signature-256"',
  },
  'hooks.NAME.task': { meaning: 'the task, with `{{path.to.field}}` of the payload' },
  'hooks.NAME.workflow': {
    meaning: 'in place of a task: a [workflow](webhooks.md#a-delivery-starts-a-workflow), by name or path',
  },
  'hooks.NAME.args': { meaning: 'what its script sees as `args`; texts in it are templates, as the task is' },
  'hooks.NAME.key': {
    meaning:
      'what the deliveries of one conversation have in common, such as `{{repository.full_name}}#{{number}}`',
    default: 'each delivery has a tree of its own',
  },
  'hooks.NAME.on': {
    meaning: 'events that it is for, such as `pull_request.opened` or `issues.*`',
    default: 'all',
  },
  'hooks.NAME.when': { meaning: 'values, or lists of values, that fields of the payload must have, by path' },
  'hooks.NAME.when.NAME': { meaning: 'the value of one field, or those that it may have' },
  'hooks.NAME.deliver': { meaning: 'where results go: [targets](channels.md)' },
  'hooks.NAME.maxPerHour': { meaning: 'deliveries that one server takes in an hour', default: '`300`' },
  'hooks.NAME.profile': { meaning: 'profile of its agents' },
  'hooks.NAME.model': { meaning: 'their model' },
  'hooks.NAME.thinking': { meaning: THINKING },
  'hooks.NAME.toolsets': { meaning: TOOLSETS },
  'hooks.NAME.cwd': { meaning: 'their folder', default: 'that of `coppice serve`' },
  'hooks.NAME.permissions': { meaning: 'rules for tool calls ([permissions](permissions.md))' },
  'hooks.NAME.permissions.allow': { meaning: 'rules that allow without asking' },
  'hooks.NAME.permissions.deny': { meaning: 'rules that deny; they take precedence over the others' },
  'hooks.NAME.budget': { meaning: 'what one of its trees may spend ([budgets](budgets.md))' },
  'hooks.NAME.budget.tokens': { meaning: 'tokens' },
  'hooks.NAME.budget.usd': { meaning: 'US dollars' },
  'hooks.NAME.budget.seconds': { meaning: 'seconds since its start' },
  ...below('hooks.NAME', LIMITS),

  tui: { meaning: 'the terminal UI ([how it looks](tui.md#how-it-looks))' },
  'tui.theme': {
    meaning: 'its colours ([how it looks](tui.md#how-it-looks))',
    default: '`auto`',
  },
  'tui.links': {
    meaning: 'whether addresses are links of the terminal',
    default: 'on terminals that are known to support them',
  },
  'tui.notifications': {
    meaning:
      'whether you are notified while the terminal does not have the focus ([how](tui.md#title-and-notifications))',
    default: '`true`',
  },
  'tui.title': { meaning: 'whether the title of the terminal says what is going on', default: '`true`' },
  'tui.vim': {
    meaning: 'whether drafts are edited with commands of vim ([which](tui.md#vim))',
    default: '`false`',
  },
  'tui.meters': { meaning: 'what the navigation line shows; `false` leaves it out' },
  'tui.meters.context': { meaning: 'how full the context of the agent in view is', default: 'true' },
  'tui.meters.tokens': { meaning: 'tokens of this turn, and of all turns', default: 'true' },
  'tui.meters.cost': { meaning: 'cost of this turn, and of all turns', default: 'true' },
  'tui.meters.elapsed': { meaning: 'how long the turn has taken', default: 'true' },
  'tui.meters.budget': { meaning: 'what is left to be spent, once it is less than half', default: 'true' },
  keys: {
    meaning:
      'keys of the terminal UI by action ([keys of your own](tui.md#keys-of-your-own)); `[]` removes all keys of the action',
  },
  ...Object.fromEntries(
    ACTIONS.map(({ action, keys, description }) => [
      `keys.${action}`,
      { meaning: description, default: JSON.stringify(keys) },
    ]),
  ),
};

function below(path: string, keys: Readonly<Record<string, KeyText>>): Readonly<Record<string, KeyText>> {
  return Object.fromEntries(Object.entries(keys).map(([key, text]) => [`${path}.${key}`, text]));
}
