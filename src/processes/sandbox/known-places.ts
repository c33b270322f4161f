import { join } from 'node:path';

/** Spells out `a/{b,c}` in lists that are separated by white space. */
export function placesOf(list: string): string[] {
  return list
    .trim()
    .split(/\s+/)
    .flatMap((place) => {
      const [, before = '', names = place, after = ''] = /^(.*)\{(.*)\}(.*)$/.exec(place) ?? [];
      return names.split(',').map((name) => before + name + after);
    });
}

/**
 * Places below the home folder that tools need (docs/sandbox.md): settings of git, versions of languages, toolchains and caches. Of a folder that also holds
 * credentials, only the parts without them are listed.
 */
export const SHOWN_IN_HOME = placesOf(`
  .gitconfig .config/git/{config,ignore,attributes} .{gitignore,gitignore_global,gitattributes,editorconfig,clang-format,ripgreprc,terminfo,fonts}
  .{tool-versions,node-version,nvmrc,python-version,ruby-version,java-version,go-version} .config/{mise,go,fontconfig,matplotlib,flake8,ruff}
  .{nvm,fnm,volta,nodenv,n,npm-global,pnpm-store,node-gyp} .npm/{_cacache,_npx} .yarn/{berry,bin,global,releases} .config/yarn/global
  .bun/{bin,install} .deno/bin .local/share/{fnm,pnpm} .{pyenv,virtualenvs,nltk_data} .rye/{py,shims,tools,self} .conda/{envs,pkgs}
  {miniconda,miniconda2,miniconda3,anaconda2,anaconda3,miniforge,miniforge3,mambaforge,micromamba} .local/{bin,lib,pipx} .local/share/uv/{python,tools}
  .local/share/{pipx,virtualenvs,hatch,pdm,mamba,micromamba,fonts,terminfo} .local/share/pypoetry/{venv,python} .local/share/jupyter/kernels
  .cargo/{bin,registry,git,env,config,config.toml} .rustup .local/share/swiftly .swiftly go/{bin,pkg} sdk .g .gvm .goenv
  .{sdkman,jenv,jdks,konan,coursier} .m2/{repository,wrapper,toolchains.xml} .gradle/{caches,wrapper,native,jdks} .ivy2/{cache,local} .sbt/boot
  .{rbenv,rvm,rubies,phpenv,plenv} .gem/ruby .local/share/gem/ruby .bundle/cache .composer/{vendor,cache} .config/composer/vendor perl5
  .asdf .proto/{bin,shims,tools,plugins} .local/share/mise .{nix-profile,linuxbrew} .local/state/nix/profiles .guix-profile
  .dotnet/{dotnet,host,packs,sdk,sdk-manifests,shared,store,templates,tools} .nuget/packages .local/share/NuGet/{v3-cache,http-cache}
  .{mix,kerl,kiex,ghcup,opam,elan,zvm,jbang/cache} .hex/{packages,cache.ets} .cabal/{bin,packages,store} .local/state/cabal/store
  .stack/{programs,snapshots,pantry} .julia/{artifacts,compiled,environments,juliaup,packages,registries} .local/share/R R .luarocks/{bin,lib,share}
  .pub-cache/{bin,hosted,git,global_packages} flutter fvm/versions Android/Sdk .foundry/bin .svm .wasmtime .wasmer/{bin,lib} emsdk .emsdk
  .platformio/{packages,platforms,penv} .arduino15/packages .espressif .tfenv .terraform.d/{plugins,plugin-cache} .krew/{bin,store}
  .cache/{pip,uv,pypoetry,pdm,pre-commit,virtualenv,matplotlib,torch,go-build,golangci-lint,gopls,deno,node,pnpm,yarn,node-gyp,prisma,esbuild,turbo}
  .cache/{ms-playwright,puppeteer,Cypress,electron,electron-builder,bazel,bazelisk,ccache,sccache,zig,clangd,vcpkg,coursier,composer,mise,rattler}
  .cache/{rebar3,typescript,fontconfig,huggingface/hub} .conan2/p
  ../linuxbrew/.linuxbrew
`);

/** Of `/run`: parts of the system in NixOS, and to what `/etc/resolv.conf` leads. */
export const SHOWN_IN_RUN = placesOf(`
  /run/{current-system,booted-system,wrappers,opengl-driver,opengl-driver-32,systemd/resolve,resolvconf,NetworkManager,connman}
`);

/** What a toolchain has beside the folder with its programs; other names there, such as that of its settings, are not shown. */
export const SHOWN_IN_TOOLCHAIN = placesOf(`
  lib lib32 lib64 libexec share include pkg src conf jmods conda-meta opt Cellar go.env VERSION release pyvenv.cfg
`);

/**
 * Places below a home folder where programs keep keys, tokens, passwords and histories: hidden also where the folder around them is open, as where an agent
 * works in the home folder itself. Elsewhere no place in a home folder is shown that is not known to be harmless.
 */
const HOME = placesOf(`
  .ssh .gnupg .password-store .pki .sops .age .config/sops .netrc .authinfo .authinfo.gpg .git-credentials .config/git/credentials .Xauthority .ICEauthority
  .aws .azure .kube .docker .oci .aliyun .databrickscfg .fly .boto .s3cfg .pulumi .supabase .cloudflared .vault-token .wireguard .minikube .railway .vercel
  .config/{gcloud,doctl,hcloud,.wrangler,rclone,op,containers,gh,hub,glab-cli,github-copilot,heroku,netlify,stripe,fly,scw,linode-cli} .terraform.d/credentials.tfrc.json
  .npmrc .yarnrc .yarnrc.yml .bunfig.toml .pypirc .pip .config/{pip,pypoetry,pnpm,NuGet,nix,configstore} .nuget/NuGet .gem/credentials .local/share/gem/credentials
  .cargo/{credentials,credentials.toml} .local/share/uv/credentials .rye/credentials .condarc .m2/{settings.xml,settings-security.xml} .gradle/{gradle.properties,init.gradle,init.d}
  .ivy2/.credentials .sbt/1.0 .bundle/config .composer/auth.json .config/composer/auth.json .hex/hex.config .cabal/config .julia/servers .conan2/credentials.json
  .pub-cache/credentials.json .config/dart .wasmer/wasmer.toml .foundry/keystores .ethereum .bitcoin .config/solana .android
  .{pgpass,my.cnf,mylogin.cnf,dbshell,mongorc.js,cassandra} .config/{psql,pgcli,mycli}
  .claude .claude.json .codex .gemini .copilot .cursor .continue .qwen .factory .opencode .amp .crush .aider.conf.yml
  .config/{opencode,goose,amp,crush,github-copilot,Cursor,Code,zed} .local/share/{opencode,goose,amp,crush} .cache/huggingface/{token,stored_tokens} .huggingface
  .{mozilla,thunderbird,opera} .config/{google-chrome,chromium,BraveSoftware,microsoft-edge,vivaldi,opera,Signal,Slack,discord,Element} snap .var/app
  .local/share/{keyrings,kwalletd,evolution,TelegramDesktop} .{bash,zsh,ksh,mysql,node_repl,psql,python,rediscli,sqlite,irb,php,R,scala,julia}_history
  .{viminfo,lesshst,sh_history,histfile,zhistory,irb-history,pry_history} .config/{nushell,zsh} .local/share/{fish/fish_history,atuin,nushell,zsh} .local/state/{zsh,bash,less,python_history}
`);

/** Places of the system that people do not share, most of which only root could read anyway. */
const SYSTEM = placesOf(`
  /etc/{shadow,shadow-,gshadow,gshadow-,sudoers,sudoers.d,krb5.keytab,letsencrypt,wireguard,openvpn,ipsec.secrets,kubernetes,rancher} /etc/ssl/private
  /etc/ssh/{ssh_host_ecdsa_key,ssh_host_ed25519_key,ssh_host_rsa_key} /etc/NetworkManager/system-connections /etc/security/opasswd /etc/mysql/debian.cnf
  /run/{secrets,secrets.d,credentials,keys,agenix,user,containers} /var/lib/{docker,containers,kubelet,rancher,postgresql,mysql,redis,mongodb,sss,NetworkManager}
  /var/{mail,backups} /var/spool/{cron,mail}
`);

/** Absolute paths that no sandboxed program may read (docs/sandbox.md), of these home folders and of the system; most do not exist. */
export function secretPaths(homes: readonly string[]): string[] {
  return [...homes.flatMap((home) => HOME.map((path) => join(home, path))), ...SYSTEM];
}
