// Proves, with a real ledger, what comes of calls that were read: what rules and people judge is what runs, nothing runs that was only quoted, and nobody is stuck in a loop.
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { announcesCalls } from '../../src/kernel/reading/announcement.ts';
import { unknownToolError } from '../../src/kernel/reading/call-errors.ts';
import { readArguments } from '../../src/kernel/reading/read-arguments.ts';
import { mendedJson, writtenCalls } from '../../src/kernel/reading/written-calls.ts';
import { createBuiltInTools } from '../../src/tools/tool-registry.ts';
import { closeOpened } from '../close-opened.ts';
import { forked, type Line, type Play, type Scene, setStage } from '../runtime/stage.ts';
import { until } from '../until.ts';

afterEach(closeOpened);

const tools = createBuiltInTools();
const NONE = { allow: [], ask: [], deny: [] };
const solo =
  (...lines: readonly (Line | ((scene: Scene) => Line))[]): Play =>
  (scene) => {
    const line = lines[scene.step] ?? 'done';
    return typeof line === 'function' ? line(scene) : line;
  };

it('a rule judges a call as it was read, and so does a person', async () => {
  const on = await setStage(
    solo(
      [['Bash', { cmd: 'rm -rf x', description: 'tidy up' }]],
      [['functions.write', { file_path: 'secret.txt', text: 'x' }]],
    ),
    {
      tools,
      config: {
        permissions: {
          cli: { ...NONE, deny: ['bash:rm *', 'write:secret.txt'], allow: ['*'] },
          config: NONE,
        },
      },
    },
  );
  const { root } = await on.perform();
  assert.deepEqual(
    (await on.results(root)).map(({ name, status }) => [name, status]),
    [
      ['bash', 'denied'],
      ['write', 'denied'],
    ],
  );
  const asking = await setStage(solo([['Write', { file_path: 'a.txt', text: 'read\n' }]]), {
    tools,
    can_ask: true,
    config: { permissions: { cli: NONE, config: NONE } },
  });
  const asked = await asking.start();
  const asks = () => asking.store.asks({ root_id: asked.id });
  await until(async () => (await asks()).length > 0, 'a person is asked');
  const [ask] = await asks();
  assert.deepEqual(
    [ask?.tool, ask?.subject, JSON.parse(ask?.input ?? '')],
    ['write', 'a.txt', { path: 'a.txt', content: 'read\n' }],
  );
});

it('the message stays as the model wrote it, with what was read beside it, and the next request repeats it', async () => {
  const written = { cmd: 'echo hello', description: 'greet' };
  const on = await setStage(solo([['Bash', written]]), { tools });
  const { root } = await on.perform();
  const [result] = await on.results(root);
  assert.equal(result?.output, 'hello\n');
  const [call] = (await on.store.history(root.id)).flatMap((message) =>
    message.kind === 'assistant' ? message.content.parts : [],
  );
  assert.ok(call?.type === 'call');
  assert.deepEqual([call.name, JSON.parse(call.input)], ['Bash', written]);
  assert.deepEqual(call.read, {
    name: 'bash',
    input: '{"command":"echo hello"}',
    changes: ['Bash → bash', 'cmd → command', 'description left out'],
  });
});

it('one message goes to each of several agents, or to none if one of them cannot be reached', async () => {
  const child = (scene: Scene): Line =>
    scene.step === 0 ? [['wait', { timeout: 20 }]] : `${scene.name} got ${scene.last[0]?.output}`;
  const on = await setStage((scene) => {
    if (scene.name !== 'main') return child(scene);
    const lines: readonly (() => Line)[] = [
      () => [
        ['fork', { name: 'a', prompt: 'x' }],
        ['fork', { name: 'b', prompt: 'x' }],
      ],
      () => [['send', { to: [...forked(scene), 'nobody-here'], message: 'lost' }]],
      () => [['send', { agents: 'x', to: forked(scene), text: 'hello', agent: null }]],
      () => [['send', { to: forked(scene), text: 'hello' }]],
      () => [['wait', { timeout: 20, agent_ids: forked(scene) }]],
    ];
    return (lines[scene.step] ?? (() => 'done'))();
  });
  const { root } = await on.perform();
  const outputs = (await on.results(root)).map(({ output }) => output);
  assert.match(outputs[2] ?? '', /AGENT_NOT_FOUND.*nobody-here/);
  assert.match(outputs[3] ?? '', /"agents\\": not known/);
  assert.match(outputs[4] ?? '', /^\[\{"sent_to":.*"name":"a"\},\{"sent_to":.*"name":"b"\}\]$/);
  for (const name of ['a', 'b']) {
    const got = (await on.results(await on.agent(name)))[0]?.output ?? '';
    assert.match(got, /hello/);
    assert.doesNotMatch(got, /lost/);
  }
});

it('a parent is reached as "parent"; who writes to the user hears who reads what', async () => {
  const on = await setStage((scene) => {
    if (scene.name === 'kid')
      return scene.step === 0
        ? [
            ['send', { to: 'parent', message: 'from the kid' }],
            ['send', { to: 'user', message: 'x' }],
          ]
        : 'done';
    return ([
      [['fork', { name: 'kid', prompt: 'x' }]],
      [['wait', { timeout: 20, from_agents: ['kid'] }]],
      [['send', { to: 'user', message: 'x' }]],
    ][scene.step] ?? 'done') as Line;
  });
  const { root } = await on.perform();
  const [, waited, told] = await on.results(root);
  assert.match(waited?.output ?? '', /from the kid/);
  assert.match(told?.output ?? '', /what you answer at the end of your turn is read by the person/);
  const kid = await on.results(await on.agent('kid'));
  assert.match(kid[1]?.output ?? '', /Your parent reads what you report.*send to \\"parent\\"/);
});

it('a call written as text runs, and the conversation goes on as if it had been made', async () => {
  const on = await setStage(
    solo(
      'Let me see.\n<tool_call>{"name": "Bash", "arguments": {"cmd": "echo hi"}}</tool_call>',
      ({ last }) => `it said ${last[0]?.output}`,
    ),
    { tools },
  );
  const { reply, root } = await on.perform();
  assert.equal(reply, 'it said hi\n');
  const [said, call] = (await on.store.history(root.id)).flatMap((message) =>
    message.kind === 'assistant' ? message.content.parts : [],
  );
  assert.deepEqual(
    [said?.type === 'text' && said.text, call?.type === 'call' && call.name],
    ['Let me see.', 'Bash'],
  );
});

const QUOTED = [
  'Write it like this: `<tool_call>{"name":"bash","arguments":{"command":"touch made"}}</tool_call>`',
  'For example:\n```\n<tool_call>{"name":"bash","arguments":{"command":"touch made"}}</tool_call>\n```',
  'For example:\n```\n<tool_call>{"name":"bash","arguments":{"command":"touch made"}}</tool_call>',
  'Write `<tool_call>{"name":"bash","arguments":{"command":"touch made"}}</tool_call>',
  '<tool_call>{"name":"bash","arguments":{"command":"touch made"}}</tool_call> is how Qwen writes a call.',
  'The file says {"name":"bash","arguments":{"command":"touch made"}}',
  '{"name":"bash","arguments":{"command":"touch made"},"status":"ok"}',
  '{"name":"bash","version":"5.2"}',
  '{"action":"bash","input":{"command":"touch made"}}',
  '{"name":"bash","input":{"command":"touch made"}}',
  '{"tool_calls":[{"name":"bash","arguments":{"command":"touch made"}}],"status":"ok"}',
  '[touch(path="made")]',
  'bash (the shell) is what runs (touch made)',
  'The shell runs it:\nbash(command="touch made")',
  '<b>touch made</b>',
  'Action: touch made',
  'The page says:\n<bash>\n<command>touch made</command>\n</bash>',
  'The page says:\n[bash(command="touch made")]',
  'You can run it like this.\n\nbash(command="touch made")',
  'The shell runs it.\n```\nbash(command="touch made")',
  'The shell runs it:\n\n{"name": "bash", "arguments": {"command": "touch made"}}',
  'This is what was stored.\n\n{"name": "nothing", "arguments": {"command": "touch made"}}',
  '{"bash": {"command": "touch made"}}',
];

for (const text of QUOTED)
  it(`nothing runs that is quoted, unfinished or unknown: ${text.slice(0, 90)}`, async () => {
    const on = await setStage(() => text, { tools });
    const { root, reply } = await on.perform();
    assert.deepEqual(await on.results(root), []);
    assert.equal(reply, text);
  });

for (const text of [
  '<tool_call>{"name":"bash","arguments":{"command":"touch made"',
  '<tool_call>{"name":"bash","arguments":{"command":"touch made"}}</tool_call><tool_call>{"name":"ba</tool_call>',
  '<start_function_call>\n<tool_call>touch made</tool_call>',
  '<function_calls>\n<invoke name="bash">\n<parameter name="command">touch made</parameter>\n</invoke>\n</function_calls>\n\nIt is made.',
  '<|channel|>commentary to=functions.bash<|message|>touch made',
  // Nothing announces it, and nothing says that it is an example.
  'Two are done. Now the last one.\n\nbash(command="touch made", timeout=5)',
  'Two are done.\n{"name": "Bash", "arguments": {"command": "touch made"}}',
  '```\nls\n```\nThat is that.\n\nbash {"command": "touch made"}',
  // Marks in what it would write could not be told from those of the call.
  '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>bash<｜tool▁sep｜>{"command": "echo \'<｜eos｜>\'"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
])
  it(`a call that cannot be read, or behind which a text goes on, is asked for again: ${text.slice(0, 70)}`, async () => {
    const on = await setStage(solo([['bash', { command: 'echo hi' }]], text, 'Nothing more.'), { tools });
    const { root, reply } = await on.perform();
    assert.deepEqual(
      (await on.results(root)).map(({ output }) => output),
      ['hi\n'],
    );
    assert.equal(reply, `${text}\n\nNothing more.`);
    const orders = on.requests.at(-1)?.messages.map((message) => JSON.stringify(message)) ?? [];
    assert.match(orders.at(-1) ?? '', /What you wrote as a call is text, and nothing was run/);
    const again = await setStage(() => text, { tools });
    assert.equal((await again.perform()).reply, `${text}\n\n${text}`);
  });

it('a call without a name is answered with the names of the tools, and its run goes on', async () => {
  const on = await setStage(solo([['', { command: 'touch made' }]], 'Done.'), { tools });
  const { root, reply } = await on.perform();
  assert.match((await on.results(root))[0]?.output ?? '', /^there is no tool "".*Tools: bash, /);
  assert.equal(reply, 'Done.');
});

it('a call with marks that names no tool is answered like any other', async () => {
  const text = '<tool_call>{"name":"no_such_tool","arguments":{"command":"touch made"}}</tool_call>';
  const on = await setStage(solo(text, 'Done.'), { tools });
  const { root, reply } = await on.perform();
  assert.match((await on.results(root))[0]?.output ?? '', /^there is no tool "no_such_tool"/);
  assert.equal(reply, 'Done.');
});

it('the words of a call that only answers are the answer, where no tool takes them', async () => {
  const on = await setStage((scene) => {
    if (scene.name === 'a') return [['attempt_completion', { result: 'a is mended', success: true }]];
    if (scene.name === 'b') return [['submit_result', { result: 'b is mended' }]];
    return ([
      [
        ['fork', { name: 'a', prompt: 'x' }],
        ['fork', { name: 'b', prompt: 'x' }],
      ],
      [['wait', { timeout: 20, from_agents: ['a', 'b'] }]],
    ][scene.step] ?? [['final_answer', { answer: 'all is mended' }]]) as Line;
  });
  const { root, reply } = await on.perform();
  assert.equal(reply, 'all is mended');
  const { results } = JSON.parse((await on.results(root)).at(-1)?.output ?? '') as {
    results: { last_reply: string }[];
  };
  assert.deepEqual(
    results.map(({ last_reply }) => last_reply),
    ['a is mended', 'b is mended'],
  );
});

it('agents are found as results and errors show them, and all children by one word or name', async () => {
  const on = await setStage((scene) => {
    if (scene.name !== 'main') return 'done';
    const [first = '', second = ''] = forked(scene);
    const lines: readonly (() => Line)[] = [
      () => [
        ['fork', { name: 'a', prompt: 'x' }],
        ['fork', { name: 'a', prompt: 'x' }],
      ],
      () => [['wait', { timeout: 20, from_agents: [`a (${first})`, `a (${second}, idle)`] }]],
      () => [['wait', { timeout: 20, from_agents: ['a'] }]],
      () => [['wait', { timeout: 20, from_agents: 'all' }]],
      () => [['send', { to: `${first.slice(0, 8)}:`, message: 'hello' }]],
      () => [['send', { to: 'a', message: 'hello' }]],
    ];
    return (lines[scene.step] ?? (() => 'done'))();
  });
  const { root } = await on.perform();
  const [, , ...outputs] = (await on.results(root)).map(({ output }) => output);
  const rows = outputs.slice(0, 3).map((output) => (JSON.parse(output) as { results: unknown[] }).results);
  assert.deepEqual(
    rows.map((row) => row.length),
    [2, 2, 2],
  );
  assert.match(outputs[3] ?? '', /"sent_to"/);
  assert.match(outputs[4] ?? '', /AGENT_AMBIGUOUS/);
});

it('of a call that holds too many, nothing runs', async () => {
  const tool_uses = Array.from({ length: 101 }, () => ({
    recipient_name: 'functions.read',
    parameters: { path: '.' },
  }));
  const on = await setStage(solo([['multi_tool_use.parallel', { tool_uses }]]), { tools });
  const { root } = await on.perform();
  assert.deepEqual(
    (await on.results(root)).map(({ status }) => status),
    ['error'],
  );
});

it('an answer that was cut off makes no call', async () => {
  const text = '<tool_call>{"name":"bash","arguments":{"command":"rm -rf x"}}</tool_call>';
  const on = await setStage(solo({ text, finish: 'length' }, 'and so on'), { tools });
  const { root } = await on.perform();
  assert.deepEqual(await on.results(root), []);
});

it('who announces a call and makes none is asked for it once, at the beginning of a turn only', async () => {
  const on = await setStage(
    solo('I will read the file first.', [['read', { path: '.' }]], "Now I'll run the tests."),
    { tools },
  );
  const { root, reply } = await on.perform();
  assert.equal(reply, "Now I'll run the tests.");
  assert.deepEqual(
    (await on.results(root)).map(({ name }) => name),
    ['read'],
  );
  const again = await setStage(solo("Okay, let's look at the code:", 'Let me open the file.'), { tools });
  assert.equal((await again.perform()).reply, "Okay, let's look at the code:\n\nLet me open the file.");
  assert.equal(again.requests.length, 2);
});

it('commands in a code block after an announcement are no calls, and the call is asked for', async () => {
  const text = 'I will look at the module and its test first.\n\n```bash\ncat a.js\n```';
  const on = await setStage(solo(text, [['read', { path: '.' }]], 'Seen.'), { tools });
  const { root } = await on.perform();
  assert.deepEqual(
    (await on.results(root)).map(({ name }) => name),
    ['read'],
  );
});

for (const text of [
  "I'll split this among three sub-agents, one for each file.",
  'Three files, three bugs: I will delegate each to a child.',
  'Launching three reviewers now.',
  'Delegating to three agents:',
  "Sure! I'm going to hand this to three agents.",
  'Ich sehe mir zuerst die drei Dateien an:',
  '我来修复这三个文件。首先，让我看看它们的内容：',
  '我先看看有哪些文件：',
  'Ich lese jetzt die drei Dateien.',
])
  it(`a call is asked for behind ${text}`, async () => {
    const on = await setStage(solo(text, 'Nothing was left to do.'), { tools });
    assert.equal((await on.perform()).reply, `${text}\n\nNothing was left to do.`);
  });

for (const text of [
  "I'll be glad to help.",
  "I won't do that.",
  "I'll remember that.",
  "The tests fail. I'll remind you in a minute.",
  "I'll get back to you.",
  'I will come back with the result.',
  'I will go on as soon as the children have reported.',
  "I'll wait for their reports.",
  'The script:\n\n```bash\ncat a.js\n```',
  'Done. Let me know if I should run the tests.',
  'I will start when you have read the plan.',
  'Shall I run the tests?',
  'Let me explain: the test fails because the file is missing.',
  'The command to run is make.',
  'Name:',
  'Ich habe alles gelesen: es ist gut.',
  'Ich werde daran denken.',
])
  it(`an answer is not taken for an announcement: ${text}`, async () => {
    const on = await setStage(solo(text), { tools });
    assert.equal((await on.perform()).reply, text);
    assert.equal(on.requests.length, 1);
  });

const ANNOUNCED = [
  'Ich werde jetzt die Dateien lesen.',
  'Ich lese jetzt die drei Dateien.',
  'Zuerst sehe ich mir die Dateien an.',
  'Gut, ich werde zunächst die Tests ausführen.',
  'Um den Fehler zu finden, werde ich zuerst die Tests ausführen.',
  'Ich schaue mir zunächst den Code an.',
  'Lass mich die Datei lesen.',
  'Ich beginne mit dem Lesen der Dateien.',
  'Okay. Jetzt prüfe ich den Code.',
  'Alles klar! Ich werde die Dateien nun durchsuchen.',
  'Je vais maintenant lire les fichiers.',
  "D'accord, je vais d'abord examiner le code.",
  'Pour commencer, je vais lancer les tests.',
  'Laissez-moi vérifier les fichiers.',
  'Commençons par lire le fichier README.',
  'Voy a leer los archivos ahora.',
  'Primero, voy a revisar el código.',
  'Déjame ver los archivos.',
  'Claro, ahora ejecutaré las pruebas.',
  'Para encontrar el error, voy a ejecutar las pruebas.',
  '我现在来读取这些文件。',
  '首先，我将查看项目结构。',
  '让我先看看文件。',
  '好的，我来帮您检查一下测试。',
  '接下来我会运行测试。',
  '我先查看一下您的代码。',
  '这三个文件有错误。让我先读取它们。',
  'まず、ファイルを確認します。',
  'これからテストを実行します。',
  'では、コードを見てみましょう。',
  'ファイルを読んでみます。',
  '承知しました。まずファイルの内容を読み込みます。',
  'Сейчас я прочитаю файлы.',
  'Сначала посмотрю структуру проекта.',
  'Хорошо, я проверю файлы.',
  'Давайте посмотрим на файлы.',
  'Начну с чтения файлов.',
];
const LAST_WORDS = [
  'Ich werde die Dateien lesen, sobald du sie schickst.',
  'Ich werde daran denken.',
  'Ich werde die Dateien nicht ändern.',
  'Ab jetzt werde ich die Tests immer ausführen.',
  'Ich sehe jetzt, dass alles stimmt.',
  'Ich habe die Dateien gelesen.',
  'Sag mir Bescheid, dann lese ich die Dateien.',
  'Wenn du willst, werde ich die Tests ausführen.',
  'Ich melde mich.',
  'Ich werde dich morgen daran erinnern.',
  'Soll ich die Tests ausführen?',
  'Der Test wird jetzt die Dateien lesen.',
  'Ich werde um 9 Uhr die Tests starten.',
  'Je vais bien.',
  'Je vais vous aider.',
  'Je ne vais pas modifier les fichiers.',
  'Si vous voulez, je vais lancer les tests.',
  'Je vais lire les fichiers quand vous les enverrez.',
  "Je vais m'en souvenir.",
  "J'ai lu les fichiers.",
  'Voy a tenerlo en cuenta.',
  'Voy a leer los archivos cuando me los envíes.',
  'No voy a cambiar nada.',
  'He leído los archivos.',
  'Vamos a necesitar más memoria.',
  'Dime si quieres que ejecute las pruebas.',
  'Siempre ejecutaré las pruebas antes de cada commit.',
  '我已经查看了文件。',
  '我会记住的。',
  '如果需要，我会运行测试。',
  '我不会修改文件。',
  '我先查看了代码。',
  '等你确认后我会运行测试。',
  '请告诉我文件路径，我会读取它。',
  '我查看了这些文件，没有发现问题。',
  '测试会先读取这些文件。',
  '以后我会先运行测试。',
  'このスクリプトはテストを実行します。',
  '次に、npm install を実行します。',
  'ファイルを確認しました。',
  '確認できたら、テストを実行します。',
  '覚えておきます。',
  'まず、このスクリプトはファイルを読み込みます。',
  'Посмотрим.',
  'Я не буду менять файлы.',
  'Если хотите, я запущу тесты.',
  'Я прочитал файлы.',
  'Я запомню это.',
  'Пришлите файл, и я его прочитаю.',
  'Я запущу тесты, когда вы подтвердите.',
  'From now on, I will run the tests before each commit.',
  'I will always run the tests first.',
  "Going forward, I'll check the files.",
  "I'll run it again tomorrow.",
  '自分でも試してみましょう。',
  '我们会检查您的申请。',
];

it('an announcement that ends with a full stop is known in other languages, and other last words are none', () => {
  assert.deepEqual(
    ANNOUNCED.filter((text) => !announcesCalls(text)),
    [],
  );
  assert.deepEqual(LAST_WORDS.filter(announcesCalls), []);
});

it('the same failing call is told the second time that the third ends the turn, and it does', async () => {
  const on = await setStage(() => [['read', { path: 'missing.txt' }]], { tools });
  const { root } = await on.perform();
  const outputs = (await on.results(root)).map(({ output }) => output);
  assert.equal(outputs.length, 3);
  assert.equal(outputs[0], 'missing.txt: no such file');
  assert.equal(
    outputs[1],
    'missing.txt: no such file\n[The same call failed in the same way before. Once more, and your turn ends: change it, or do without it.]',
  );
  assert.equal((await on.agent('main')).state.type, 'errored');
});

it('the model is told of a default that it may want to change, in the JSON of the result', async () => {
  const on = await setStage(solo([['fork', { prompt: 'Count the files', subagent_type: 'Explore' }]]));
  const { root } = await on.perform();
  const { name, note } = JSON.parse((await on.results(root))[0]?.output ?? '') as Record<string, string>;
  assert.deepEqual(
    [name, note],
    ['count-the-files', 'subagent_type was ignored: there is no "Explore" here'],
  );
});

it('texts and arguments of any size and shape are read in time, or left alone', () => {
  const marks = [
    '<tool_call>',
    '<function=a>',
    '<parameter=b>',
    '<arg_key>a</arg_key>',
    'a{',
    'a(b=',
    '[a(b=1)',
    'to=a {',
    'a[ARGS]{',
    '<a>',
    'Action: a\nAction Input: b\n',
    '<|tool_call_begin|>',
    '```\n',
    '<',
    '<escape>',
    'you ',
    '{"name":\n',
    'a(b=1)\n',
    'Tool: a\nInput: b\n',
    '<start_function_call>call:a{',
  ];
  for (const mark of marks)
    for (const [before, after] of [
      ['', ''],
      ['<tool_call>', '</tool_call>'],
      ['<function=a>', '</function>'],
      ['[TOOL_CALLS]', ']'],
    ])
      assert.deepEqual(
        writtenCalls(`${before}${mark.repeat(100_000)}${after}`)?.calls ?? [],
        [],
        `${before}${mark}`,
      );
  // Each quote of a text that is cut off was tried as the beginning of another.
  for (const cut of [`{"a":"${'\\"'.repeat(1_000_000)}`, `{'a':'${"\\'".repeat(1_000_000)}\\`])
    assert.equal(mendedJson(cut).ok, false);
  const input = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
  const many = Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`key_${index}`, 'x']));
  assert.deepEqual(readArguments({ name: 't', input, own: true }, many), {
    input: many,
    changes: [],
    told: [],
  });
  const odd = JSON.parse('{"__proto__": {"a": "x"}, "constructor": 1, "toString": null, "a": 1}') as object;
  const { input: read } = readArguments({ name: 't', input, own: true }, odd);
  assert.deepEqual(Object.entries(read as object).toSorted(), [
    ['__proto__', { a: 'x' }],
    ['a', '1'],
    ['constructor', 1],
  ]);
});

for (const [has, called, input, call] of [
  [['read', 'search'], 'bash', { command: 'cat src/a.js' }, 'read {"path":"src/a.js"}'],
  [['read', 'search'], 'Bash', { cmd: 'cat -n "$FILE"' }, 'read {"path":"<path>"}'],
  [['read', 'search'], 'bash', { command: 'grep -rn TODO src' }, 'search {"pattern":"TODO"}'],
  [['bash'], 'read', { path: 'src/a.js' }, 'bash {"command":"cat src/a.js"}'],
  [['bash'], 'Read', { file_path: 'my file' }, `bash {"command":"cat 'my file'"}`],
  [['bash'], 'Grep', { pattern: "it's" }, `bash {"command":"grep -rn 'it'\\\\''s' ."}`],
  [['bash'], 'Glob', { pattern: '**/*.ts' }, `bash {"command":"find . -name '*.ts'"}`],
  [['bash'], 'write', { path: 'a', content: 'b' }, 'bash {"command":"<command>"}'],
] as const)
  it(`who has ${has.join()} is shown another way for ${called} ${JSON.stringify(input)}`, () => {
    const specs = tools
      .map(({ spec }) => spec)
      .filter(({ name }) => (has as readonly string[]).includes(name));
    const said = unknownToolError(called, specs, input);
    assert.equal(
      said,
      `there is no tool "${called}". Nothing was run. For that there is ${call.split(' ')[0]}: ${call}`,
    );
  });

it('who names a tool of a server without the server is shown the tools of that name', () => {
  const specs = ['a__look', 'b__look', 'a__overlook', 'fork'].map((name) => ({ name, input: {} }));
  const said = (name: string) => unknownToolError(name, specs, {});
  assert.match(said('look'), /^there is no tool "look". Nothing was run. Did you mean a__look or b__look\?$/);
  assert.match(said('server.overlook'), /Did you mean a__overlook\?$/);
  assert.match(said('c__look'), /Did you mean a__look\? Tools: /);
});

it('the command of an editor is not shown as one of the shell', () => {
  const specs = tools.map(({ spec }) => spec).filter(({ name }) => name === 'bash');
  const given = { command: 'str_replace', path: 'a', old_str: 'x', new_str: 'y' };
  assert.match(
    unknownToolError('str_replace_based_edit_tool', specs, given),
    /bash \{"command":"<command>"\}$/,
  );
});

it('who has only the shell reads a file with it, and is shown the command for what it does not do just so', async () => {
  const calls: Line = [
    ['read_file', { file_path: 'a b.txt' }],
    ['list_dir', { path: 'src' }],
    ['Read', { path: 'a b.txt', offset: 2 }],
  ];
  const shell = tools.filter(({ spec }) => spec.name === 'bash');
  const on = await setStage(solo([['bash', { command: 'echo hi > "a b.txt"' }]], calls), { tools: shell });
  const { root } = await on.perform();
  const [, whole, listed, part] = await on.results(root);
  assert.equal(whole?.output, 'hi\n');
  assert.match(listed?.output ?? '', /^there is no tool "list_dir"/);
  assert.match(part?.output ?? '', /^there is no tool "Read".*bash \{"command":"cat 'a b\.txt'"\}/);
});

it('who has no shell is not shown another way for a command that does more than read', () => {
  const specs = tools.map(({ spec }) => spec).filter(({ name }) => name === 'read');
  assert.equal(
    unknownToolError('bash', specs, { command: 'npm test' }),
    'there is no tool "bash". Tools: read.',
  );
});

it('a code block of any length is read', () => {
  const long = `${'x '.repeat(4_000_000)}.\nLet me run it:\n\`\`\`bash\n${'y\n'.repeat(3_000_000)}\`\`\``;
  assert.equal(writtenCalls(long), null);
  assert.equal(announcesCalls(long), true);
});
