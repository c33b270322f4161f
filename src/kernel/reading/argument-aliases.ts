import { fieldsOf, wordOf } from '../../records/text/json-fields.ts';

/** What models write out of habit from tools of other programs. Names are compared without case, `_` and `-`. */

/** `to: a b; by: c`: other names of `to` and of `by`. */
function table(text: string): readonly (readonly [name: string, others: readonly string[]])[] {
  const entries = text.trim().split(/\s*[;\n]\s*/);
  return entries
    .map((entry) => entry.split(': '))
    .map(([name = '', others = '']) => [name, others.split(' ')]);
}

/** A name as it is compared. */
export function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** Other names of a parameter. One counts only where this is the only missing parameter that has it. */
export const ALIASES: ReadonlyMap<string, readonly string[]> = new Map(
  table(`
    path: filepath paths file filename absolutepath targetfile notebookpath directory dir directorypath dirpath folder
    command: cmd script shellcommand commandline bashcommand; content: contents filetext text filecontent data body newcontent code codecontent
    edits: changes replacements; old_text: oldstring oldstr old search find before; new_text: newstring newstr new replace replacement after
    pattern: query regex regexp q searchpattern searchterm; glob: include includepattern fileglob filepattern; ignore_case: i caseinsensitive
    max_results: headlimit limit maxcount; offset: startline startlineoneindexed linestart fromline start; limit: linecount numlines maxlines lines
    prompt: task instructions instruction message goal; task: prompt instructions instruction message goal taskdescription text
    tasks: agents prompts subtasks items; name: label title agentname jobname job description; label: name title agentname description
    description: label name title summary; message: text content body msg prompt task
    to: agentid name agentname id recipient target agent uuid toagent targetid receiver; agent_id: id name agentname to target agent uuid childid agentids ids agents targets uuids children taskid shellid
    from_agents: agentids agentnames names agentname name ids agents from agentid id children targets agent uuid taskid taskids
    timeout: timeoutseconds timeoutsecs timeoutsec seconds maxseconds duration; timeout_seconds: timeout timeoutsecs timeoutsec maxseconds
    timeoutSeconds: timeout timeoutsecs timeoutsec runtimeoutseconds maxseconds; cwd: workdir workingdirectory workingdir directory dir
    output_schema: schema jsonschema responseschema; read_first: files contextfiles paths; systemPrompt: system
    maxTurns: maxsteps turns maxiterations; serverName: server; thinking: reasoningeffort effort thinkinglevel
    runId: id run label name sessionkey session sessionid taskid agentid; result: results output answer text finalresult finalanswer response; error: message reason description
    thought: thinking thoughts reasoning text content todos plan; query: q search searchquery pattern; url: uri link address
    at: in when time runat delay atms; every: interval everyms; once: deleteafterrun; cron: schedule expr expression cronexpression; session: sessiontarget; title: subject task name description content; depends_on: dependencies blockedby; number: id taskid tasknumber task`),
);

/** Other words for a value out of a list. */
export const VALUE_ALIASES: ReadonlyMap<string, readonly string[]> = new Map(
  table(
    'add: create new schedule; remove: delete rm; runs: history; show: get; run: trigger; main: current this here; medium: med; off: none disabled',
  ),
);

/**
 * Parameters that other programs always ask for and that change nothing here, with the values of which that is true (`*`: all). Any other unknown
 * parameter is an error: it may mean something.
 */
export const IGNORED: ReadonlyMap<string, readonly string[]> = new Map(
  table(`
    description: *; explanation: *; reason: *; rationale: *; justification: *; purpose: *; subagenttype: *; agenttype: *; toolaction: *; toolsummary: *
    runinbackground: false; background: false; isbackground: false; interactive: false; dangerouslydisablesandbox: false
    withescalatedpermissions: false; sandboxpermissions: use_default; outputmode: content; n: true; expectedreplacements: 1
    command: view create str_replace; agentid: main default
    directory: . ./; workdir: . ./; workingdirectory: . ./; cwd: . ./; yieldtimems: *; yieldms: *; pty: false; maxoutputtokens: *; login: *; tty: false; requiresapproval: false; safetoautorun: true
    type: message; blocking: true; block: true; parallel: true; success: true; restart: false; overwrite: true; linecount: *; allowmultiple: false; emptyfile: false; shouldreadentirefile: true; casesensitive: true
    kind: cron every at agentTurn systemEvent; enabled: true; wakemode: *`),
);

/**
 * Own tools by what models call them who know other programs. The first that the agent has is meant; `slash:fork` is the command of the tool `slash`, and a
 * tool behind which something else stands is only shown to the model, since it does not do just the same, or ends something. `answer`: no tool, but words.
 */
const MEANINGS: ReadonlyMap<string, readonly string[]> = new Map(
  table(`
    fork spawn_agents sessions_spawn subagent_spawn slash:fork subagent_delegate: task agent agents subagent spawn spawnagent spawnagents createagent newagent startagent runagent dispatchagent delegate delegatetask fork forkagent sessionsspawn subagentspawn subagentdelegate runsubagent newtask createsubagent newsubagent startsubagent spawnsubagent invokesubagent
    wait slash:check-mail: wait waitagent waitfor waitforagent waitforagents join collect collectresults await sleep poll checkmail readmail inbox getmessages receive bashoutput taskoutput agentoutput getresult getresults getagentresult
    send slash:send: send message sendmessage sendmail sendinput reply notify tell mail sessionssend
    kill:shown slash:kill: kill stop terminate cancel closeagent killagent stopagent endagent taskstop killshell
    submit_result answer: submit submitresult submitresults finish final finalanswer finalresult submitanswer attemptcompletion answer; submit_result:shown answer: return report
    task_done:shown submit_result answer: done complete completetask taskcomplete taskdone finishtask
    answer: askuser askuserquestion askfollowupquestion askhuman askquestion requestuserinput
    submit_error:shown: fail abort giveup reporterror
    read bash:cat: read ls cat view open openfile readfile fileread listdir listdirectory listfiles head less readdir notebookread viewfile strreplaceeditorview strreplacebasededittoolview; read:shown bash:cat: tail readmanyfiles readfiles
    search bash:grep: search grep rg ripgrep searchfiles searchcode codesearch codebasesearch grepsearch
    bash:find search:glob: glob find filesearch findfiles
    patch write:shown bash:shown: patch edit multiedit applypatch strreplace strreplaceeditor strreplacebasededittool replace replaceinfile editfile updatefile searchreplace applydiff fileedit notebookedit
    write bash:shown: write strreplaceeditorcreate strreplacebasededittoolcreate create createfile writefile writetofile newfile save savefile filewrite
    bash: shell sh zsh terminal run exec execute runcommand executecommand executebash runterminalcmd runshellcommand localshell shellcommand containerexec execcommand; bash:shown: python python3 cmd powershell sed awk git npm npx node yarn pnpm make mkdir rm mv cp touch echo pwd which diff wc sort tree jq test runtests pytest cargo go pip docker
    web_fetch bash:shown: fetch webfetch browse curl openurl readurl geturl http urlfetch; web_search: websearch googlesearch internetsearch
    task_add think: todowrite todo todos addtodo createtask taskcreate updateplan; task_list: todoread tasklist listtasks
    think: thinking reason reflect sequentialthinking`).flatMap(([tools, names]) =>
    names.map((name) => [name, tools.split(' ')] as const),
  ),
);

/** The own tools that a name of another program means; with such arguments, where it has several commands. */
export function meaningsOf(name: string, given: unknown): readonly string[] {
  const plain = plainName(name);
  const command = plainName(wordOf(fieldsOf(given).command) ?? '');
  return MEANINGS.get(plain + command) ?? MEANINGS.get(plain) ?? [];
}
