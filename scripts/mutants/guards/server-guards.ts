import type { Guard } from './guard.ts';

/** Guards of the HTTP interface, and of what is read from the folder that is worked in, after the incidents of docs/incidents.md. */
export const SERVER_GUARDS: readonly Guard[] = [
  {
    name: 'http-token',
    protects: 'the ledger and the tools from whoever reaches the port',
    file: 'src/serve/http/guard.ts',
    guard: 'access, cookie, origin);',
    without: "access, cookie, origin) ?? 'write';",
    tests: ['serve/http/guard'],
  },
  {
    name: 'http-host',
    protects: 'the server from pages whose name was made to resolve to this machine',
    file: 'src/serve/http/guard.ts',
    guard: 'if (!hosts.has(hostOf(context)))',
    without: "if (req.header('host') === '')",
    tests: ['serve/http/guard'],
  },
  {
    name: 'http-origin',
    protects: 'the server from pages of other sites that have a token',
    file: 'src/serve/http/guard.ts',
    guard: 'if (origin !== undefined && !origins.has(origin.toLowerCase()))',
    without: 'if (origin === "")',
    tests: ['serve/http/guard'],
  },
  {
    name: 'http-session-writes',
    protects: 'a signed-in person from writes that another page makes with the cookie',
    file: 'src/serve/http/guard.ts',
    guard: "if (!reads && (origin === undefined || (site !== undefined && site !== 'same-origin')))",
    without: "if (!reads && origin === '')",
    tests: ['serve/http/guard'],
  },
  {
    name: 'http-reads-only',
    protects: 'what is served from a token that may only read',
    file: 'src/serve/http/web-app.ts',
    guard: "if (route.scope === 'write') await assertWrites(context);",
    without: '',
    tests: ['serve/http/guard'],
  },
  {
    name: 'http-script-policy',
    protects: 'the dashboard from scripts that are not its own',
    file: 'src/serve/http/guard.ts',
    guard: '"script-src \'self\'",',
    without: '"script-src * \'unsafe-inline\'",',
    tests: ['serve/http/guard'],
  },
  {
    name: 'configuration-of-the-user',
    protects: 'a user from the configuration of the repository that is worked in',
    file: 'src/settings/folders.ts',
    guard: "explicit ?? join(configFolder(env), 'config.json')",
    without: "explicit ?? join(process.cwd(), '.coppice', 'config.json')",
    tests: ['cli/profiles/hostile-repository'],
  },
  {
    name: 'trust-before-use',
    protects: 'a user from agent files of a repository that nobody accepted',
    file: 'src/cli/setup/profiles/profiles.ts',
    guard: "project.trust === 'trusted' ? parseAgentFiles(project.raw) : null",
    without: "project.trust === 'nothing' ? null : parseAgentFiles(project.raw)",
    tests: ['cli/profiles/hostile-repository'],
  },
  {
    name: 'claim-without-lease',
    protects:
      'people from being told twice, and a server from claiming its own deliveries for ever, after an outage',
    file: 'src/store/ledger/outbox-queries.ts',
    guard: '`EXISTS (SELECT 1 FROM workers',
    without: '`FALSE <= EXISTS (SELECT 1 FROM workers',
    tests: ['store/store-sqlite'],
  },
];
