/**
 * Proves that commands see of home folders only what tools need: known secrets, places that nobody thought of, and projects beside the agent's are not
 * there, while toolchains that live in homes, git's settings and the repository around the folder are. Real shells in real sandboxes.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { placesOf, SHOWN_IN_HOME, secretPaths } from '../../../src/processes/sandbox/known-places.ts';
import type { SandboxSettings } from '../../../src/processes/sandbox/sandbox.ts';
import type { Tool } from '../../../src/records/tool.ts';
import { createBashTool } from '../../../src/tools/bash.ts';
import { call, makeWorkspace } from '../../tools/tool-fixture.ts';
import { NO_SANDBOX, testSandbox } from './test-sandbox.ts';

const SECRET = 'canary-20c8';

/** Secrets that programs keep in homes. Not taken from the sources: most of these places are in none of their lists. */
const SECRETS = placesOf(`
  .ssh/id_ed25519 .gnupg/private-keys-v1.d/x .netrc .npmrc .aws/credentials .aws/sso/cache/x .azure/msal .kube/config .docker/config.json
  .config/microsoft-edge/Default/Cookies .config/vivaldi/Default/Cookies .config/opera/Cookies snap/firefox/common/.mozilla/firefox/x/cookies.sqlite
  .var/app/com.google.Chrome/config/google-chrome/Default/Cookies .config/google-chrome/Default/Cookies .mozilla/firefox/x/logins.json
  .oci/config .aliyun/config.json .databrickscfg .fly/config.yml .boto .s3cfg .pulumi/credentials.json .supabase/access-token .cloudflared/cert.pem
  .config/doctl/config.yaml .config/hcloud/cli.toml .config/.wrangler/config/default.toml .wrangler/config/default.toml
  .config/pip/pip.conf .pip/pip.conf .config/pnpm/rc .nuget/NuGet/NuGet.Config .bundle/config .bunfig.toml .yarnrc .yarnrc.yml .composer/auth.json
  .config/composer/auth.json .cargo/credentials .cargo/credentials.toml .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties
  .gem/credentials .local/share/gem/credentials .local/share/uv/credentials/x .conan2/credentials.json .hex/hex.config .cabal/config .condarc
  .copilot/config.json .cursor/mcp.json .continue/config.yaml .qwen/oauth_creds.json .factory/auth.json .config/goose/config.yaml .local/share/goose/x
  .config/amp/settings.json .local/share/amp/secrets.json .config/crush/crush.json .claude/.credentials.json .claude.json .codex/auth.json
  .config/zsh/.zsh_history .local/state/zsh/history .local/share/nushell/history.txt .config/nushell/history.txt .local/share/atuin/history.db
  .irb_history .ksh_history .lesshst .bash_history .zsh_history .local/share/fish/fish_history .python_history
  .config/sops/age/keys.txt .age/key.txt .wireguard/wg0.conf .pki/nssdb/key4.db .local/share/keyrings/x .keystore .cache/huggingface/token
  .Xauthority .mylogin.cnf .authinfo .authinfo.gpg .git-credentials .config/git/credentials .config/gh/hosts.yml .dotnet/corefx/x .android/adbkey
  .bashrc .profile Documents/taxes.pdf Downloads/key.pem Desktop/passwords.txt .nobody/thought-of-this .config/nobody/token .local/share/nobody/db
  .local/state/nobody/x .cache/nobody/session .railway/config.json .foundry/keystores/x .julia/servers/x/auth.toml src/other/.env .env
`);

/** Toolchains as their installers lay them out: by the folder that is in PATH, what a program there reads besides. */
const TOOLCHAINS: Readonly<Record<string, string>> = {
  '.nvm/versions/node/v24.0.0/bin': '.nvm/versions/node/v24.0.0/lib/node_modules/npm/package.json',
  '.local/share/fnm/aliases/default/bin': '.local/share/fnm/node-versions/v24/installation/lib/x',
  '.volta/bin': '.volta/tools/image/node/24.0.0/bin/x',
  '.pyenv/shims': '.pyenv/versions/3.13.0/lib/python3.13/x',
  'miniconda3/bin': 'miniconda3/conda-meta/history',
  '.cargo/bin': '.rustup/toolchains/stable/lib/x',
  'go/bin': 'go/pkg/mod/cache/x',
  '.local/go/bin': '.local/go/src/fmt/x',
  '.bun/bin': '.bun/install/cache/x',
  '.deno/bin': '.cache/deno/x',
  '.local/share/mise/shims': '.local/share/mise/installs/node/24/bin/x',
  '.asdf/shims': '.tool-versions',
  '.sdkman/candidates/java/current/bin': '.sdkman/candidates/java/current/conf/x',
  '.jdk/bin': '.jdk/jmods/x',
  '.rbenv/shims': '.gem/ruby/3.4.0/gems/x',
  '.config/composer/vendor/bin': '.config/composer/vendor/autoload.php',
  '.unheard-of/bin': '.unheard-of/lib/x',
  '.railway/bin': '.railway/lib/x',
  'tools/zig-0.15': 'tools/zig-0.15/lib/x',
  '.local/bin': '.local/lib/python3.13/site-packages/x',
};
/** What else tools read in homes. */
const SHOWN = placesOf(`
  .gitconfig dotfiles/work.gitconfig .config/git/ignore .editorconfig .npm/_cacache/x .cache/pip/x .m2/repository/x .gradle/caches/x .cargo/registry/x
  .local/share/pnpm/store/x .cache/uv/x .local/share/uv/tools/x/lib/x certificates/company.pem
`);

describe('home folders in the sandbox', { skip: NO_SANDBOX }, () => {
  // Not below /tmp, which a sandbox replaces by a folder of its own.
  const place = realpathSync(mkdtempSync('/var/tmp/coppice-test-'));
  const home = join(place, 'home');
  const cwd = join(home, 'src/mono/packages/one');
  const before_env = { ...process.env };
  const run = async (command: string, settings: Partial<SandboxSettings> = {}, folder = cwd) => {
    const tool = createBashTool(testSandbox(settings)) as Tool;
    return (await call(tool, { command, timeout: 60 }, { ...makeWorkspace(), cwd: folder })).output;
  };
  const put = (path: string, text: string, mode = 0o644): void => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
    chmodSync(join(home, path), mode);
  };
  const git = (folder: string, ...args: string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=A', '-c', 'user.email=a@b', ...args], {
      stdio: 'pipe',
    });
  /** Which of the places below the home folder a command can read. */
  const readable = async (
    places: readonly string[],
    settings: Partial<SandboxSettings> = {},
    folder = cwd,
  ) => {
    const output = await run(
      `cd ~; for f in ${places.join(' ')}; do cat "$f" >/dev/null 2>&1 && echo "=$f"; done; true`,
      settings,
      folder,
    );
    return output.split('\n').flatMap((line) => (line.startsWith('=') ? [line.slice(1)] : []));
  };

  before(() => {
    mkdirSync(cwd, { recursive: true });
    process.env.HOME = home;
    process.env.NODE_EXTRA_CA_CERTS = join(home, 'certificates/company.pem');
    process.env.PATH = [
      ...Object.keys(TOOLCHAINS).map((folder) => join(home, folder)),
      process.env.PATH,
    ].join(':');
    for (const path of SECRETS) put(path, SECRET);
    for (const path of [...Object.values(TOOLCHAINS), ...SHOWN]) put(path, 'x');
    put('.local/share/fnm/node-versions/v24/installation/bin/node', '');
    mkdirSync(join(home, '.local/share/fnm/aliases'));
    symlinkSync('../node-versions/v24/installation', join(home, '.local/share/fnm/aliases/default'));
    mkdirSync(join(home, '.sdkman/candidates/java/25/bin'), { recursive: true });
    for (const [at, [folder, needed]] of Object.entries(TOOLCHAINS).entries())
      put(
        join(folder, `coppice-tool-${at}`),
        `#!/bin/sh\ncat "$HOME/${needed}" > /dev/null && echo "${folder} works"\n`,
        0o755,
      );
    // A program that a link leads to, in an environment of its own.
    put(
      '.apps/black/bin/black',
      `#!/bin/sh\ncat ${home}/.apps/black/pyvenv.cfg ${home}/.apps/black/lib/x && echo linked works\n`,
      0o755,
    );
    for (const path of ['.apps/black/pyvenv.cfg', '.apps/black/lib/x']) put(path, '');
    put('.apps/black/token', SECRET);
    symlinkSync('../../.apps/black/bin/black', join(home, '.local/bin/black'));
    put('.gitconfig', '[user]\n\tname = Somebody\n[include]\n\tpath = dotfiles/work.gitconfig\n');
    put('dotfiles/work.gitconfig', '[user]\n\temail = somebody@work.example\n');
    git(join(home, 'src/mono'), 'init', '--quiet');
    put('src/mono/package.json', 'workspace');
    git(join(home, 'src/mono'), 'add', '--all');
    git(join(home, 'src/mono'), 'commit', '--quiet', '--allow-empty', '--message', 'first');
    git(join(home, 'src/other'), 'init', '--quiet');
  });
  after(() => {
    rmSync(place, { recursive: true, force: true });
    for (const name of Object.keys(process.env)) if (!(name in before_env)) delete process.env[name];
    Object.assign(process.env, before_env);
  });

  it('no secret is there, neither a known one nor one that nobody thought of', async () => {
    for (const path of SECRETS) assert.equal(existsSync(join(home, path)), true);
    assert.deepEqual(await readable(SECRETS), []);
    assert.equal(
      await run(`grep -rs ${SECRET} ~; find ${place} -name 'taxes.pdf' 2>/dev/null; true`),
      '[no output]',
    );
  });

  it('other homes are not there, whoever runs it', async () => {
    const others = [
      '/root',
      ...(existsSync('/home') ? readdirSync('/home').map((name) => `/home/${name}`) : []),
    ];
    const files = others.flatMap((folder) =>
      ['.bashrc', '.profile', '.ssh', '.npmrc'].map((name) => join(folder, name)),
    );
    assert.equal(await run(`ls -d ${files.join(' ')} 2>/dev/null; true`), '[no output]');
  });

  it('of /run, only what the system needs is there, unless sockets are allowed', async () => {
    const some =
      /^(current-system|booted-system|wrappers|opengl-driver.*|systemd|resolvconf|NetworkManager|connman|\[no output\]|)$/;
    for (const name of (await run('ls -A /run')).trimEnd().split('\n')) assert.match(name, some);
    assert.equal(
      await run('ls -A /run', { sockets: true }),
      await call(createBashTool(null) as Tool, { command: 'ls -A /run' }, makeWorkspace()).then(
        ({ output }) => output,
      ),
    );
  });

  it('toolchains that live in the home folder work, each with what is around it', async () => {
    const output = await run(
      Object.keys(TOOLCHAINS)
        .map((_, at) => `coppice-tool-${at}`)
        .join('; '),
    );
    for (const folder of Object.keys(TOOLCHAINS))
      assert.ok(output.includes(`${folder} works\n`), `${folder}: ${output}`);
    assert.match(await run('black; cat ~/.apps/black/token'), /linked works\n.*No such file/s);
    assert.deepEqual(await readable(SHOWN), SHOWN);
    assert.equal(
      await run('git config user.name; git config user.email'),
      'Somebody\nsomebody@work.example\n',
    );
  });

  it('nothing in it can be written, and what a shown folder lists as a secret is in no shown one', async () => {
    const output = await run(
      'for d in ~ ~/.cargo/bin ~/.nvm ~/.pyenv ~/src ~/src/mono; do touch $d/mine && echo "wrote $d"; done; true',
    );
    assert.doesNotMatch(output, /wrote/);
    const secrets = secretPaths([home]);
    for (const shown of SHOWN_IN_HOME.map((path) => join(home, path)))
      for (const secret of secrets)
        assert.ok(
          !`${secret}/`.startsWith(`${shown}/`) && !`${shown}/`.startsWith(`${secret}/`),
          `${shown} ${secret}`,
        );
  });

  it('the repository around the folder is readable, and so is that of a worktree; its neighbours are not', async () => {
    assert.equal(
      await run('git log --format=%s; cat ../../package.json; echo; ls ~/src'),
      'first\nworkspace\nmono\n',
    );
    const worktree = join(home, 'trees/one');
    git(join(home, 'src/mono'), 'worktree', 'add', '--quiet', worktree);
    assert.match(
      await run('git log --format=%s; cat package.json; ls -A ~/src/mono', {}, worktree),
      /^first\nworkspace\.git\n$/,
    );
    mkdirSync(join(worktree, 'deep'), { recursive: true });
    assert.match(await run('git log --format=%s', {}, join(worktree, 'deep')), /^first\n/);
    // A file that only claims to be of a worktree opens nothing.
    const liar = join(home, 'liar');
    mkdirSync(liar);
    writeFileSync(join(liar, '.git'), `gitdir: ${join(home, 'src/other/.git')}\n`);
    assert.doesNotMatch(await run('cat ~/src/other/.git/config', {}, liar), /repositoryformatversion/);
  });

  it('of a repository of settings, as in .config, known secrets stay hidden', async () => {
    const folder = join(home, '.config/nvim');
    mkdirSync(folder);
    git(join(home, '.config'), 'init', '--quiet');
    const secrets = SECRETS.filter((path) => /^\.config\/(gh|pip|goose|google-chrome)\//.test(path));
    assert.equal(secrets.length, 4);
    assert.deepEqual(await readable([...secrets, '.config/git/ignore'], {}, folder), ['.config/git/ignore']);
    rmSync(join(home, '.config/.git'), { recursive: true });
  });

  it('links that an agent plants in a folder of PATH open nothing', async () => {
    mkdirSync(join(cwd, 'node_modules/.bin'), { recursive: true });
    for (const target of ['.ssh/id_ed25519', '.foundry/keystores/x']) {
      symlinkSync(join(home, target), join(cwd, 'node_modules/.bin', target.replaceAll('/', '-')));
    }
    process.env.PATH = `${join(cwd, 'node_modules/.bin')}:${process.env.PATH}`;
    assert.deepEqual(await readable(['.ssh/id_ed25519', '.foundry/keystores/x']), []);
  });

  it('what a command missed is named with the setting that shows it, and secrets are not offered', async () => {
    const offer = (path: string) =>
      `[the sandbox does not show ${path}. If the user wants that: "sandbox.read": ["${path}"] in the configuration]`;
    assert.ok((await run('cat ../../../other/lib/a.ts ~/src/other/.env')).endsWith(offer('~/src/other')));
    assert.ok((await run('cat ~/Documents/taxes.pdf | head')).endsWith(offer('~/Documents/taxes.pdf')));
    for (const command of [
      'cat ~/.ssh/id_ed25519',
      'cat ~/no/such/file',
      'cat /no/such/file',
      'cat ~/.gitconfig nowhere',
    ])
      assert.doesNotMatch(await run(command), /the sandbox does not show/, command);
    const read = [join(home, 'src/other'), join(home, 'Documents')];
    assert.deepEqual(await readable(['src/other/.env', 'Documents/taxes.pdf'], { read }), [
      'src/other/.env',
      'Documents/taxes.pdf',
    ]);
    assert.deepEqual(await readable(['src/other/.env'], { write: [join(home, 'src/other')] }), [
      'src/other/.env',
    ]);
  });

  it('where the home folder itself is open, known secrets are hidden', async () => {
    const known = SECRETS.slice(0, SECRETS.indexOf('.bashrc')).filter(
      (path) => !/^\.(keystore|dotnet|wrangler)/.test(path),
    );
    assert.deepEqual(await readable(known, {}, home), []);
    assert.deepEqual(await readable(known, { read: [place] }), []);
  });
});
