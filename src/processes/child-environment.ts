/** Environment variables that every child process may see: locations, locale and terminal; no credentials. */
const places = 'PATH HOME USER LOGNAME SHELL TERM TZ TMPDIR TMP TEMP';
const locale =
  'ALL ADDRESS COLLATE CTYPE IDENTIFICATION MEASUREMENT MESSAGES MONETARY NAME NUMERIC PAPER TELEPHONE TIME';
const others = 'LANG LANGUAGE NO_COLOR SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS';
const allowed = [...`${places} ${others}`.split(' '), ...locale.split(' ').map((name) => `LC_${name}`)];

/** Keys of model providers are withheld, even if an allow-list names them. */
const providerKey =
  /^(ANTHROPIC|OPENAI|AZURE_OPENAI|GOOGLE|GOOGLE_GENERATIVE_AI|GEMINI|OPENROUTER|MISTRAL|GROQ|DEEPSEEK|XAI|TOGETHER|FIREWORKS|COHERE|OLLAMA)_(\w+_)?(KEY|TOKEN)$/i;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The environment of a child process: the fixed allow-list and the names in `also`, nothing else of the
 * runtime's environment.
 */
export function childEnvironment(
  also: readonly string[],
  from: Environment = process.env,
): Record<string, string> {
  return variables([...allowed, ...also.filter((name) => !providerKey.test(name))], from);
}

/** What a configured program gets besides the basic variables: those passed on by name, if set, provider keys included, and those set by the configuration. */
export function configuredVariables(
  {
    env,
    envAllow = [],
  }: { readonly env?: Environment | undefined; readonly envAllow?: readonly string[] | undefined },
  from: Environment,
): Record<string, string> {
  return { ...variables(envAllow, from), ...env } as Record<string, string>;
}

/** Those of the variables that are set. */
function variables(names: readonly string[], from: Environment): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])));
}
