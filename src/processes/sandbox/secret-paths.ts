import { join } from 'node:path';

/** Paths below the home folder where programs keep keys, tokens, passwords and histories. */
const HOME = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.kube',
  '.docker',
  '.netrc',
  '.npmrc',
  '.yarnrc.yml',
  '.pypirc',
  '.pgpass',
  '.my.cnf',
  '.git-credentials',
  '.vault-token',
  '.password-store',
  '.claude',
  '.claude.json',
  '.codex',
  '.gemini',
  '.mozilla',
  '.thunderbird',
  '.bash_history',
  '.zsh_history',
  '.mysql_history',
  '.node_repl_history',
  '.psql_history',
  '.python_history',
  '.rediscli_history',
  '.sqlite_history',
  '.viminfo',
  '.local/share/fish/fish_history',
  '.local/share/keyrings',
  '.local/share/kwalletd',
  '.local/share/opencode',
  '.config/gcloud',
  '.config/gh',
  '.config/github-copilot',
  '.config/glab-cli',
  '.config/git/credentials',
  '.config/google-chrome',
  '.config/chromium',
  '.config/BraveSoftware',
  '.config/rclone',
  '.config/op',
  '.config/containers/auth.json',
  '.config/hub',
  '.config/opencode',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.gem/credentials',
  '.m2/settings.xml',
  '.gradle/gradle.properties',
  '.terraform.d/credentials.tfrc.json',
  '.composer/auth.json',
];

const SYSTEM = [
  '/etc/shadow',
  '/etc/shadow-',
  '/etc/gshadow',
  '/etc/gshadow-',
  '/etc/sudoers',
  '/etc/sudoers.d',
  '/etc/ssl/private',
  '/etc/ssh/ssh_host_ecdsa_key',
  '/etc/ssh/ssh_host_ed25519_key',
  '/etc/ssh/ssh_host_rsa_key',
  '/etc/krb5.keytab',
  '/etc/letsencrypt',
  '/run/secrets',
  '/run/user',
  '/var/lib/docker',
  '/var/lib/kubelet',
];

/** Absolute paths that no sandboxed program may read (docs/sandbox.md); most do not exist. */
export function secretPaths(home: string): string[] {
  return [...homeSecrets(home), ...SYSTEM];
}

/** Secrets in the home folder, which the user adds and changes over time. */
export function homeSecrets(home: string): string[] {
  return HOME.map((path) => join(home, path));
}
