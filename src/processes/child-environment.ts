/** Environment variables that every child process may see: locations, locale and terminal; no credentials. */
const allowed = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'TERM',
  'TZ',
  'TMPDIR',
  'TMP',
  'TEMP',
  'LANG',
  'LANGUAGE',
  'LC_ALL',
  'LC_ADDRESS',
  'LC_COLLATE',
  'LC_CTYPE',
  'LC_IDENTIFICATION',
  'LC_MEASUREMENT',
  'LC_MESSAGES',
  'LC_MONETARY',
  'LC_NAME',
  'LC_NUMERIC',
  'LC_PAPER',
  'LC_TELEPHONE',
  'LC_TIME',
  'NO_COLOR',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
];

/** Keys of model providers are withheld, even if an allow-list names them. */
const providerKey =
  /^(ANTHROPIC|OPENAI|AZURE_OPENAI|GOOGLE|GOOGLE_GENERATIVE_AI|GEMINI|OPENROUTER|MISTRAL|GROQ|DEEPSEEK|XAI|TOGETHER|FIREWORKS|COHERE|OLLAMA)_(\w+_)?(KEY|TOKEN)$/i;

/**
 * The environment of a child process: the fixed allow-list and the names in `also`, nothing else of the
 * runtime's environment.
 */
export function childEnvironment(
  also: readonly string[],
  from: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of allowed) {
    const value = from[name];
    if (value !== undefined) environment[name] = value;
  }
  for (const name of also) {
    const value = from[name];
    if (value !== undefined && !providerKey.test(name)) environment[name] = value;
  }
  return environment;
}
