import { killAndResume } from '../test/crash/kill-and-resume.ts';

/** `npm run bench:kill -- [KILLS] [CHILDREN]`: runs of `coppice run` on a local server, killed with SIGKILL at random moments and resumed. */
const wanted = Number(process.argv[2] ?? 100);
const children = Number(process.argv[3] ?? 30);
let [kills, runs, interrupted] = [0, 0, 0];
const started_at = performance.now();
while (kills < wanted) {
  const report = await killAndResume(children, Math.min(5, wanted - kills), Math.random);
  kills += report.kills;
  interrupted += report.interrupted;
  runs += 1;
  process.stderr.write(`\r${kills} of ${wanted} kills, ${runs} runs`);
}
const seconds = Math.round((performance.now() - started_at) / 1000);
console.log(
  `\n${kills} kills in ${runs} runs of ${children} children × 3 bash calls on SQLite, ${seconds} s: every run ended with the right answer,`,
);
console.log(
  `every letter delivered once, no gap in any seq, ${interrupted} calls reported as interrupted, none silently run again.`,
);
